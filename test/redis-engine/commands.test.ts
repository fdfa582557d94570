import { beforeAll, describe, expect, it } from "vitest";
import { filesUnder, read, withoutComments } from "../source-files.js";
import { type CommandDocs, commandDocs, isAtMost } from "../support/command-docs.js";
import { withRedis } from "../support/with-redis.js";

/** The oldest Redis on which the engines work, and one whose changes were looked at below. */
const oldest = "6.2.0";
const lookedAt = "7.0.15";

/** Newer commands that are sent only where the server has them, with how that is known. */
const guarded: Readonly<Record<string, string>> = {
  SPUBLISH: "scripts have a redis.REDIS_VERSION_NUM",
  "ACL|DRYRUN": "INFO tells the version",
};

/** What changed since the oldest in commands that are used, with why that is of no concern. */
const changes: Readonly<Record<string, string>> = {
  "SET 7.0.0": "NX and GET are not used together",
  "PEXPIRE 7.0.0": "its conditions are not used",
  "XADD 7.0.0": "ids are not given in parts",
  "XGROUP|CREATE 7.0.0": "entries_read is not given",
  "XINFO|STREAM 7.0.0": "the new fields are not read",
  "XINFO|GROUPS 7.0.0": "the new fields are not read",
  "CLUSTER|SLOTS 7.0.0": "the metadata are not read",
  "INFO 7.0.0": "one section or none is named",
  "CONFIG|GET 7.0.0": "one parameter is named",
  "CONFIG|SET 7.0.0": "one parameter is set",
};

/** Sent to Sentinels, whose commands a Redis does not know; there since 2.8.4. */
const ofSentinels = ["SENTINEL|GET-MASTER-ADDR-BY-NAME"];

/** Commands with subcommands, which have docs of their own. */
const containers = new Set(["SCRIPT", "CLUSTER", "CLIENT", "SENTINEL", "XGROUP", "XINFO", "ACL", "CONFIG"]);

/** One command as it stands in a source. */
interface Use {
  readonly file: string;
  /** The command, with its subcommand: `XGROUP|CREATE`. */
  readonly name: string;
  /** Other words in capitals among its arguments. */
  readonly words: readonly string[];
}

const capitals = /"([A-Z][A-Z-]+)"/g;

/** What stands between brackets, from behind the one that opens to the one that closes. */
function inBrackets(text: string, start: number): string {
  let end = start;
  for (let depth = 1; end < text.length; end++) {
    if ("([{".includes(text.charAt(end))) depth++;
    else if (")]}".includes(text.charAt(end)) && --depth === 0) break;
  }
  return text.slice(start, end);
}

/** A bracket whose first element is a word in capitals, or a choice of such: a call, or a list that becomes one. */
const opening = /[([{]\s*(?=(?:[^(),]* and )?"[A-Z]{3,}"(?:,| or |\s*[)\]}]))/g;

/** Commands, also those among the arguments of others; each has the words that are its own. */
function usesIn(file: string, text: string): Use[] {
  return [...text.matchAll(opening)].flatMap(({ 0: bracket, index }) => {
    const inside = inBrackets(text, index + bracket.length);
    let own = inside;
    for (const { 0: inner, index: at } of inside.matchAll(opening)) {
      own = own.replace(inBrackets(inside, at + inner.length), "");
    }
    const [first = ""] = own.split(",");
    const words = [...own.matchAll(capitals)].map(([, word = ""]) => word);
    const names = [...first.matchAll(capitals)].map(([, word = ""]) => word);
    return names.map((name) => {
      const rest = words.slice(names.length);
      const [sub = "", ...others] = rest;
      return containers.has(name) ? { file, name: `${name}|${sub}`, words: others } : { file, name, words: rest };
    });
  });
}

