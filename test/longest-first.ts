import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * How soon a file is begun: what takes a minute or more first, so that nobody waits for it alone at the end. Suites and builds
 * that keep a processor busy stand between files that only wait, which leave it to them.
 */
const order = [
  /\/test\/conformance\/rabbitmq\./,
  /\/test\/conformance\/(key-expiry|redis|zset-stream)\./,
  /\/test\/faults\/(connection\/supervisor|consumer\/held-back)\./,
  /\/test\/package\//,
  /\/test\/faults\/mixed\/mixed\./,
  /\/test\/redis-engine\/durability\./,
  /\/test\/model\//,
  /\/test\/conformance\/(delayqueue|redis-ioredis|redis-valkey)\./,
  /\/test\/faults\/topologies\//,
  /\/test\/documentation\./,
  /\/test\/demo\/command\./,
  /\/test\/conformance\/zset-/,
  /\/test\/faults\/consumer\/connections\./,
  /\/test\/schemes\/(articles-workload|zset-list\/killed-consumers)\./,
  /\/test\/(tutorial|demo\/compare)\./,
  /\/test\/faults\//,
  /\/test\/(chaos|scale|rabbitmq)\//,
  /\/test\//,
  // Of one process each where files of one project follow each other: those of src come last, as what is short fills gaps.
  /\/src\/(connection\/supervisor|testing\/redis-server|engines\/redis\/scripts\/rights)\./,
];

/** Begins the long files first, also where no earlier run has told how long they take. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = order.findIndex((pattern) => pattern.test(moduleId));
      return found === -1 ? order.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
