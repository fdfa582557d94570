import fc from "fast-check";

/**
 * What a sequence can hold. Times are ms after the start of the sequence, `null` stands for an option that is left out, and
 * whatever names a message, a lease or a deadline is chosen from few, so that operations meet.
 */
export type Operation =
  | { readonly op: "pass"; readonly by: number }
  | { readonly op: "pass to deadline"; readonly which: number; readonly offset: number }
  | { readonly op: "schedule"; readonly by: number; readonly messages: readonly Scheduling[] }
  | ({ readonly op: "claim"; readonly consumer: string } & Claiming)
  | { readonly op: "claim again"; readonly consumer: string }
  | { readonly op: "acknowledge"; readonly leases: readonly LeaseChoice[] }
  | {
      readonly op: "retry";
      readonly leases: readonly LeaseChoice[];
      readonly delay: number;
      readonly error: "none" | "short" | "with stack";
    }
  | { readonly op: "release"; readonly leases: readonly LeaseChoice[]; readonly delay: number | null }
  | {
      readonly op: "bury";
      readonly leases: readonly LeaseChoice[];
      readonly reason: string;
      readonly error: "none" | "short" | "with stack";
    }
  | { readonly op: "extend"; readonly leases: readonly LeaseChoice[]; readonly lease: number }
  | { readonly op: "cancel"; readonly ids: readonly string[] }
  | { readonly op: "reschedule"; readonly ids: readonly string[]; readonly due: Due }
  | {
      readonly op: "list";
      readonly state: State;
      readonly limit: number;
      readonly from: number | null;
      readonly to: number | null;
    }
  | { readonly op: "next page"; readonly limit: number }
  | { readonly op: "revive"; readonly ids: readonly string[] | "all"; readonly due: Due }
  | { readonly op: "remove"; readonly ids: readonly string[] }
  | { readonly op: "purge"; readonly what: "waiting" | "dead" }
  | { readonly op: "pause" | "resume" | "audit" | "repair" };

export type Due = { readonly delay: number } | { readonly at: number };

/** A message to be scheduled. */
export interface Scheduling {
  readonly id: string;
  readonly payload: string;
  readonly due: Due;
  readonly onDuplicate: "keep" | "replace";
  readonly attempts: number | null;
  readonly expiresIn: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
}

export interface Claiming {
  readonly limit: number;
  readonly lease: number;
  readonly attempts: number;
  readonly returns: boolean;
}

/** A lease by how many were given after it: 0 is the youngest. `tokenOf` takes the token from another one. */
export interface LeaseChoice {
  readonly lease: number;
  readonly tokenOf: number | null;
}

type State = "scheduled" | "due" | "leased" | "dead";

/** How the queue of a sequence is opened and kept. */
export interface Setting {
  /** Of each of those who open it. */
  readonly rememberFor: readonly number[];
  readonly maxDead: number | null;
  readonly maxDeadAge: number | null;
}

/** A setting and the operations, in their order. */
export interface Sequence {
  readonly setting: Setting;
  readonly operations: readonly Operation[];
}

/** One begins with another; the last two are in another order by their UTF-16 than by their bytes. */
export const ids = ["a", "ab", "b", "c", "\u{ff5e}", "\u{1f600}"] as const;
/** Each on one of the queues that were opened, as a process has one. */
export const consumers = ["c1", "c2", "c3"] as const;
/** Who opened the queue, each with options of its own. */
export const opened = 2;

const id = fc.constantFrom(...ids);
const idList = fc.array(id, { minLength: 1, maxLength: 4 });
const delay = fc.constantFrom(0, 0, 1, 500, 500, 999, 1_000, 1_000, 1_001, 2_000, 0.5);
const by = fc.nat({ max: opened - 1 });
const due: fc.Arbitrary<Due> = fc.oneof(
  { weight: 3, arbitrary: delay.map((ms) => ({ delay: ms })) },
  { weight: 3, arbitrary: fc.constantFrom(-1, 0, 500, 1_000, 1_000, 1_500, 2_000, 3_000.25).map((at) => ({ at })) },
  { weight: 1, arbitrary: fc.constantFrom<Due>({ delay: -1 }, { at: 1e17 }, { delay: 1e17 }, { delay: 86_400_000 }) },
);
const error = fc.constantFrom("none", "short", "with stack");
const choice: fc.Arbitrary<LeaseChoice> = fc.record({
  lease: fc.oneof({ weight: 5, arbitrary: fc.nat({ max: 2 }) }, { weight: 1, arbitrary: fc.nat({ max: 12 }) }),
  tokenOf: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) }),
});
const leases = fc.array(choice, { minLength: 1, maxLength: 3 });
const none = fc.constant(null);
const sometimes = (time: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 2, arbitrary: none }, { weight: 1, arbitrary: time });