const lua = filesUnder("src", /\.lua$/).map((file) => [file, read(file).replace(/--.*$/gm, "")] as const);
const typescript = filesUnder("src", /\.ts$/)
  .filter((file) => !/\.test\.ts$|\.generated\.ts$|^src\/testing\/|^src\/engines\/(memory|rabbitmq)\//.test(file))
  .map((file) => [file, withoutComments(read(file))] as const);
/** In TypeScript a command is sent, or given to what sends it. */
const sends = /\b(?:send|call)\w*(?=\()/g;

const fromLua = lua.flatMap(([file, text]) => usesIn(file, text));
const fromTypescript = typescript.flatMap(([file, text]) =>
  [...text.matchAll(sends)].flatMap(({ 0: word, index }) => {
    const inside = inBrackets(text, index + word.length + 1);
    return usesIn(file, `(${inside})`).slice(0, 1);
  }),
);
const uses = [...fromLua, ...fromTypescript];

describe(`Redis ${oldest} has what the engines send:`, () => {
  const redis = withRedis();
  let docs: ReadonlyMap<string, CommandDocs>;
  beforeAll(async () => {
    docs = await commandDocs(redis.raw, [...new Set(uses.map(({ name }) => name))]);
  });
  const known = () => uses.filter(({ name }) => !ofSentinels.includes(name) && !(name in guarded) && !isLoose(name));
  /** A list can be arguments alone, which are put behind a command elsewhere in the file. */
  const isLoose = (name: string) => !docs.has(name) && argumentsOf(uses).has(name);
  const argumentsOf = (some: readonly Use[]) => new Map(some.flatMap(({ name }) => [...(docs.get(name)?.words ?? [])]));

  it("every word in capitals in a script is found as a command, or as an argument of one", () => {
    const found = new Set(fromLua.flatMap(({ name, words }) => [...name.split("|"), ...words]));
    const all = lua.flatMap(([, text]) => [...text.matchAll(capitals)].map(([, word]) => word));
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((word) => !found.has(word ?? ""))).toEqual([]);
  });

  it("every command", () => {
    expect(new Set(fromTypescript.map(({ name }) => name))).toEqual(
      expect.objectContaining(new Set(["EVALSHA", "SCRIPT|LOAD", "TIME", "ROLE", "CLUSTER|SLOTS", ...ofSentinels])),
    );
    const wrong = known().filter(({ name }) => !isAtMost(docs.get(name)?.since ?? "never", oldest));
    expect(wrong).toEqual([]);
  });

  it("every option", () => {
    const inCalls = known().flatMap(({ file, name, words }) =>
      words.map((word) => ({ file, name, word, since: docs.get(name)?.words.get(word) })),
    );
    const loose = uses
      .filter(({ name }) => isLoose(name))
      .flatMap(({ file, name, words }) => {
        const inFile = argumentsOf(uses.filter((use) => use.file === file));
        return [name, ...words].map((word) => ({ file, name, word, since: inFile.get(word) }));
      });
    expect([...inCalls, ...loose].filter(({ since }) => !isAtMost(since ?? "never", oldest))).toEqual([]);
    expect(inCalls.length).toBeGreaterThan(20);
  });

  it("every behaviour: what has changed since is of no concern", () => {
    const changed = known().flatMap(({ name }) =>
      (docs.get(name)?.history ?? [])
        .filter(([version]) => !isAtMost(version, oldest) && isAtMost(version, lookedAt))
        .map(([version]) => `${name} ${version}`),
    );
    expect(new Set(changed)).toEqual(new Set(Object.keys(changes)));
  });

  it("and what it does not have is sent only where it is there", () => {
    const names = new Set(uses.map(({ name }) => name));
    expect(Object.keys(guarded).filter((name) => !names.has(name))).toEqual([]);
    const publishing = lua.filter(([, text]) => text.includes('"SPUBLISH"'));
    expect(publishing.filter(([, text]) => !text.includes("redis.REDIS_VERSION_NUM"))).toEqual([]);
  });
});
