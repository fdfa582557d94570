import { readdir } from "node:fs/promises";
import type { Engine } from "../../src/engine.js";

/** An engine to compare, and how it is set up. */
export interface Subject {
  /** What the figures are called. */
  readonly name: string;
  /** The folder of the engine. */
  readonly engine: string;
  /** Options besides where its Redis is. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Set-ups beside the one without options. */
const variants: readonly Subject[] = [{ name: "zset-list reliable", engine: "zset-list", options: { reliable: true } }];

/** These take a message out of Redis to deliver it: a crash loses what it held, and nothing comes twice. */
const atMostOnce = new Set(["key-expiry", "zset-list", "zset-remove", "zset-watch"]);

/** What may become of messages that a crash meets: some are lost, or some come twice. */
export function deliversAtMostOnce({ name }: Subject): boolean {
  return atMostOnce.has(name);
}

/** One that keeps messages in its own process has nothing that ten processes could share; one has a broker instead of a Redis. */
const elsewhere = new Set(["memory", "rabbitmq"]);

const engines = new URL("../../src/engines/", import.meta.url);

/** Every engine on a Redis that the package has, ours first. */
export async function subjects(): Promise<Subject[]> {
  const folders = (await readdir(engines)).filter((name) => !name.includes(".") && !elsewhere.has(name)).sort();
  const plain = folders.map((engine): Subject => ({ name: engine, engine, options: {} }));
  const all = plain.flatMap((one) => [one, ...variants.filter(({ engine }) => engine === one.engine)]);
  return all.toSorted((one, other) => Number(other.engine === "redis") - Number(one.engine === "redis"));
}

/** Makes the engine of a subject. Its factory is called like its folder: `zset-list` has `zsetListEngine`. */
export async function engineOf({ engine, options }: Subject, url: string): Promise<Engine> {
  const module = (await import(new URL(`${engine}/engine.js`, engines).href)) as Record<string, unknown>;
  const factory = `${engine.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())}Engine`;
  const make = module[factory];
  if (typeof make !== "function") throw new TypeError(`src/engines/${engine}/engine.ts exports no ${factory}.`);
  return (make as (options: object) => Engine)({ url, ...options });
}
