import { describe, expect, it } from "vitest";
import { memoryEngine } from "../src/engines/memory/engine.js";
import { Queue } from "../src/index.js";
import { read } from "./source-files.js";

/** The names of the properties of an interface, from the reports of the public interface. */
function propertiesOf(report: string, name: string): string[] {
  const text = read(`docs/api/${report}.api.md`);
  const body = new RegExp(`^export interface ${name}(?:<\\w+>)?(?: extends [^\\n]+)? \\{\\n([\\s\\S]*?)^\\}`, "m").exec(
    text,
  )?.[1];
  if (body === undefined) throw new Error(`${report} has no interface ${name}`);
  return [...body.matchAll(/^ {4}(?:readonly )?(\w+)\??: /gm)].map(([, property = ""]) => property);
}

/** The names in the first cells of the first table of a section. */
function namesIn(page: string, section: string): string[] {
  const start = read(page).split(`\n## ${section}\n`)[1]?.split("\n## ")[0];
  if (start === undefined) throw new Error(`${page} has no section ${section}`);
  const table = start.slice(start.indexOf("\n|")).split("\n\n")[0] ?? "";
  return [...table.matchAll(/^\| `([\w.]+)` +\|/gm)].map(([, name = ""]) => name);
}

/** Sections and the interfaces that their tables are about. */
const tables: [page: string, section: string, interfaces: [report: string, name: string][]][] = [
  ["results", "Scheduled", [["punctual", "Scheduled"]]],
  ["results", "A message that is looked at", [["punctual", "Message"]]],
  ["results", "A page", [["punctual", "Page"]]],
  ["results", "Counts", [["punctual", "Counts"]]],
  ["results", "Audit report", [["punctual", "AuditReport"]]],
  ["results", "A delivery", [["punctual", "Delivery"]]],
  [
    "engines",
    "`redisEngine(options)`",
    [
      ["engines-redis", "RedisOptions"],
      ["engines-redis", "RedisEngineOptions"],
    ],
  ],
  ["engines", "`memoryEngine(options)`", [["engines-memory", "MemoryEngineOptions"]]],
  ["engines", "Bounds of dead letters", [["punctual", "DeadLetterOptions"]]],
  ["options", "`new Queue(name, options)`", [["punctual", "QueueOptions"]]],
  ["options", "`queue.receive(options)`", [["punctual", "ReceiveOptions"]]],
  ["options", "`queue.list(query)`", [["punctual", "ListOptions"]]],
  ["options", "`consumer.close(options)`", [["punctual", "CloseOptions"]]],
];

describe("The reference names what the code has, and nothing else:", () => {
  it.each(tables)("docs/reference/%s.md, %s", (page, section, interfaces) => {
    const properties = interfaces.flatMap(([report, name]) => propertiesOf(report, name));
    expect(namesIn(`docs/reference/${page}.md`, section).sort()).toEqual(properties.sort());
  });

  it("docs/reference/options.md, `queue.schedule(payload, options)`", () => {
    const names = namesIn("docs/reference/options.md", "`queue.schedule(payload, options)`");
    expect(names.sort()).toEqual(["at", "delay", ...propertiesOf("punctual", "ScheduleOptions")].sort());
  });

  it("docs/reference/options.md, `queue.consume(handler, options)`", () => {
    const retry = propertiesOf("punctual", "RetryPolicy").map((name) => `retry.${name}`);
    const others = propertiesOf("punctual", "ConsumeOptions").filter((name) => name !== "retry");
    expect(namesIn("docs/reference/options.md", "`queue.consume(handler, options)`").sort()).toEqual(
      [...others, ...retry].sort(),
    );
  });

  it("docs/reference/results.md, every call of a queue", () => {
    const table = read("docs/reference/results.md").split("\n## ")[0] ?? "";
    const rows = [...table.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, cell = ""]) => cell.split(", "));
    const queue = new Queue("orders", { engine: memoryEngine() });
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(queue)).filter(
      (name) => name !== "constructor" && typeof Reflect.get(queue, name) === "function",
    );
    expect(rows.map((call) => /\w+/.exec(call)?.[0] ?? "").sort()).toEqual(methods.sort());
  });
});
