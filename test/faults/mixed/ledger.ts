import { chaosMessage, numberOf } from "../../chaos/chaos-message.js";
import type { CrewListener } from "./crew.js";
import type { Absence, CrewProcess } from "./crew-process.js";
import { type Circumstances, isExcused, isLossy, judge, type LossWindow, noCause, type Problem } from "./judge.js";
import { Lateness } from "./lateness.js";
import { isProbe, type Saying } from "./saying.js";
import { type Fate, fateOf, note, type Story } from "./story.js";

/** How long a message that has ended is watched, ms: longer than an outage and a lease together. Then it is judged. */
const watched = 45_000;

/** Who says something. */
export type Speaker = Pick<CrewProcess, "name" | "absences">;

/** A dead letter, as Redis has it when all is over. */
export interface DeadLetter {
  readonly id: string;
  readonly attempt: number;
  readonly reason: string;
}

/** What is in Redis when all was delivered. */
export interface Remains {
  readonly dead: readonly DeadLetter[];
  /** Ids of what is scheduled still. */
  readonly scheduled: readonly string[];
}

/** How late a message may be that comes due while nothing is wrong, ms, besides stalls: a loaded machine takes its time, too. */
const lateAtMost = 3_000;

const fates = ["open", "acknowledged", "buried", "cancelled", "never stored"] as const;
/** Sentences that are kept of each invariant. */
const kept = 10;

/**
 * All that is known of the messages of a run. Judges each when it has ended and nothing more is expected, and then remembers of it
 * only how and when it ended, so that a long run does not fill the memory.
 */
export class Ledger implements CrewListener {
  readonly lateness = new Lateness();
  readonly killed = new Set<string>();
  readonly absences = new Map<string, readonly Absence[]>();
  readonly losses: LossWindow[] = [];
  /** Deliveries. */
  delivered = 0;
  /** Messages of which something is wrong that Redis may have lost in a failover. */
  lostByRedis = 0;
  /** Why messages were delivered again, and how often. */
  readonly causes = new Map<string, number>();
  /** What failed, by its code: `schedule`, `cancel` and what consumers tell. */
  readonly failures = new Map<string, number>();
  readonly #problems = new Map<string, { count: number; sentences: string[] }>();
  readonly #seed: number;
  readonly #open = new Map<number, Story>();
  readonly #fates: Uint8Array;
  readonly #endedAt: Float64Array;
  #acknowledged = 0;

  constructor(seed: number, messages: number) {
    this.#seed = seed;
    this.#fates = new Uint8Array(messages);
    this.#endedAt = new Float64Array(messages);
  }

  /** Invariants that are broken: how often, and some of it. */
  get problems(): ReadonlyMap<string, { readonly count: number; readonly sentences: readonly string[] }> {
    return this.#problems;
  }

