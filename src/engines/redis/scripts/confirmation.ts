import type { Reply } from "../../../clients/port.js";
import { type Durability, shortfallOf } from "../../../connection/durable.js";
import type { ScheduleResult } from "../../../engine.js";
import { PunctualError } from "../../../errors.js";

/** What durable connections have confirmed of a list that went out in several calls, of which the last one waited. */
export class Confirmation {
  readonly #connections = new Set<Reply>();
  #answer: Reply | undefined;

  /** Takes what a durable connection puts behind a reply: its number, and after a wait the answer to it. */
  add([connection, answer]: readonly Reply[]): void {
    if (connection !== undefined) this.#connections.add(connection);
    this.#answer = answer;
  }

  /**
   * Fails with `not-confirmed`, and all results, unless everything is confirmed. A wait answers for its own connection, and
   * behind another one there may be another primary that has not all; then nothing is known of what came before.
   */
  refuseUnless(wanted: Durability, results: readonly ScheduleResult[]): void {
    const shortfall =
      this.#connections.size > 1
        ? "the connection was lost in between, so it is not known whether the first of them are confirmed"
        : shortfallOf(wanted, this.#answer);
    if (shortfall === undefined) return;
    throw new PunctualError(
      "not-confirmed",
      `The messages are stored, and ${shortfall}. They will be delivered; scheduling them again under the same ids waits once more.`,
      { details: { results } },
    );
  }
}
