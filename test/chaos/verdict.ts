import type { Counts } from "../../src/engine.js";
import { chaosMessage, digestOf, type ChaosMessage, numberOf } from "./chaos-message.js";
import type { DeliverySeen, Stories, Story } from "./stories.js";

/** A run that is over, and what was found in Redis after it was drained. */
export interface Run {
  readonly seed: number;
  readonly messages: number;
  readonly stories: Stories;
  /** Processes that were killed. */
  readonly killed: ReadonlySet<string>;
  /** Processes that ended by themselves. */
  readonly failed: readonly string[];
  /** How many orphans were planted, and which of them are delivered when they are mended. */
  readonly orphans: number;
  readonly planted: ReadonlySet<string>;
  /** What went wrong with planting and mending. */
  readonly mending: readonly string[];
  readonly dead: readonly DeadLetter[];
  /** Ids of the messages that are in Redis still; none but the dead letters when it was drained. */
  readonly stored: ReadonlySet<string>;
  /** When all was delivered, and when the dead letters were removed, too. */
  readonly drained: Counts;
  readonly emptied: Counts;
  /** What `audit()` found, from the first time, while the load went on, to the last. */
  readonly found: readonly string[];
}

export interface DeadLetter {
  readonly id: string;
  readonly attempt: number;
  readonly reason: string;
}

/** One line of the table. */
export interface Finding {
  readonly invariant: string;
  readonly sentence: string;
  /** What was looked at. */
  readonly looked: number;
  /** What breaks it; empty when nothing does. */
  readonly broken: readonly string[];
}

/** Judges a run: each invariant with all that breaks it. */
export function judge(run: Run): { readonly findings: Finding[]; readonly causes: ReadonlyMap<string, number> } {
  const deliveries = [...run.stories.byId.values()].reduce((sum, story) => sum + story.deliveries.length, 0);
  const causes = new Map<string, number>();
  const finding = (invariant: string, sentence: string, looked: number, broken: Iterable<string>): Finding => {
    return { invariant, sentence, looked, broken: [...broken] };
  };
  return {
    findings: [
      finding("I1", "nothing is lost", run.messages, lost(run)),
      finding("I2", "what was asked for is delivered, byte for byte", deliveries, otherThanAsked(run)),
      finding("I3", "nothing starts early", deliveries, early(run)),
      finding("I7", "what was acknowledged or cancelled does not come back", deliveries, cameBack(run)),
      finding("I8", "attempts are counted and bounded", deliveries, attempts(run)),
      finding("I9", "audit() finds nothing, nothing is left", run.dead.length, left(run)),
      finding("I11", "each further delivery has a cause", deliveries, duplicates(run, causes)),
      finding("–", "no call fails, no process ends by itself", run.killed.size, failures(run)),
      finding("–", "orphans are found and mended, and nothing else", run.orphans, mended(run)),
    ],
    causes,
  };
}

/** Every message of the run with its story, by what the seed says of it. */
function* all({ seed, messages, stories }: Run): Generator<readonly [ChaosMessage, Story | undefined]> {
  for (let number = 0; number < messages; number++) {
    const message = chaosMessage(seed, number);
    yield [message, stories.byId.get(message.id)];
  }
}

function* lost(run: Run) {
  for (const [{ id }, story] of all(run)) {
    if (story === undefined || story.told.length === 0) yield `nobody was told what became of scheduling ${id}`;
    else if (!run.stored.has(id) && !isCancelled(story, run) && !story.deliveries.some((one) => isDone(one, run))) {
      yield `${id}: ${JSON.stringify(story)}`;
    }
  }
}

/** It was acknowledged; or it was about to be by a process that was killed before it heard of it. */
function isDone({ started, ending, ended, lost: lease }: DeliverySeen, { killed }: Run): boolean {
  if (ended !== undefined) return ended.how === "acknowledged";
  return ending?.how === "acknowledged" && lease === undefined && killed.has(started.process);
}

function isCancelled({ cancelling, cancelled }: Story, { killed }: Run): boolean {
  if (cancelled.some(({ outcome }) => outcome === "cancelled")) return true;
  // Cancelled by one that was killed before it heard of it; who did it again was told that there is none.
  const unheard = cancelled.every(({ outcome }) => outcome === "absent");
  return unheard && cancelling !== undefined && [...killed].some((name) => name.startsWith("producer"));
}

function* otherThanAsked({ seed, messages, stories, planted }: Run) {
  for (const [id, { asked, deliveries }] of stories.byId) {
    const number = numberOf(id, messages);
    if (deliveries.length === 0 || planted.has(id)) continue;
    if (number === undefined || asked === undefined) yield `nobody asked for ${id}`;
    else {
      const digest = digestOf(chaosMessage(seed, number).payload);
      if (deliveries.some(({ started }) => started.digest !== digest)) yield `${id} has another payload`;
    }
  }
}

