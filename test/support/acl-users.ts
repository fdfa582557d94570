import { read } from "../source-files.js";

/** What docs/how-to/users.md says of the users: their rules, and which calls are theirs. */

const page = read("docs/how-to/users.md");

/** The rules of each user, as `ACL SETUSER` takes them. */
export const userRules: ReadonlyMap<string, readonly string[]> = new Map(
  Array.from(page.matchAll(/^ACL SETUSER (\w+) (.+)$/gm), ([, user = "", rules = ""]) => [user, rules.split(" ")]),
);

export const users: readonly string[] = [...userRules.keys()];

/** `alone`: as long as nobody else takes messages, so that no lease ends. */
type Right = "yes" | "no" | "alone";

const rightOfCell: Readonly<Record<string, Right>> = { yes: "yes", no: "no", "while no lease has ended": "alone" };

/** The rows of its table by the call that they are about, with a cell for each user. */
const cellsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Array.from(page.matchAll(/^\| (.+?) +\|(.+)\|$/gm)).flatMap(([, what = "", cells = ""]) =>
    callsIn(what).map((call) => [call, cells.split("|").map((cell) => cell.trim())] as const),
  ),
);

/** "`remove`, `purge`" are two calls, and so are "`list` of scheduled, dead". */
function callsIn(what: string): string[] {
  const [operations = "", states] = what.split(" of ");
  const names = Array.from(operations.matchAll(/`(\w+)`/g), ([, name = ""]) => name);
  return names.flatMap((name) => states?.split(", ").map((state) => `${name} of ${state}`) ?? name);
}

/** The calls of the contract, by operation; a list of each state is one of its own. */
export const calls: readonly string[] = [...cellsOf.keys()];

/** Whether a call is a user's. */
export function rightTo(call: string, user: string): Right {
  const cell = cellsOf.get(call)?.[users.indexOf(user)] ?? "";
  const right = rightOfCell[cell];
  if (right === undefined) {
    const accepted = Object.keys(rightOfCell).join('", "');
    throw new Error(`docs/how-to/users.md says "${cell}" of "${call}" by ${user}; it has to be one of "${accepted}".`);
  }
  return right;
}
