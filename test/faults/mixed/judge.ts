import { type ChaosMessage, chaosMessage, digestOf } from "../../chaos/chaos-message.js";
import type { Absence } from "./crew-process.js";
import { type DeliverySeen, fateOf, type Story, toldAt } from "./story.js";

/** What is to be known of the run to judge one of its messages. */
export interface Circumstances {
  readonly seed: number;
  /** Processes that were killed. */
  readonly killed: ReadonlySet<string>;
  /** When processes were stopped or blocked, by their names. */
  readonly absences: ReadonlyMap<string, readonly Absence[]>;
  /** When Redis may have forgotten what it had confirmed: around failovers. */
  readonly losses: readonly LossWindow[];
}

/** Unix ms. */
export interface LossWindow {
  readonly from: number;
  readonly to: number;
}

/** Of a further delivery that nothing explains. */
export const noCause = "no known cause";

export interface Problem {
  /** I1 to I12. */
  readonly invariant: string;
  readonly sentence: string;
}

/** What one message says of the run. */
export interface Judgement {
  readonly problems: readonly Problem[];
  /** Why it was delivered again, once for each time. */
  readonly causes: readonly string[];
}

/** Redis may have forgotten what it had confirmed at this time. */
export function isLossy({ losses }: Pick<Circumstances, "losses">, time: number): boolean {
  return losses.some(({ from, to }) => time >= from && time <= to);
}

/** Whether what is wrong with this message can be a loss of Redis itself. */
export function isExcused(story: Story, circumstances: Circumstances): boolean {
  for (const time of toldAt(story)) if (isLossy(circumstances, time)) return true;
  return false;
}

/** Judges a message by all that was said of it. */
export function judge(story: Story, circumstances: Circumstances): Judgement {
  const message = chaosMessage(circumstances.seed, story.number);
  // Redis gives leases in the order of attempts; what was released comes before what got the same attempt after it.
  const releases = ({ ending }: DeliverySeen) => (ending?.how === "released" ? 0 : 1);
  const deliveries = story.deliveries.toSorted(
    (one, other) => one.attempt - other.attempt || releases(one) - releases(other) || one.at - other.at,
  );
  const problems = [
    ...otherThanAsked(message, story, deliveries),
    ...early(message, story, deliveries),
    ...cameBack(story, deliveries, circumstances),
    ...attempts(message, deliveries),
  ];
  return { problems, causes: [...causesOf(deliveries, story, circumstances)] };
}

function* otherThanAsked({ id, payload }: ChaosMessage, story: Story, deliveries: readonly DeliverySeen[]) {
  const [first] = deliveries;
  if (first === undefined) return;
  const digest = digestOf(payload);
  if (deliveries.some((one) => one.digest !== digest)) yield problem("I2", `${id} was delivered with another payload`);
  if (fateOf({ ...story, deliveries: [] })?.fate === "never stored") {
    yield problem("I2", `${id} was delivered, though schedule said that nothing was stored: ${JSON.stringify(story)}`);
  }
}

/** Neither by what was asked, nor by what was told, nor by what the delivery says. */
function* early({ id, delay }: ChaosMessage, { askedAt, told }: Story, deliveries: readonly DeliverySeen[]) {
  const scheduled = told !== undefined && "outcome" in told && told.outcome === "scheduled" ? told : undefined;
  // Of one that is gone a schedule that is repeated learns when it went, and not when it was due.
  const mayBeGone = deliveries.some(
    ({ ending }) => scheduled !== undefined && ending !== undefined && ending.at <= scheduled.at,
  );
  const stored = mayBeGone ? 0 : (scheduled?.dueAt ?? 0);
  for (const { at, dueAt, attempt } of deliveries) {
    const due = Math.max(dueAt, stored, askedAt + delay);
    if (at < due) yield problem("I3", `${id} was early by ${due - at} ms, at attempt ${attempt}`);
  }
}

/** Whether the process was stopped or blocked at some time between these. */
function wasAway({ absences }: Circumstances, process: string, from: number, to: number): boolean {
  return absences.get(process)?.some((absence) => absence.from < to && absence.to > from) ?? false;
}

function* cameBack(story: Story, deliveries: readonly DeliverySeen[], circumstances: Circumstances) {
  const id = `m${story.number}`;
  const isOver = ({ ended }: DeliverySeen) => ended?.how === "acknowledged" || ended?.how === "buried";
  if (deliveries.filter(isOver).length > 1) yield problem("I12", `${id} ended twice: ${JSON.stringify(deliveries)}`);
  const end = deliveries.findIndex(isOver);
  if (end !== -1 && end < deliveries.length - 1) {
    yield problem("I7", `${id} had a lease after it had ended: ${JSON.stringify(deliveries)}`);
  }
  for (const [index, { attempt, ending, ended }] of deliveries.entries()) {
    const next = deliveries[index + 1];
    // Who settled had the lease until then, so nobody else had begun before it was about to.
    if (ended !== undefined && ending !== undefined && next !== undefined && next.at < ending.at) {
      yield problem("I5", `two had ${id} at attempt ${attempt}: ${JSON.stringify(deliveries)}`);
    }
  }
  for (const { askedAt, at, outcome } of story.cancels) {
    // One that was stopped between a claim and its handler begins late.
    if (!deliveries.some((one) => one.at > at && !wasAway(circumstances, one.process, askedAt, one.at))) continue;
    if (outcome === "cancelled") yield problem("I7", `${id} was delivered after its cancel: ${JSON.stringify(story)}`);
    const wasStored = story.told !== undefined && "outcome" in story.told && story.told.at < askedAt;
    if (outcome === "absent" && wasStored) {
      yield problem("I7", `${id} was absent, said cancel, and was delivered later: ${JSON.stringify(story)}`);
    }
  }
}

function* attempts({ id, attempts: limit }: ChaosMessage, deliveries: readonly DeliverySeen[]) {
  for (const [index, { attempt }] of deliveries.entries()) {
    if (attempt > limit) yield problem("I8", `${id} was delivered with attempt ${attempt} of ${limit}`);
    const before = deliveries[index - 1];
    // What was released used none; each other delivery used one, whether it is known how it ended or not.
    const least = before === undefined ? 1 : before.attempt + (before.ending?.how === "released" ? 0 : 1);
    if (attempt < least) {
      yield problem("I8", `${id} was delivered with attempt ${attempt}, not ${least}: ${JSON.stringify(deliveries)}`);
    }
  }
}

/** Why each delivery but the last was followed by another one. */
function* causesOf(deliveries: readonly DeliverySeen[], story: Story, circumstances: Circumstances): Generator<string> {
  for (const [index, { process, at, ended, ending, lost, failed }] of deliveries.slice(0, -1).entries()) {
    const how = ended?.how ?? ending?.how;
    const next = deliveries[index + 1]?.at ?? Infinity;
    if (how === "retried" || how === "released") yield `${how} as planned`;
    else if (ended !== undefined) yield isExcused(story, circumstances) ? "Redis forgot that it was done" : noCause;
    else if (wasAway(circumstances, process, at, next)) yield "its process was stopped or blocked";
    else if (circumstances.killed.has(process)) yield "its process was killed";
    else if (lost !== undefined) yield `its lease ended (${lost.code})`;
    else if (failed !== undefined) yield `it could not be settled (${failed.code})`;
    else yield isExcused(story, circumstances) ? "Redis forgot the lease" : noCause;
  }
}

function problem(invariant: string, sentence: string): Problem {
  return { invariant, sentence };
}
