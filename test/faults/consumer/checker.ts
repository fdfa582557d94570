import type { Asked, EntryOf, History } from "./history.js";
import type { Remains } from "./remains.js";

export interface CheckOptions {
  /** A process was killed or stopped, or its leases were short: leases may have ended that nobody saw. Default false. */
  readonly leasesMayEnd?: boolean;
  /**
   * Replies to schedule were lost, so it was repeated. One that came due and was done between the two attempts is stored, and
   * delivered, again: idempotency by id lasts as long as the message. Default false.
   */
  readonly schedulesRepeat?: boolean;
  /** What was acknowledged by a process that was killed before it heard of it. Default none. */
  readonly unheard?: readonly string[];
  /** Whether Redis itself may have lost what was confirmed of this message. Default: of none. */
  readonly excused?: (id: string) => boolean;
}

export interface Problem {
  /** I1 to I12. */
  readonly invariant: string;
  /** The message that it is about; left out, it is about a consumer or the whole queue. */
  readonly id?: string;
  readonly sentence: string;
}

/** How old the last claim of a running consumer may be, ms, and as much again as looking at it may take. */
const freshFor = 7_500 + 250;

/** Whatever Redis forgets: nothing comes that nobody asked for, nothing is early, and every call ends. */
const neverExcused = new Set(["I2", "I3", "I4"]);

/** What is wrong with a run that is over, healed and drained; empty when nothing is. */
export function problemsOf(history: History, remains: Remains, options: CheckOptions = {}): Problem[] {
  const { excused = () => false } = options;
  return allProblems(history, remains, options)
    .filter(({ id, invariant }) => id === undefined || neverExcused.has(invariant) || !excused(id))
    .slice(0, 20);
}

function allProblems(history: History, remains: Remains, options: CheckOptions): Problem[] {
  return [
    ...unanswered(history),
    ...lost(history, remains, options),
    ...unasked(history, remains),
    ...early(history, options),
    ...backAgain(history, remains, options),
    ...attempts(history, options),
    ...counts(remains),
    ...health(history),
  ];
}

/** Every call to schedule ends. */
function* unanswered({ asked }: History): Iterable<Problem> {
  for (const [id, { told }] of asked) {
    if (told === undefined) yield { invariant: "I4", id, sentence: "nobody was told what became of scheduling it" };
  }
}

/** Nothing that was scheduled is missing. */
function* lost(
  { asked, acknowledged, entries }: History,
  { stored }: Remains,
  { unheard = [] }: CheckOptions,
): Iterable<Problem> {
  const still = new Set([...stored, ...unheard]);
  // Nobody knows whether it was acknowledged.
  const unknown = new Set(
    entries.flatMap((entry) => (entry.kind === "failed" && entry.code === "outcome-unknown" ? [entry.id] : [])),
  );
  for (const [id, { told, cancelled }] of asked) {
    if (told === undefined || "failed" in told || acknowledged.has(id) || still.has(id) || unknown.has(id)) continue;
    if (cancelled?.outcome === "cancelled" || cancelled?.outcome === "outcome-unknown") continue;
    yield { invariant: "I1", id, sentence: "it is lost" };
  }
}

/** Nothing is stored or delivered that was not asked for, or otherwise than it was asked for. */
function* unasked({ asked, starts }: History, { stored }: Remains): Iterable<Problem> {
  const problem = (id: string, sentence: string): Problem => ({ invariant: "I2", id, sentence });
  for (const id of stored) if (!asked.has(id)) yield problem(id, "it is stored, but was never asked for");
  for (const [id, deliveries] of starts) {
    const wanted = asked.get(id);
    if (wanted === undefined) yield problem(id, "it was delivered, but never asked for");
    else if (deliveries.some(({ task }) => task.text !== wanted.task.text || task.plan !== wanted.task.plan)) {
      yield problem(id, "it was delivered with another payload");
    }
  }
}

/** Nothing starts before it is due, neither by what was asked nor by what was told nor by what the delivery says. */
function* early(history: History, options: CheckOptions): Iterable<Problem> {
  for (const [id, deliveries] of history.starts) {
    const wanted = history.asked.get(id);
    const told = livesAgain(history, id, options) ? 0 : toldDue(wanted);
    for (const { at, dueAt } of deliveries) {
      const due = Math.max(dueAt, told, wanted?.earliest ?? 0);
      if (at < due) yield { invariant: "I3", id, sentence: `it was early by ${due - at} ms` };
    }
  }
}

/** Whether it was delivered, and then stored again by a schedule that was repeated: its due time is then a later one. */
function livesAgain({ asked, starts }: History, id: string, { schedulesRepeat = false }: CheckOptions): boolean {
  return schedulesRepeat && (starts.get(id)?.[0]?.dueAt ?? Infinity) < toldDue(asked.get(id));
}

function toldDue(asked: Asked | undefined): number {
  return asked?.told !== undefined && "dueAt" in asked.told ? asked.told.dueAt : 0;
}

