import { BaseSequencer, type TestSpecification } from "vitest/node";

/** How soon a file is begun: what takes minutes first, so that nobody waits for it alone at the end. */
const ranks = [/\/test\/conformance\/rabbitmq\./, /\/test\/(conformance|faults)\//];

/** Begins the long files first, also where no earlier run has told how long they take. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = ranks.findIndex((pattern) => pattern.test(moduleId));
      return found === -1 ? ranks.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
