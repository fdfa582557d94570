import type { Result, Results } from "./results.js";
import { scenarios } from "./scenarios.js";

/** What has to be the same in results that are to stand side by side. */
const alike = ["machine", "versions", "runs"] as const;

/** Results that were found apart, in the same way, as if in one run. Fails when they are of different things, or of none. */
export function joined(all: readonly Results[]): Results {
  const [first, ...others] = all;
  if (first === undefined) throw new RangeError("There are no results of no runs.");
  for (const one of others) {
    for (const what of alike) {
      const [here, there] = [first[what], one[what]].map((value) => JSON.stringify(value));
      if (here !== there) {
        throw new Error(
          `Only results of one machine, the same versions and as many runs are put together; ${what}: ${here}, ${there}`,
        );
      }
    }
  }
  const setUps = joinedSetUps(all);
  const results = all.flatMap((one) => one.results);
  const names = all.flatMap((one) => [...new Set(one.results.map((result) => result.case))]);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`Two of the files have results of ${twice}: leave one of them out`);
  return { ...first, setUps, results: results.toSorted((one, other) => placeOf(one) - placeOf(other)) };
}

/** How each subject was set up in all of the results. */
function joinedSetUps(all: readonly Results[]): Results["setUps"] {
  const joint = new Map<string, string>();
  for (const [name, setUp] of all.flatMap((one) => Object.entries(one.setUps))) {
    const other = joint.get(name) ?? setUp;
    if (other !== setUp) {
      throw new Error(
        `Only results of subjects that were set up alike are put together; ${name}: "${other}", "${setUp}"`,
      );
    }
    joint.set(name, setUp);
  }
  return Object.fromEntries(joint);
}

/** Where in the tables a case stands; one that there is no more, first. */
function placeOf(result: Result): number {
  return scenarios.flatMap(({ cases }) => cases).findIndex(({ name }) => name === result.case);
}