/** What was acknowledged, buried or cancelled does not come back, and is not there any more unless it was buried. */
function* backAgain(history: History, { stored }: Remains, options: CheckOptions): Iterable<Problem> {
  const { starts, asked, entries, acknowledged } = history;
  const problem = (id: string, sentence: string): Problem => ({ invariant: "I7", id, sentence });
  const ended = new Map<string, EntryOf<"settled">>();
  for (const entry of entries) {
    if (entry.kind !== "settled" || (entry.how !== "acknowledged" && entry.how !== "buried")) continue;
    if (livesAgain(history, entry.id, options)) continue;
    if (ended.has(entry.id)) yield { invariant: "I12", id: entry.id, sentence: "it ended twice" };
    ended.set(entry.id, entry);
  }
  for (const [id, deliveries] of starts) {
    const end = ended.get(id);
    const own = deliveries.findLast(
      ({ consumer, attempt, at }) => consumer === end?.consumer && attempt === end.attempt && at <= end.at,
    );
    // Leases do not overlap: from the start of the delivery that ended it on there is no other.
    if (end && deliveries.some((start) => start !== own && start.at > (own?.at ?? end.at))) {
      yield problem(id, `it was delivered again after it was ${end.how}`);
    }
    const { cancelled } = asked.get(id) ?? {};
    if (cancelled?.outcome === "cancelled" && deliveries.some(({ at }) => at > cancelled.at)) {
      yield problem(id, "it was delivered after it was cancelled");
    }
  }
  for (const id of stored) {
    if (acknowledged.has(id)) yield problem(id, "it was acknowledged, but is still stored");
    if (asked.get(id)?.cancelled?.outcome === "cancelled") yield problem(id, "it was cancelled, but is still stored");
  }
}

/** Each delivery but the first has a cause, and its attempt counts the earlier ones that were not released. */
function* attempts(history: History, options: CheckOptions): Iterable<Problem> {
  const problem = (id: string, sentence: string): Problem => ({ invariant: "I8", id, sentence });
  const { starts, entries } = history;
  const { leasesMayEnd = false } = options;
  const ends = new Map<string, ("used" | "released")[]>();
  for (const entry of entries) {
    const released = entry.kind === "settled" && entry.how === "released";
    const used = entry.kind === "lost" || (entry.kind === "settled" && entry.how === "retried");
    if (released || used) ends.set(entry.id, [...(ends.get(entry.id) ?? []), released ? "released" : "used"]);
  }
  for (const [id, deliveries] of starts) {
    if (livesAgain(history, id, options)) continue;
    const causes = ends.get(id) ?? [];
    const used = causes.filter((cause) => cause === "used").length;
    if (!leasesMayEnd && deliveries.length > 1 + causes.length) {
      yield problem(id, `it was delivered ${deliveries.length} times, with a cause for ${1 + causes.length}`);
    }
    const last = Math.max(...deliveries.map(({ attempt }) => attempt));
    if (leasesMayEnd ? last < deliveries.length - (causes.length - used) : last > 1 + used) {
      yield problem(id, `it had attempt ${last} after ${deliveries.length} deliveries of which ${used} used one`);
    }
  }
}

/** Counts, index and bodies agree with each other, and `audit()` finds nothing. */
function* counts({ waiting, leased, dead, stored, fenced, counts: told, found }: Remains): Iterable<Problem> {
  const problem = (sentence: string): Problem => ({ invariant: "I9", sentence });
  for (const { id, detail } of found) yield { ...problem(`audit() says ${detail}`), id };
  const indexed = [...waiting, ...leased, ...dead];
  if (new Set(indexed).size < indexed.length) yield problem("an id is in two states");
  const bodies = new Set(stored);
  for (const id of indexed) if (!bodies.has(id)) yield { ...problem("it has an index entry without a body"), id };
  const entries = new Set(indexed);
  for (const id of stored) if (!entries.has(id)) yield { ...problem("it has a body without an index entry"), id };
  if (fenced.toSorted().join("\n") !== leased.toSorted().join("\n")) yield problem("leases and tokens differ");
  const sums = [told.scheduled + told.due, told.leased, told.dead];
  const sizes = [waiting.length, leased.length, dead.length];
  if (sums.join() !== sizes.join()) yield problem(`counts() says ${sums.join()}, there are ${sizes.join()}`);
}

/** No consumer called itself running that was not. */
function* health(history: History): Iterable<Problem> {
  const problem = (sentence: string): Problem => ({ invariant: "I10", sentence });
  const byConsumer = new Map<string, EntryOf<"health">[]>();
  for (const entry of history.entries) {
    if (entry.kind === "health") byConsumer.set(entry.consumer, [...(byConsumer.get(entry.consumer) ?? []), entry]);
  }
  for (const [consumer, entries] of byConsumer) {
    let lastClaim = 0;
    let brokenAt: number | undefined;
    for (const { at, state, lastClaimAt = 0 } of entries) {
      if (state === "running" && lastClaimAt < at - freshFor)
        yield problem(`${consumer} is running on a claim of long ago`);
      if (state === "running" && brokenAt !== undefined && lastClaimAt <= lastClaim) {
        yield problem(`${consumer} called itself running again before a claim was answered`);
      }
      brokenAt = state === "recovering" ? (brokenAt ?? at) : undefined;
      lastClaim = Math.max(lastClaim, lastClaimAt);
    }
    for (const { from, to, noticedWithin } of history.outages) {
      const noticedBy = from + noticedWithin;
      const states = entries.filter(({ at }) => at > noticedBy && at < to);
      states.push(...entries.filter(({ at }) => noticedBy < to && at <= noticedBy).slice(-1));
      if (states.some(({ state }) => state === "running")) {
        yield problem(`${consumer} called itself running while nobody was answered`);
      }
      // A reply that was on its way when it began is read a little later.
      if (entries.some(({ at, lastClaimAt = 0 }) => at < to && lastClaimAt > from + 50)) {
        yield problem(`${consumer} told of a claim that cannot have been answered`);
      }
    }
  }
}
