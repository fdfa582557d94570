import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Deviation } from "../../src/testing/conformance/index.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the suite of one engine registers: each case, with the deviation of those that the engine does not pass. */
export interface CollectedEngine {
  readonly engine: string;
  readonly cases: ReadonlyMap<string, Deviation | undefined>;
}

const kinds: Readonly<Record<Deviation["kind"], true>> = { refuses: true, differs: true };
/** The name of a test: its engine, its case, and the kind and reason of a deviation. */
const testName = new RegExp(
  `^(.+?) keeps the contract > (.+?)(?: \\[(${Object.keys(kinds).join("|")}): (.+)\\])?$`,
  "su",
);

let collected: Promise<CollectedEngine[]> | undefined;

/** The engines that have a conformance test, with their cases, as the test runner finds them in this folder. */
export function collectedEngines(): Promise<CollectedEngine[]> {
  return (collected ??= collect());
}

async function collect(): Promise<CollectedEngine[]> {
  const found = new Map<string, Map<string, Deviation | undefined>>();
  for (const name of await testNames()) {
    const [, engine, title, kind, because = ""] = testName.exec(name) ?? [];
    if (engine === undefined || title === undefined) continue;
    const cases = found.get(engine) ?? new Map<string, Deviation | undefined>();
    const deviation = kind === undefined ? undefined : { kind: kind as Deviation["kind"], because };
    found.set(engine, cases.set(title, deviation));
  }
  const engines = [...found].map(([engine, cases]) => ({ engine, cases }));
  return engines.toSorted(
    (one, other) => rank(one.engine) - rank(other.engine) || (one.engine < other.engine ? -1 : 1),
  );
}

/** Those that keep all come first. */
function rank(engine: string): number {
  const place = ["redis", "redis on ioredis", "memory"].indexOf(engine);
  return place < 0 ? 2 : place;
}

/** A run of its own, since to import a test is to register it here. It collects, and runs nothing. */
async function testNames(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "punctual-list-"));
  const list = join(folder, "tests.json");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    await promisify(execFile)(process.execPath, [vitest, "list", "test/conformance/", `--json=${list}`], { cwd: root });
    const tests = JSON.parse(await readFile(list, "utf8")) as { readonly name: string }[];
    return tests.map(({ name }) => name);
  } finally {
    await rm(folder, { recursive: true });
  }
}
