import type { CommandArgument, Reply } from "../clients/port.js";
import type { Receipt, Settlement } from "../engine.js";
import { asArray, asNumber } from "./reply.js";
import type { Evaluator, Script } from "./script.js";
import { inChunks } from "./in-chunks.js";
import { outcomesOf } from "./outcomes.js";

const words = { s: "settled", l: "lease-lost" } as const;

/** How one verb ends leases. */
export interface Settling<Item extends Receipt> {
  readonly script: Script;
  readonly keys: readonly string[];
  /** Items in one call at most. Default as in `Cut`. */
  readonly items?: number;
  /** Arguments in front of the items. */
  readonly args?: readonly CommandArgument[];
  /** Hears what the reply has after the outcomes. */
  readonly onRest?: (rest: readonly Reply[]) => void;
  /** The arguments of an item after its id and token. Default none. */
  readonly itemArgs?: (item: Item) => readonly CommandArgument[];
  /** The script takes `[token count id…]`: each token once for all that follow each other and have it. Default false. */
  readonly byToken?: boolean;
}

/**
 * Ends leases by a script whose arguments are {…args, [id, token, …]} and whose reply is {now, outcomes, …rest}.
 *
 * When an earlier attempt was lost, that attempt may have settled what this one no longer finds leased. Before the last
 * deadline that was confirmed nobody else can have ended the lease, so it was us; later it cannot be known.
 */
export async function settle<Item extends Receipt>(
  evaluator: Evaluator,
  items: readonly Item[],
  { script, keys, items: most, args = [], onRest, itemArgs, byToken = false }: Settling<Item>,
): Promise<Settlement[]> {
  // Made once for each item, and only where there are any: an acknowledgement has none.
  const extras = itemArgs && new Map(items.map((item) => [item, itemArgs(item)]));
  const bytes = extras && ((item: Item) => lengthOf(extras.get(item) ?? none));
  const cut = { id: ({ id }: Item) => id, ...(most && { items: most }), ...(bytes && { bytes }) };
  return await inChunks(items, cut, async (chunk) => {
    const all = [...args];
    if (byToken) pushByToken(all, chunk);
    else {
      for (const item of chunk) {
        all.push(item.id, item.token);
        if (extras) all.push(...(extras.get(item) ?? none));
      }
    }
    const { reply, uncertain } = await evaluator.evaluate(script, keys, all);
    const [now, letters, ...rest] = asArray(reply, script.name);
    onRest?.(rest);
    const time = asNumber(now, `${script.name}: now`);
    return outcomesOf(letters, words, `${script.name}: outcomes`).map((outcome, index): Settlement => {
      if (outcome === "settled" || !uncertain) return outcome;
      return time < (chunk[index]?.leaseUntil ?? 0) ? "settled" : "outcome-unknown";
    });
  });
}

/** Of what a claim took most is settled together, and its token was over a third of what was sent. */
function pushByToken(args: CommandArgument[], receipts: readonly Receipt[]): void {
  for (let from = 0, to = 0; from < receipts.length; from = to) {
    const token = receipts[from]?.token ?? "";
    do to += 1;
    while (to < receipts.length && receipts[to]?.token === token);
    args.push(token, String(to - from));
    for (const { id } of receipts.slice(from, to)) args.push(id);
  }
}

const none: readonly CommandArgument[] = [];

function lengthOf(some: readonly CommandArgument[]): number {
  return some.reduce((sum, { length }) => sum + length, 0);
}
