import type { Client, Topology } from "./grounds.js";
import type { Ledger } from "./ledger.js";
import type { FaultRounds } from "./rounds.js";

/** What a run has shown. Plain values, which `--json` prints. */
export interface Figures {
  readonly topology: Topology;
  readonly client: Client;
  readonly partitions: number;
  readonly seconds: number;
  readonly seed: number;
  readonly messages: number;
  readonly delivered: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly early: number;
  /** Messages of which Redis may have forgotten something in a failover, and of which something was wrong. */
  readonly lostByRedis: number;
  /** How long that was possible, s. */
  readonly lossySeconds: number;
  /** Further deliveries by their cause. */
  readonly duplicates: Readonly<Record<string, number>>;
  /** By the kind of fault: how often, and how long until everybody worked again, ms. */
  readonly faults: Readonly<Record<string, { readonly count: number; readonly p50: number; readonly max: number }>>;
  /** Of messages that came due while nothing was wrong, ms. */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Calls that failed, by who called and the code. */
  readonly failures: Readonly<Record<string, number>>;
  /** Broken invariants; none when all is well. */
  readonly problems: Readonly<Record<string, { readonly count: number; readonly sentences: readonly string[] }>>;
  readonly node: string;
}

type Run = Pick<Figures, "topology" | "client" | "partitions" | "seconds" | "seed">;

export function figuresOf(
  { topology, client, partitions, seconds, seed }: Run,
  { ledger, rounds, asked }: { readonly ledger: Ledger; readonly rounds: FaultRounds; readonly asked: number },
): Figures {
  const brokenTimes = (invariant: string) => ledger.problems.get(invariant)?.count ?? 0;
  const { lateness } = ledger;
  return {
    topology,
    client,
    partitions,
    seconds: Math.round(seconds),
    seed,
    messages: asked,
    delivered: ledger.delivered,
    acknowledged: ledger.acknowledged,
    lost: brokenTimes("I1"),
    early: brokenTimes("I3"),
    lostByRedis: ledger.lostByRedis,
    lossySeconds: Math.round(ledger.lossyTime / 100) / 10,
    duplicates: Object.fromEntries([...ledger.causes].toSorted(([, one], [, other]) => other - one)),
    faults: Object.fromEntries([...rounds.recoveries].map(([name, times]) => [name, spread(times)])),
    lateness: { p50: lateness.percentile(50), p99: lateness.percentile(99), max: lateness.max },
    failures: Object.fromEntries(ledger.failures),
    problems: Object.fromEntries(ledger.problems),
    node: process.versions.node,
  };
}

function spread(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other);
  return { count: sorted.length, p50: sorted[Math.floor(sorted.length / 2)] ?? 0, max: sorted.at(-1) ?? 0 };
}
