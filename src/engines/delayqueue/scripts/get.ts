import type { StoredMessage } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { readMessage } from "./read-message.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], {
  keys: ["pending", "unack", "counts", "garbage", "messages", "notes", "state"],
  harmlessWhenLate: true,
});

/** Reads messages without touching them. */
export async function get(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(ids, { id: (id) => id, items: 250 }, async (chunk) => {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), chunk);
    const [, ...messages] = asArray(reply, "get");
    return messages.map((message) => (message === null ? undefined : readMessage(message, "get: message")));
  });
}