const scheduling: fc.Arbitrary<Scheduling> = fc.record({
  id,
  payload: fc.constantFrom("", "x", "{}", "\u{0}\r\n", "é"),
  due,
  onDuplicate: fc.constantFrom("keep", "replace"),
  attempts: fc.oneof({ weight: 2, arbitrary: none }, { weight: 1, arbitrary: fc.constantFrom(1, 2) }),
  expiresIn: fc.oneof(
    { weight: 3, arbitrary: none },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 500, 1_000, 1_000.5) },
  ),
  headers: fc.oneof(
    { weight: 4, arbitrary: none },
    { weight: 1, arbitrary: fc.constantFrom<Record<string, string>>({}, { h: "1" }) },
  ),
});

const claiming = {
  limit: fc.constantFrom(0, 1, 1, 2, 3, 10, 300),
  lease: fc.constantFrom(1_000, 1_000, 1_001, 1_500, 2_000, 1_000.5),
  attempts: fc.constantFrom(1, 2, 3),
  returns: fc.constantFrom(true, true, false),
};

const weighted: readonly [number, fc.Arbitrary<Operation>][] = [
  [6, fc.record({ op: fc.constant("pass"), by: fc.constantFrom(1, 499, 500, 999, 1_000, 1_001, 0.25, 5_000, 70_000) })],
  [
    10,
    fc.record({
      op: fc.constant("pass to deadline"),
      which: fc.nat({ max: 3 }),
      offset: fc.constantFrom(-1, 0, 0, 1, 0.5, -0.5),
    }),
  ],
  [14, fc.record({ op: fc.constant("schedule"), by, messages: fc.array(scheduling, { minLength: 1, maxLength: 4 }) })],
  [16, fc.record({ op: fc.constant("claim"), consumer: fc.constantFrom(...consumers), ...claiming })],
  [2, fc.record({ op: fc.constant("claim again"), consumer: fc.constantFrom(...consumers) })],
  [4, fc.record({ op: fc.constant("acknowledge"), leases })],
  [5, fc.record({ op: fc.constant("retry"), leases, delay, error })],
  [4, fc.record({ op: fc.constant("release"), leases, delay: fc.oneof(none, delay) })],
  [5, fc.record({ op: fc.constant("bury"), leases, reason: fc.constantFrom("bad", "", "attempts", "ü"), error })],
  [4, fc.record({ op: fc.constant("extend"), leases, lease: fc.constantFrom(1, 500, 1_000, 1_000.5, 3_000) })],
  [4, fc.record({ op: fc.constant("cancel"), ids: idList })],
  [5, fc.record({ op: fc.constant("reschedule"), ids: idList, due })],
  [
    5,
    fc.record({
      op: fc.constant("list"),
      state: fc.constantFrom("scheduled", "due", "leased", "dead"),
      limit: fc.constantFrom(1, 2, 3, 100),
      from: sometimes(fc.constantFrom(0, 500, 1_000, 1_000.5, 2_000)),
      to: sometimes(fc.constantFrom(0, 500, 999.5, 1_000, 2_000, 9_000)),
    }),
  ],
  [4, fc.record({ op: fc.constant("next page"), limit: fc.constantFrom(1, 2) })],
  [
    4,
    fc.record({
      op: fc.constant("revive"),
      ids: fc.oneof<fc.Arbitrary<readonly string[] | "all">[]>(idList, fc.constant("all")),
      due,
    }),
  ],
  [3, fc.record({ op: fc.constant("remove"), ids: idList })],
  [2, fc.record({ op: fc.constant("purge"), what: fc.constantFrom("waiting", "dead") })],
  [4, fc.record({ op: fc.constantFrom("pause", "resume", "resume", "audit", "repair") })],
];

const operation = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const setting: fc.Arbitrary<Setting> = fc.record({
  rememberFor: fc.array(fc.constantFrom(0, 0, 700, 1_500, 10.5), { minLength: opened, maxLength: opened }),
  maxDead: fc.oneof({ weight: 3, arbitrary: none }, { weight: 1, arbitrary: fc.constantFrom(1, 2) }),
  maxDeadAge: fc.oneof(
    { weight: 2, arbitrary: none },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 500, 1_000, 2_000) },
  ),
});

/** Sequences of up to 40 operations: 1,000 of them take about half a minute, with the look at everything after each. */
export const sequences: fc.Arbitrary<Sequence> = fc.record({
  setting,
  operations: fc.array(operation, { minLength: 1, maxLength: 40, size: "max" }),
});
