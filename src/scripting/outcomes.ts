import type { Reply } from "../clients/port.js";
import { PunctualError } from "../errors.js";
import { asText } from "./reply.js";

/**
 * Scripts answer lists with a text that has a letter for each item they did, since a thousand words would take longer to
 * send and to read than the rest of the call. This spells them out; `words` says what the letters mean.
 */
export function outcomesOf<Word>(
  reply: Reply | undefined,
  words: Readonly<Record<string, Word>>,
  where: string,
): Word[] {
  return Array.from(asText(reply, where), (letter) => {
    const word = words[letter];
    if (word === undefined) {
      throw new PunctualError(
        "outcome-unknown",
        `the script answered in a way that this library does not know (${where}): ${letter}`,
      );
    }
    return word;
  });
}
