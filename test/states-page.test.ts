import { beforeAll, describe, expect, it } from "vitest";
import type { EngineQueue, MessageState, NewMessage } from "../src/engine.js";
import { memoryEngine } from "../src/engines/memory/engine.js";
import { type ManualClock, manualClock } from "../src/testing/manual-clock.js";
import { codeBlocks } from "./documentation/code-blocks.js";
import { read } from "./source-files.js";

const page = "docs/reference/states.md";
const id = "m";
const hour = 3_600_000;

interface World {
  readonly clock: ManualClock;
  readonly queue: EngineQueue;
}

/** A message in a state, as it can have come there. */
interface Situation {
  readonly state: MessageState | "gone";
  readonly reach: (world: World) => Promise<unknown>;
}

const message = (options: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from("payload"),
  due: { delay: 0 },
  onDuplicate: "keep",
  ...options,
});
const claim = ({ queue }: World, attempts: number) =>
  queue.claim({ limit: 1, lease: 30_000, consumer: "c", token: `claim-${attempts}`, attempts });
/** Of the claim with this limit; where there was none, of a lease that never was. */
const receipt = { id, token: "claim-2", leaseUntil: 0 };

/** All ways in which a message can stand that make a difference to what an operation does. */
const situations: Situation[] = [
  { state: "gone", reach: async () => {} },
  { state: "scheduled", reach: ({ queue }) => queue.schedule([message({ due: { delay: hour } })]) },
  { state: "due", reach: ({ queue }) => queue.schedule([message()]) },
  { state: "due", reach: ({ queue, clock }) => expired(queue, clock) },
  { state: "due", reach: (world) => oftenTried(world) },
  { state: "leased", reach: (world) => leased(world, undefined) },
  // Its last attempt.
  { state: "leased", reach: (world) => leased(world, 1) },
  { state: "dead", reach: (world) => dead(world) },
];

async function expired(queue: EngineQueue, clock: ManualClock): Promise<void> {
  await queue.schedule([message({ expiresIn: 1 })]);
  await clock.advance(2);
}
/** As often as this consumer would try, by one that tries more often. */
async function oftenTried(world: World): Promise<void> {
  await world.queue.schedule([message()]);
  for (const attempts of [4, 3]) {
    await claim(world, attempts);
    await world.queue.retry([{ ...receipt, token: `claim-${attempts}`, delay: 0 }]);
  }
}
async function leased(world: World, attempts: number | undefined): Promise<void> {
  await world.queue.schedule([message({ attempts })]);
  await claim(world, 2);
}
async function dead(world: World): Promise<void> {
  await leased(world, undefined);
  await world.queue.bury([{ ...receipt, reason: "given" }]);
}

/** Every operation that names or can meet a message, each as it can turn out; in the order of the page. */
const operations: Record<string, readonly ((world: World) => Promise<unknown>)[]> = {
  schedule: onceNowOnceLater(({ queue }, due) => queue.schedule([message({ due })])),
  "schedule (replace)": onceNowOnceLater(({ queue }, due) =>
    queue.schedule([message({ due, onDuplicate: "replace" })]),
  ),
  reschedule: onceNowOnceLater(({ queue }, due) => queue.reschedule([{ id, due }])),
  cancel: [({ queue }) => queue.cancel([id])],
  claim: [async (world) => (await claim(world, 2)).messages.length],
  acknowledge: [({ queue }) => queue.acknowledge([receipt])],
  retry: onceNowOnceLater(({ queue }, { delay }) => queue.retry([{ ...receipt, delay }])),
  release: onceNowOnceLater(({ queue }, { delay }) => queue.release([{ ...receipt, delay }])),
  bury: [({ queue }) => queue.bury([{ ...receipt, reason: "given" }])],
  extend: [({ queue }) => queue.extend([receipt], 60_000)],
  revive: onceNowOnceLater(({ queue }, due) => queue.revive([id], due)),
  remove: [({ queue }) => queue.remove([id])],
  "purge waiting": [({ queue }) => queue.purge("waiting")],
  "purge dead": [({ queue }) => queue.purge("dead")],
  time: [({ clock }) => clock.advance(2 * hour)],
};

