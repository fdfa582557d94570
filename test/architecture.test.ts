import { builtinModules } from "node:module";
import { describe, expect, it } from "vitest";
import { filesUnder, importsOf, read, withoutComments } from "./source-files.js";

const code = /\.(ts|mjs|lua)$/;
const ours = ["src", "test", "scripts", "demo", "examples", "bench", "server"];
const source = filesUnder("src", /\.ts$/).filter((path) => !path.endsWith(".test.ts"));

/** Who may not import what, seen from the repository's root. */
const directions = [
  {
    sentence: "The contract imports nothing but the clock and the errors.",
    from: /^src\/engine\.ts$/,
    never: /^src\/(?!(clock|errors)\.ts$)/,
  },
  { sentence: "Clock and errors lie at the bottom.", from: /^src\/(clock|errors)\.ts$/, never: /^src\// },
  {
    sentence: "Engines know the contract, never what is built on it.",
    from: /^src\/engines\//,
    never: /^src\/(index|queue|batcher|message|codec)\.ts$|^src\/(consumer|receive|retry|cli|testing)\//,
  },
  {
    sentence: "A client adapter knows its port and nothing above it.",
    from: /^src\/clients\//,
    never: /^src\/(?!(clients\/|clock\.ts$|errors\.ts$|duration\.ts$|quote\.ts$|invalid-argument\.ts$))/,
  },
  {
    sentence: "Queue and consumer know the contract, never an engine.",
    from: /^src\/([a-z-]+\.ts$|consumer\/|receive\/|retry\/)/,
    never: /^src\/(engines|clients|cli|testing)\//,
  },
  {
    sentence: "A consumer knows nothing of the queue that made it.",
    from: /^src\/(consumer|receive|retry)\//,
    never: /^src\/(index|queue)\.ts$/,
  },
  {
    sentence: "Nothing that is published imports from the tests.",
    from: /^src\//,
    never: /^(test|demo|examples|bench)\//,
  },
];

describe("Imports point one way", () => {
  it.each(directions.map((direction) => [direction.sentence, direction] as const))("%s", (_, { from, never }) => {
    const wrong = source
      .filter((path) => from.test(path))
      .flatMap((path) => importsOf(path).map(({ target }) => ({ path, target })))
      .filter(({ target }) => never.test(target));
    expect(wrong).toEqual([]);
  });

  it("The library imports Node and its optional peers, nothing else.", () => {
    const builtin = new Set(builtinModules.map((name) => `node:${name}`));
    const foreign = source
      .flatMap((path) => importsOf(path).map((one) => ({ path, ...one })))
      .filter(({ specifier }) => !specifier.startsWith(".") && !builtin.has(specifier));
    expect(new Set(foreign.map(({ path, target, kind }) => `${path}: ${kind} ${target}`))).toEqual(
      new Set([
        "src/clients/node-redis.ts: dynamic @redis/client",
        "src/clients/ioredis.ts: dynamic ioredis",
        "src/engines/rabbitmq/broker-connection.ts: type amqplib",
        "src/engines/rabbitmq/broker-connection.ts: dynamic amqplib",
      ]),
    );
  });
});

describe("Files", () => {
  const all = ours.flatMap((folder) => filesUnder(folder, code)).filter((path) => !path.endsWith(".generated.ts"));

  it("No file is over 400 lines.", () => {
    const long = all
      .map((path) => ({ path, lines: read(path).split("\n").length - 1 }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });

  it("No line of a comment is over 132 characters, where the formatter leaves it as it is.", () => {
    const sources = filesUnder("src", code).filter((path) => !/\.(test|generated)\.ts$/.test(path));
    const long = sources.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, at) => (line.length > 132 && /^ *(\/?\*|\/\/|--)/.test(line) ? [`${path}:${at + 1}`] : [])),
    );
    expect(long).toEqual([]);
  });

  it("No file or folder is named after nothing (utils, helpers, common, lib, types).", () => {
    expect(all.filter((path) => /(^|\/)(utils?|helpers?|common|lib|types?)(\.[a-z.]+$|\/)/.test(path))).toEqual([]);
  });
});

/**
 * Where time and randomness come from, each as the default of a parameter. Everything else gets them from its caller, so
 * that a test can move them.
 */
