import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { bring, situations } from "../situations.js";
import type { Situation } from "../situations.js";
import { hour, ids, newMessage, onStage, text } from "../stage.js";

const expected: Readonly<Record<Situation, "rescheduled" | "leased" | "dead" | "absent">> = {
  absent: "absent",
  scheduled: "rescheduled",
  due: "rescheduled",
  leased: "leased",
  "lease ended": "rescheduled",
  "last lease ended": "dead",
  dead: "dead",
  acknowledged: "absent",
  cancelled: "absent",
};

const matrix = situations.map((situation): ConformanceCase => {
  const answer = expected[situation];
  return {
    operation: "reschedule",
    name: `Rescheduling an id that is ${situation} answers ${answer}`,
    run: onStage(async (stage) => {
      const receipt = await bring(stage, "a", situation, { headers: { kept: "yes" } });
      const before = await stage.find("a");
      const at = Math.floor(await stage.now()) + 2 * hour;
      assert.deepEqual(await stage.otherQueue.reschedule([{ id: "a", due: { at } }]), [answer]);
      const after = await stage.find("a");
      if (answer !== "rescheduled") {
        assert.deepEqual(after, before, "nothing is changed");
        return;
      }
      assert.ok(after !== undefined);
      const attempt = situation === "lease ended" ? 1 : 0;
      assert.deepEqual(
        [after.state, after.dueAt, text(after.payload), after.attempt],
        ["scheduled", at, "payload of a", attempt],
      );
      assert.deepEqual({ ...after.headers }, { kept: "yes" });
      if (receipt !== undefined) assert.deepEqual(await stage.queue.acknowledge([receipt]), ["lease-lost"]);
      await stage.queue.reschedule([{ id: "a", due: { delay: 0 } }]);
      const claim = await stage.take();
      assert.deepEqual(
        claim.messages.map((message) => message.attempt),
        [attempt + 1],
      );
    }),
  };
});

export const rescheduleCases: readonly ConformanceCase[] = [
  ...matrix,
  {
    operation: "reschedule",
    name: "Many are rescheduled in one call, answered in its order, each to a time of its own",
    run: onStage(async (stage) => {
      const all = ids(2_500);
      await stage.queue.schedule(all.map((id) => newMessage(id, { due: { delay: hour } })));
      const start = Math.floor(await stage.now()) + 2 * hour;
      const changes = all.map((id, index) => ({ id, due: { at: start + index } }));
      const answers = await stage.queue.reschedule([...changes, { id: "absent", due: { delay: 0 } }]);
      assert.equal(answers.length, 2_501);
      assert.ok(answers.slice(0, -1).every((answer) => answer === "rescheduled"));
      assert.equal(answers.at(-1), "absent");
      const stored = await stage.queue.get(all);
      for (const [index, message] of stored.entries()) assert.equal(message?.dueAt, start + index);
    }),
  },
];
