import type { RawRedis } from "./raw-redis.js";

/** What a server says of one of its commands. */
export interface CommandDocs {
  /** The version that brought it. */
  readonly since: string;
  /** What changed later: version and sentence. */
  readonly history: readonly (readonly [version: string, change: string])[];
  /** Words that can be among its arguments, and the version that brought each. */
  readonly words: ReadonlyMap<string, string>;
}

/** Asks a server of 7.0 or newer for commands by name, or by name and subcommand: `XGROUP|CREATE`. Those that it lacks are missing. */
export async function commandDocs(raw: RawRedis, names: readonly string[]): Promise<Map<string, CommandDocs>> {
  const reply = fieldsOf(await raw.text("COMMAND", "DOCS", ...names));
  return new Map([...reply].map(([name, docs]) => [name.toUpperCase(), docsFrom(fieldsOf(docs))]));
}

function docsFrom(docs: ReadonlyMap<string, unknown>): CommandDocs {
  const since = textOf(docs.get("since")) ?? "never";
  const words = new Map<string, string>();
  collect(docs.get("arguments"), since, words);
  const history = listOf(docs.get("history")).map((entry): [string, string] => {
    const [version, change] = listOf(entry).map(String);
    return [version ?? "", change ?? ""];
  });
  return { since, history, words };
}

/** An argument that has parts is as old as it says, and its parts are no older. */
function collect(args: unknown, since: string, words: Map<string, string>): void {
  for (const argument of listOf(args).map(fieldsOf)) {
    const [from = since, token] = [argument.get("since"), argument.get("token")].map(textOf);
    if (token !== undefined) words.set(token, from);
    collect(argument.get("arguments"), from, words);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function fieldsOf(flat: unknown): Map<string, unknown> {
  const list = listOf(flat);
  return new Map(list.flatMap((name, index) => (index % 2 === 0 ? [[String(name), list[index + 1]] as const] : [])));
}

/** Whether one version is no newer than another. */
export function isAtMost(version: string, limit: string): boolean {
  const [parts, limits] = [version, limit].map((text) => text.split(".").map(Number));
  for (const [index, part] of (parts ?? []).entries()) {
    const bound = limits?.[index] ?? 0;
    if (part !== bound) return part < bound;
  }
  return true;
}