const outsideWorld: Record<string, readonly string[]> = {
  "src/clock.ts": ["Date.now", "performance.now"],
  "src/consumer/consumer.ts": ["Math.random", "randomBytes"],
  "src/connection/server-clock.ts": ["Date.now", "performance.now"],
  "src/connection/supervisor.ts": ["Math.random", "performance.now"],
  "src/engines/rabbitmq/link.ts": ["Math.random", "performance.now"],
  "src/engines/zset-remove/skip.ts": ["Math.random"],
  "src/engines/zset-watch/pause-before.ts": ["Math.random"],
  "src/message-id.ts": ["randomBytes"],
  "src/retry/exponential.ts": ["Math.random"],
};

describe("Time, randomness and ids come in through parameters", () => {
  const impure =
    /\b(Date\.now|new Date\(\)|performance\.now|process\.hrtime|Math\.random|randomUUID|randomBytes|getRandomValues)\b/g;

  it("Only the files named here ask the machine, and each of them does.", () => {
    const used: Record<string, string[]> = {};
    for (const path of source.filter((file) => !file.startsWith("src/testing/"))) {
      const body = withoutComments(read(path)).replace(/^import [^;]*;/gm, "");
      const names = new Set([...body.matchAll(impure)].map(([name]) => name));
      if (names.size > 0) used[path] = [...names].sort();
    }
    expect(used).toEqual(outsideWorld);
  });
});

describe("Subpaths", () => {
  const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, string> };
  const subpaths = Object.entries(exports).filter(([, file]) => file.endsWith(".js"));

  it.each(subpaths)("%s is built from a source file and has an API report.", (subpath, file) => {
    expect(source).toContain(file.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts"));
    const report = subpath === "." ? "punctual" : subpath.slice("./".length).replaceAll("/", "-");
    expect(filesUnder("docs/api", /\.api\.md$/)).toContain(`docs/api/${report}.api.md`);
  });

  it("Every engine can be imported.", () => {
    const engines = filesUnder("src/engines", /^src\/engines\/[a-z-]+(\/engine)?\.ts$/).filter(
      (path) => !path.endsWith(".test.ts"),
    );
    expect(subpaths.map(([, file]) => file.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts"))).toEqual(
      expect.arrayContaining(engines),
    );
  });
});

describe("Lua scripts", () => {
  const scripts = filesUnder("src", /\.lua$/).filter((path) => !path.includes("/snippets/"));

  it("There are some.", () => expect(scripts).not.toEqual([]));

  it.each(scripts)("%s has a header, and a binding of its name with the same keys.", (path) => {
    const lua = read(path);
    const [first] = lua.split("\n");
    expect(first).toMatch(/^-- [A-Z].*/);
    const header = (name: string) => new RegExp(`^-- ${name}: *(.*)$`, "m").exec(lua)?.[1];
    expect(header("ARGV")).toMatch(/^notAfter\b/);
    expect(header("Reply")).toBeTruthy();

    const binding = withoutComments(read(path.replace(/\.lua$/, ".ts")));
    const name = path.replace(/^.*\/([a-z-]+)\.lua$/, "$1");
    const defined = new RegExp(`\\bdefineScript\\("${name}", sources\\["${name}"\\], \\{\\s*keys: \\[([^\\]]*)\\]`);
    const keys = [...(defined.exec(binding)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, key]) => key);
    expect(header("KEYS")?.split(/\s+/)).toEqual(keys);
  });

  it.each(scripts)("%s uses no key that its header does not name.", (path) => {
    const lua = read(path);
    const keys = /^-- KEYS: *(.*)$/m.exec(lua)?.[1]?.split(/\s+/) ?? [];
    const highest = Math.max(0, ...[...lua.matchAll(/\bKEYS\[(\d+)\]/g)].map(([, index]) => Number(index)));
    expect(highest).toBeLessThanOrEqual(keys.length);
    expect(lua).not.toMatch(/\bcjson\b|\bcmsgpack\b/);
  });
});

describe("The lock file", () => {
  it("names no address, so an install takes the registry of whoever runs it.", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved": "https?:/);
  });
});