/** Those that look, and those that hold for the queue as a whole: they may move nothing. */
const still: Record<string, (queue: EngineQueue) => Promise<unknown>> = {
  get: (queue) => queue.get([id]),
  counts: (queue) => queue.counts(),
  list: (queue) => queue.list({ state: "due", limit: 10 }),
  audit: (queue) => queue.audit(),
  repair: (queue) => queue.repair(),
  pause: (queue) => queue.pause(),
  resume: (queue) => queue.resume(),
  watch: (queue) =>
    queue.watch("c", { wake: () => {}, postpone: () => {}, interrupted: () => {}, recovered: () => {} }),
};

function onceNowOnceLater(operation: (world: World, due: { delay: number }) => Promise<unknown>) {
  return [0, hour].map((delay) => (world: World) => operation(world, { delay }));
}

/** Runs one operation in one situation: the answer, and where the message is then. */
async function run({ state, reach }: Situation, operation: (world: World) => Promise<unknown>) {
  const clock = manualClock();
  await using engine = memoryEngine({ clock });
  const world = { clock, queue: engine.open("orders") };
  await reach(world);
  expect((await world.queue.get([id]))[0]?.state ?? "gone").toBe(state);
  const answer = word(await operation(world));
  const [after] = await world.queue.get([id]);
  return { answer, to: after?.state ?? "gone", reason: after?.buried?.reason };
}

/** An answer as the page has it. */
function word(answer: unknown): string {
  const one: unknown = Array.isArray(answer) ? answer[0] : answer;
  if (typeof one === "object" && one !== null && "outcome" in one) return String(one.outcome);
  return String(one);
}

/** `from --> to: operation` for every move, and the answers of each operation by state. */
const moves = new Set<string>();
const answers = new Map<string, Map<string, Set<string>>>();

beforeAll(async () => {
  for (const [name, variants] of Object.entries(operations)) {
    const byState = new Map<string, Set<string>>();
    answers.set(name, byState);
    for (const situation of situations) {
      for (const operation of variants) {
        const { answer, to, reason } = await run(situation, operation);
        byState.set(situation.state, (byState.get(situation.state) ?? new Set()).add(answer));
        if (situation.state === to) continue;
        // What a handler buries has the reason that it gave.
        const label = reason === undefined || reason === "given" ? name : `${name} (${reason})`;
        moves.add(`${node(situation.state)} --> ${node(to)}: ${label}`);
      }
    }
  }
});

const node = (state: string) => (state === "gone" ? "[*]" : state);

describe("The page on states", () => {
  it("has every move of a message in its diagram, and no other.", () => {
    const diagram = codeBlocks(page).find(({ language }) => language === "mermaid")?.code ?? "";
    const drawn = [...diagram.matchAll(/^ +(\S+ --> \S+): (.+)$/gm)].flatMap(([, edge, labels = ""]) =>
      labels.split(", ").map((label) => `${edge}: ${label}`),
    );
    expect(drawn.toSorted()).toEqual([...moves].toSorted());
  });

  it("has what each operation answers in each state.", () => {
    const rows = [...read(page).matchAll(/^\| `([a-z()]+(?: [a-z()]+)?)` +\| (.+) \|$/gm)]
      .map(([, name = "", cells = ""]) => [name, cells.split("|").map((cell) => cell.trim().replaceAll("`", ""))])
      .filter(([, cells]) => cells?.length === 5);
    const silent = new Set(["claim", "time"]);
    const states = ["gone", "scheduled", "due", "leased", "dead"];
    const found = [...answers]
      .filter(([name]) => !silent.has(name))
      .map(([name, byState]) => [name, states.map((state) => [...(byState.get(state) ?? [])].join(", "))]);
    expect(rows).toEqual(found);
  });

  it.each(Object.entries(still))("is right to leave %s out: it moves nothing.", async (_name, operation) => {
    for (const situation of situations) {
      expect((await run(situation, ({ queue }) => operation(queue))).to).toBe(situation.state);
    }
  });

  it("leaves no operation of the contract out.", async () => {
    await using engine = memoryEngine();
    const queue = engine.open("orders");
    const contract = Object.getOwnPropertyNames(Object.getPrototypeOf(queue)).filter(
      (name) => name !== "constructor" && typeof Reflect.get(queue, name) === "function",
    );
    const driven = [...Object.keys(operations), ...Object.keys(still)].map((name) => name.replace(/[ (].*/, ""));
    expect(contract.filter((name) => !driven.includes(name))).toEqual([]);
  });
});
