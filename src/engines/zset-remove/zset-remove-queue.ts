import type { Reply } from "../../clients/port.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import { ReadSize, takenFrom } from "../../schemes/read-size.js";

/** Who removes it has it: reads a few due members, and removes each of them. Where that removed one, it is ours. */
export class ZsetRemoveQueue extends MemberQueue {
  readonly #size = new ReadSize();

  protected override async take(limit: number, now: number): Promise<Taken[]> {
    return await this.work.run(async (send) => {
      const few = String(this.#size.atMost(limit));
      const due = takenFrom(
        await send("ZRANGEBYSCORE", this.keys.schedule, "-inf", String(now), "WITHSCORES", "LIMIT", "0", few),
      );
      this.#size.learn(due);
      // In one write. What was removed is ours, also when the answer of another one is lost.
      const answers = await Promise.allSettled(due.map(({ member }) => send("ZREM", this.keys.schedule, member.bytes)));
      const ours = due.filter((_, index) => isOne(answers[index]));
      const failed = answers.find((answer) => answer.status === "rejected");
      if (ours.length === 0 && failed !== undefined) throw failed.reason;
      return ours;
    });
  }
}

function isOne(answer: PromiseSettledResult<Reply> | undefined): boolean {
  return answer?.status === "fulfilled" && answer.value === 1;
}
