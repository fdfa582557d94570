import { asArray, asBytes, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("scan", sources["scan"], { keys: ["walked", "queue"], harmlessWhenLate: true });

/** What a walked key is: a zset, a hash, the hash of messages, the stream. */
export type WalkedKind = "z" | "h" | "m" | "x";

/**
 * The members of a key, in pages of bounded size; what is there from the first page to the last comes at least once, whatever
 * else comes and goes.
 */
export async function* scan(
  evaluator: Evaluator,
  keys: { readonly walked: string; readonly queue: string },
  kind: WalkedKind,
): AsyncGenerator<Buffer[]> {
  let cursor = "0";
  do {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [kind, cursor]);
    const [, next, members] = asArray(reply, "scan");
    cursor = asText(next, "scan: cursor");
    yield asArray(members, "scan: members").map((member) => asBytes(member, "scan: member"));
  } while (cursor !== "0");
}