/** Neither by what was asked, nor by what was told, nor by what the delivery says. */
function* early(run: Run) {
  for (const [{ id, delay }, story] of all(run)) {
    if (story === undefined) continue;
    const told = Math.max(0, ...story.told.map(({ outcome, dueAt }) => (outcome === "scheduled" ? dueAt : 0)));
    const earliest = Math.max(told, (story.asked?.at ?? Infinity) + delay);
    for (const { started } of story.deliveries) {
      const due = Math.max(earliest, started.dueAt);
      if (started.at < due) yield `${id} by ${due - started.at} ms, at attempt ${started.attempt}`;
    }
  }
}

function* cameBack({ stories }: Run) {
  for (const [id, { deliveries, cancelled }] of stories.byId) {
    const ends = deliveries.filter(({ ended }) => ended?.how === "acknowledged" || ended?.how === "buried");
    if (ends.length > 1) yield `${id} ended ${ends.length} times`;
    const end = ends[0];
    // While it had its lease nobody else had one, so from its start on nothing else starts.
    if (end && deliveries.some(({ started }) => started !== end.started && started.at > end.started.at)) {
      yield `${id} was delivered after it had ended: ${JSON.stringify(deliveries)}`;
    }
    const gone = cancelled.find(({ outcome }) => outcome === "cancelled");
    if (gone && deliveries.some(({ started }) => started.at > gone.at)) yield `${id} was delivered after its cancel`;
  }
}

function* attempts(run: Run) {
  const letters = new Map(run.dead.map((letter) => [letter.id, letter]));
  if (letters.size < run.dead.length) yield "a dead letter is there twice";
  for (const [{ id, act, attempts: limit }, story] of all(run)) {
    const deliveries = story?.deliveries ?? [];
    for (const [index, { started }] of deliveries.entries()) {
      if (started.attempt > limit) yield `${id} was delivered with attempt ${started.attempt} of ${limit}`;
      const before = deliveries[index - 1];
      // What was released used none; each other delivery used one, whether it is known how it ended or not.
      const least = before === undefined ? 1 : before.started.attempt + (before.ending?.how === "released" ? 0 : 1);
      if (started.attempt < least) yield `${id} was delivered with attempt ${started.attempt} after ${least - 1}`;
    }
    const letter = letters.get(id);
    if (act === "fail-always" && letter?.reason !== "attempts" && !run.stored.has(id))
      yield `${id} fails always, and is not among the dead letters`;
    if (letter === undefined) continue;
    if (letter.reason === "attempts" ? letter.attempt !== limit : act !== "bury" || letter.reason !== "as planned") {
      yield `${id} (${act}) is a dead letter: ${letter.reason}, attempt ${letter.attempt} of ${limit}`;
    }
  }
}

function* left({ drained, emptied, dead, found }: Run) {
  yield* found;
  const { scheduled, due, leased } = drained;
  if (scheduled + due + leased > 0 || drained.dead !== dead.length) {
    yield `counts() says ${JSON.stringify(drained)} with ${dead.length} dead letters in the list`;
  }
  if (emptied.scheduled + emptied.due + emptied.leased + emptied.dead > 0) {
    yield `counts() says ${JSON.stringify(emptied)} when all was removed`;
  }
}

/** Counts all deliveries but the first of each message by why they came; those without a reason break the run. */
function* duplicates({ stories, killed }: Run, causes: Map<string, number>) {
  for (const [id, { deliveries }] of stories.byId) {
    for (const [index, { started, ended, ending, lost: lease }] of deliveries.slice(0, -1).entries()) {
      const cause =
        ended?.how === "retried" || ended?.how === "released"
          ? `it was ${ended.how}, as planned`
          : lease !== undefined
            ? `the lease was lost (${lease.code})`
            : ended === undefined && killed.has(started.process)
              ? `its process was killed ${ending === undefined ? "while it worked on it" : `before it knew that it was ${ending.how}`}`
              : undefined;
      if (cause === undefined) yield `${id}: ${JSON.stringify(deliveries.slice(index, index + 2))}`;
      else causes.set(cause, (causes.get(cause) ?? 0) + 1);
    }
  }
}

function* mended({ stories, planted, mending }: Run) {
  yield* mending;
  for (const id of planted) {
    const deliveries = stories.byId.get(id)?.deliveries ?? [];
    if (!deliveries.some(({ ended }) => ended?.how === "acknowledged")) yield `${id} was mended, but not delivered`;
  }
}

function* failures({ stories, failed }: Run) {
  for (const { process, id, code } of stories.failures) yield `${process}: ${code} ${id}`;
  for (const name of failed) yield `${name} ended by itself`;
}
