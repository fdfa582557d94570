import { readdir } from "node:fs/promises";
import type { Engine } from "../../src/engine.js";
import { PunctualError } from "../../src/errors.js";
import { type Kind, kindOf } from "./kind.js";

/** An engine to compare, and how it is set up. */
export interface Subject {
  /** What the figures are called. */
  readonly name: string;
  /** The folder of the engine. */
  readonly engine: string;
  /** Options besides where its server is. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What keeps its messages. */
  readonly server: Server;
  readonly kind: Kind;
  /** It gets one in so many of the messages. */
  readonly oneIn: number;
}

/** What consumers in several processes can share. */
export type Server = "redis" | "rabbitmq";

const addresses: Readonly<Record<Server, string>> = { redis: "redis://127.0.0.1", rabbitmq: "amqp://127.0.0.1" };

/** A broker writes each message to its disk several times while it waits, and all of them would take it minutes. */
const oneIn: Readonly<Record<Server, number>> = { redis: 1, rabbitmq: 5 };

/** Options with which an engine is another one; their name is that of the engine and of the option. */
const variants: Readonly<Record<string, readonly string[]>> = { "zset-list": ["reliable"] };

const engines = new URL("../../src/engines/", import.meta.url);

/** Every engine that the package has, ours first, and those that have no server, which several processes cannot share. */
export async function subjects(): Promise<{ subjects: readonly Subject[]; withoutServer: readonly string[] }> {
  const folders = (await readdir(engines)).filter((name) => !name.includes(".")).sort();
  const found = await Promise.all(folders.map(async (engine) => ({ engine, server: await serverOf(engine) })));
  const all = found.flatMap(({ engine, server }) => (server === undefined ? [] : subjectsOf(engine, server)));
  return {
    subjects: all.toSorted((one, other) => Number(other.engine === "redis") - Number(one.engine === "redis")),
    withoutServer: found.filter(({ server }) => server === undefined).map(({ engine }) => engine),
  };
}

function subjectsOf(engine: string, server: Server): Subject[] {
  const plain: Subject = { name: engine, engine, options: {}, server, kind: kindOf(engine), oneIn: oneIn[server] };
  const others = (variants[engine] ?? []).map((option) => ({
    ...plain,
    name: `${engine} ${option}`,
    options: { [option]: true },
    kind: kindOf(engine, option),
  }));
  return [plain, ...others];
}

/** Tells by the addresses that it takes: it checks them when it is made, and connects when it is first used. */
async function serverOf(engine: string): Promise<Server | undefined> {
  const make = await factoryOf(engine);
  for (const server of ["redis", "rabbitmq"] as const) {
    try {
      await make({ url: addresses[server] }).close();
      return server;
    } catch (error) {
      if (!(error instanceof PunctualError && error.code === "invalid-argument")) throw error;
    }
  }
  return undefined;
}

/** Makes the engine of a subject. */
export async function engineOf({ engine, options }: Subject, url: string): Promise<Engine> {
  return (await factoryOf(engine))({ url, ...options });
}

/** The factory of an engine, which is called like its folder: `zset-list` has `zsetListEngine`. */
async function factoryOf(engine: string): Promise<(options: object) => Engine> {
  const module = (await import(new URL(`${engine}/engine.js`, engines).href)) as Record<string, unknown>;
  const factory = `${engine.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())}Engine`;
  const make = module[factory];
  if (typeof make !== "function") throw new TypeError(`src/engines/${engine}/engine.ts exports no ${factory}.`);
  return make as (options: object) => Engine;
}