  /** How long Redis may have forgotten what it confirmed, in all, ms. */
  get lossyTime(): number {
    return this.losses.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  /** How many acknowledgements were confirmed. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  asked(number: number): void {
    this.#open.set(number, { number, askedAt: Date.now(), cancels: [], deliveries: [] });
  }

  told(number: number, told: { readonly outcome: string; readonly dueAt: number } | { readonly failed: string }): void {
    const story = this.#open.get(number);
    if (story !== undefined) story.told = { at: Date.now(), ...told };
    if ("failed" in told) count(this.failures, `schedule: ${told.failed}`);
  }

  cancelled(number: number, askedAt: number, outcome: string): void {
    this.#open.get(number)?.cancels.push({ askedAt, at: Date.now(), outcome });
  }

  /** A consumer process is killed. */
  wasKilled(name: string): void {
    this.killed.add(name);
  }

  /** A consumer process said something. */
  heard({ name, absences }: Speaker, saying: Saying): void {
    if (absences.length > 0) this.absences.set(name, absences);
    if (saying.kind === "failed") count(this.failures, `consumer: ${saying.code}`);
    if (!("id" in saying) || saying.id === "" || isProbe(saying.id)) return;
    const { kind, id } = saying;
    if (kind === "started") {
      this.delivered += 1;
      if (saying.attempt === 1) this.lateness.note(saying.dueAt, saying.at);
    } else if (kind === "ended" && saying.how === "acknowledged") this.#acknowledged += 1;
    const number = numberOf(id, this.#fates.length);
    const story = number === undefined ? undefined : this.#open.get(number);
    if (story !== undefined) note(story, name, saying);
    else if (number === undefined || this.#fates[number] === 0) this.broken("I2", `nobody asked for ${id}`);
    else if (kind === "started" || kind === "ended") this.#afterItsEnd(number, saying);
  }

  /** Judges what has ended, and of which nothing more is expected. */
  sweep(now = Date.now()): void {
    for (const story of this.#open.values()) {
      const end = fateOf(story);
      if (end !== undefined && end.at < now - watched) this.#close(story, end);
    }
  }

  /**
   * Judges all that is left, when the queue was drained and this is what lies in Redis.
   * @param stalled For how long the machine let nobody run at most, ms.
   */
  finish({ dead, scheduled }: Remains, { stalled = 0 } = {}): void {
    if (this.lateness.max > lateAtMost + stalled)
      this.broken("I4", `${this.lateness.max} ms late, while nothing was wrong`);
    const letters = new Map(dead.map((letter) => [letter.id, letter]));
    if (letters.size < dead.length) this.broken("I8", "a dead letter is there twice");
    for (const story of this.#open.values()) {
      const end = fateOf(story);
      if (end !== undefined) this.#close(story, end);
      else this.#judge(story, this.#lost(story, letters));
    }
    for (const letter of dead) this.#judgeDead(letter);
    for (const id of scheduled) this.#judgeScheduled(id);
    for (const [number, fate] of this.#fates.entries()) {
      if (fates[fate] !== "buried" || letters.has(`m${number}`)) continue;
      if (isLossy(this, this.#endedAt[number] ?? 0)) this.lostByRedis += 1;
      else this.broken("I1", `m${number} was buried, and is not among the dead letters`);
    }
  }

  /** An invariant is broken. */
  broken(invariant: string, sentence: string): void {
    const entry = this.#problems.get(invariant) ?? { count: 0, sentences: [] };
    this.#problems.set(invariant, entry);
    entry.count += 1;
    if (entry.sentences.length < kept) entry.sentences.push(sentence.slice(0, 1_000));
  }

  #afterItsEnd(number: number, saying: Saying): void {
    const endedAt = this.#endedAt[number] ?? 0;
    if (isLossy(this, endedAt)) this.lostByRedis += 1;
    else this.broken("I7", `m${number} had ended ${saying.at - endedAt} ms before: ${JSON.stringify(saying)}`);
  }

  #close(story: Story, end: { readonly fate: Fate; readonly at: number }): void {
    this.#fates[story.number] = fates.indexOf(end.fate);
    this.#endedAt[story.number] = end.at;
    this.#judge(story);
  }

  #judge(story: Story, alsoWrong: readonly Problem[] = []): void {
    this.#open.delete(story.number);
    const circumstances: Circumstances = {
      seed: this.#seed,
      killed: this.killed,
      absences: this.absences,
      losses: this.losses,
    };
    const { problems, causes } = judge(story, circumstances);
    for (const cause of causes) count(this.causes, cause);
    if (causes.includes(noCause)) this.broken("I11", `delivered again: ${JSON.stringify(story)}`);
    const all = [...problems, ...alsoWrong];
    if (all.length === 0) return;
    // A failover can lose, but it can neither make something early nor change a payload.
    const forgiven = isExcused(story, circumstances) && all.every(({ invariant }) => !/^I[23]$/.test(invariant));
    if (forgiven) this.lostByRedis += 1;
    else for (const { invariant, sentence } of all) this.broken(invariant, sentence);
  }

  /** Nobody knows how it ended: it has to be in Redis, or there has to be a reason why nobody knows. */
  #lost(story: Story, letters: ReadonlyMap<string, DeadLetter>): Problem[] {
    const { number, told, cancels, deliveries } = story;
    const id = `m${number}`;
    if (told === undefined) return [{ invariant: "I1", sentence: `nobody was told what became of scheduling ${id}` }];
    if ("failed" in told || letters.has(id) || cancels.some(({ outcome }) => outcome === "outcome-unknown")) return [];
    const mayBeDone = deliveries.some(({ process, ending, failed, lost }) => {
      const isEnd = ending?.how === "acknowledged" || ending?.how === "buried";
      if (!isEnd) return false;
      const unknown = failed?.code === "outcome-unknown" || lost?.code === "outcome-unknown";
      return unknown || (this.killed.has(process) && lost === undefined);
    });
    return mayBeDone ? [] : [{ invariant: "I1", sentence: `${id} is lost: ${JSON.stringify(story)}` }];
  }

  /** Whatever is far away was to be cancelled. */
  #judgeScheduled(id: string): void {
    const number = numberOf(id, this.#fates.length) ?? -1;
    const fate = fates[this.#fates[number] ?? 0];
    if (fate === "cancelled" && isLossy(this, this.#endedAt[number] ?? 0)) this.lostByRedis += 1;
    else this.broken("I9", `${id} was ${fate}, and is still scheduled`);
  }

  #judgeDead({ id, attempt, reason }: DeadLetter): void {
    const number = numberOf(id, this.#fates.length);
    if (number === undefined) return this.broken("I2", `nobody asked for the dead letter ${id}`);
    const { act, attempts } = chaosMessage(this.#seed, number);
    const fate = fates[this.#fates[number] ?? 0];
    if (fate !== "buried" && fate !== "open" && !isLossy(this, this.#endedAt[number] ?? 0)) {
      this.broken("I9", `${id} was ${fate}, and is among the dead letters`);
    }
    if (reason === "attempts" ? attempt !== attempts : act !== "bury" || reason !== "as planned") {
      this.broken("I8", `${id} (${act}) is a dead letter: ${reason}, attempt ${attempt} of ${attempts}`);
    }
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
