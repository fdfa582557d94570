import assert from "node:assert/strict";
import type { MessageState } from "../../../engine.js";
import type { ConformanceCase } from "../conformance-case.js";
import { bring } from "../situations.js";
import { bytes, hour, ids, minute, newMessage, onStage, second, shuffled, text } from "../stage.js";
import { pagingCases } from "./list-paging.js";

const states: readonly MessageState[] = ["scheduled", "due", "leased", "dead"];
const mebibyte = 2 ** 20;

export const listCases: readonly ConformanceCase[] = [
  {
    operation: "list",
    name: "Each state is listed with its messages and no others, and each of them as it is read by its id",
    run: onStage(async (stage) => {
      for (const state of states) {
        assert.deepEqual(await stage.queue.list({ state, limit: 10 }), { messages: [], cursor: undefined });
      }
      const headers = { version: "1" };
      await bring(stage, "dead", "dead", { headers });
      await bring(stage, "leased", "leased", { headers });
      await stage.queue.schedule([newMessage("ended"), newMessage("exhausted", { attempts: 1 })]);
      await stage.take({ lease: second });
      await stage.harness.elapse(second + 20);
      await bring(stage, "due", "due", { headers });
      await bring(stage, "scheduled", "scheduled", { headers });
      const expected = [["scheduled"], ["ended", "due"], ["leased"], ["dead", "exhausted"]];
      const look = () => Promise.all(states.map((state) => stage.list({ state })));
      const listed = await look();
      assert.deepEqual(
        listed.map((messages) => messages.map((message) => message.id)),
        expected,
      );
      assert.deepEqual(listed.flat(), await stage.otherQueue.get(expected.flat()));
      await stage.take({ limit: 0 });
      assert.deepEqual(await look(), listed, "a lease that has ended was listed as it is once it was reclaimed");
      assert.deepEqual((await stage.take()).ids, ["ended", "due"], "being listed changes nothing");
    }),
  },
  {
    promise: 7,
    operation: "list",
    name: "Order: messages are listed in due order, equal due times in the order in which they were scheduled",
    run: onStage(async (stage) => {
      const base = Math.floor(await stage.now()) + hour;
      const order = shuffled(ids(60));
      const dueOf = (id: string) => base + (Number(id.slice(2)) % 5);
      await stage.queue.schedule(order.map((id) => newMessage(id, { due: { at: dueOf(id) } })));
      const expected = order.toSorted((a, b) => dueOf(a) - dueOf(b));
      assert.deepEqual(await stage.listed({ state: "scheduled", limit: 7 }), expected);
      const [moved = "", other = ""] = order;
      await stage.queue.reschedule([{ id: other, due: { at: base - 1 } }]);
      await stage.put(moved, { due: { at: base - 1 }, onDuplicate: "replace" });
      const rest = expected.filter((id) => id !== moved && id !== other);
      assert.deepEqual(await stage.listed({ state: "scheduled", limit: 7 }), [other, moved, ...rest]);
    }),
  },
  {
    promise: 7,
    operation: "list",
    name: "Order: leased messages are listed by the time at which they were due, whenever their leases end",
    run: onStage(async (stage) => {
      const all = ids(20);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      for (const _ of all.slice(0, 10)) await stage.take({ limit: 1, lease: hour });
      await stage.takeAll(10, { lease: minute });
      assert.deepEqual(await stage.listed({ state: "leased", limit: 3 }), all);
    }),
  },
  {
    operation: "list",
    name: "Dead letters are listed by the time of burial, those of one time by the bytes of their ids",
    run: onStage(async (stage) => {
      await stage.buryAll(["z", "\u{1F389}", "\uFF21", "a", "ä"]);
      await stage.harness.elapse(5);
      await stage.buryAll(["b", "B"]);
      const expected = ["a", "z", "ä", "\uFF21", "\u{1F389}", "B", "b"];
      assert.deepEqual(await stage.listed({ state: "dead" }), expected);
      assert.deepEqual(await stage.listed({ state: "dead", limit: 2 }), expected);
    }),
  },
  {
    operation: "list",
    name: "A list keeps to a range of due times, of dead letters of burial times, both ends included",
    run: onStage(async (stage) => {
      const base = Math.floor(await stage.now()) + hour;
      await stage.queue.schedule(ids(6).map((id, index) => newMessage(id, { due: { at: base + index } })));
      const scheduled = (from?: number, to?: number, limit = 100) =>
        stage.listed({ state: "scheduled", from, to, limit });
      assert.deepEqual(await scheduled(base + 1, base + 3), ["m-1", "m-2", "m-3"]);
      assert.deepEqual(await scheduled(base + 1, base + 3, 1), ["m-1", "m-2", "m-3"]);
      assert.deepEqual(await scheduled(base + 4), ["m-4", "m-5"]);
      assert.deepEqual(await scheduled(undefined, base), ["m-0"]);
      assert.deepEqual(await scheduled(base + 6), []);
      assert.deepEqual(await scheduled(base + 3, base + 2), []);
      for (const id of ["a", "b", "c"]) {
        await stage.buryAll([id]);
        await stage.harness.elapse(3);
      }
      const at = (await stage.list({ state: "dead" })).map((message) => message.buried?.at);
      const dead = (from?: number, to?: number) => stage.listed({ state: "dead", from, to });
      assert.deepEqual(await dead(at[1]), ["b", "c"]);
      assert.deepEqual(await dead(undefined, at[1]), ["a", "b"]);
      assert.deepEqual(await dead(at[1], at[1]), ["b"]);
      const [first] = await stage.queue.schedule(["d", "e"].map((id) => newMessage(id)));
      const due = await stage.list({ state: "due", from: first?.dueAt, to: first?.dueAt });
      assert.deepEqual(
        due.map((message) => [message.id, message.dueAt]),
        ["d", "e"].map((id) => [id, first?.dueAt]),
      );
      assert.deepEqual(await stage.listed({ state: "due", to: (first?.dueAt ?? 0) - 1 }), []);
    }),
  },
  {
    promise: 9,
    operation: "list",
    name: "Bounded server work: 5,000 messages of one due time are listed in pages of 500, each once",
    run: onStage(async (stage) => {
      const all = shuffled(ids(5_000));
      const due = { at: Math.floor(await stage.now()) + hour };
      await stage.queue.schedule(all.map((id) => newMessage(id, { due })));
      assert.deepEqual(await stage.listed({ state: "scheduled", limit: 500 }), all);
      assert.deepEqual(await stage.listed({ state: "scheduled", limit: 4_999, from: due.at, to: due.at }), all);
    }),
  },
  {
    promise: 9,
    operation: "list",
    name: "Bounded server work: large messages are listed by and by, each whole",
    run: onStage(async (stage) => {
      const sizes = [mebibyte, 3, 700_000, 700_000, 1, mebibyte, 5];
      const put = (size: number, index: number) =>
        newMessage(`m-${index}`, { payload: new Uint8Array(size).fill(index), due: { delay: hour } });
      await stage.queue.schedule(sizes.map(put));
      for (const limit of [1, 3, 100]) {
        const listed = await stage.list({ state: "scheduled", limit });
        assert.deepEqual(
          listed.map(({ id, payload }) => [id, payload.length, payload.at(-1)]),
          sizes.map((size, index) => [`m-${index}`, size, index]),
        );
      }
    }),
  },
  {
    operation: "list",
    name: "Text that is no cursor is refused with invalid-argument",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      for (const state of states) {
        for (const cursor of ["", "x", "1", "m-1", "\u{1F389}", "a".repeat(300)]) {
          await assert.rejects(stage.queue.list({ state, limit: 1, cursor }), { code: "invalid-argument" });
        }
      }
    }),
  },
  {
    operation: "list",
    name: "A cursor of another queue, or of another state, is refused with invalid-argument",
    run: onStage(async (stage) => {
      const other = stage.harness.engine.open(`${stage.name}-other`);
      for (const queue of [stage.queue, other]) {
        await queue.schedule(ids(3).map((id) => newMessage(id, { due: { delay: hour } })));
      }
      const { cursor } = await other.list({ state: "scheduled", limit: 1 });
      assert.ok(cursor !== undefined, "one of three messages is not all of them");
      await assert.rejects(stage.queue.list({ state: "scheduled", limit: 1, cursor }), { code: "invalid-argument" });
      for (const state of ["due", "leased", "dead"] as const) {
        await assert.rejects(other.list({ state, limit: 1, cursor }), { code: "invalid-argument" });
      }
      const { messages } = await other.list({ state: "scheduled", limit: 9, cursor });
      assert.deepEqual(
        messages.map(({ id }) => id),
        ids(3).slice(1),
      );
    }),
  },
  {
    operation: "list",
    name: "What is listed can be changed by its reader without changing what is kept",
    run: onStage(async (stage) => {
      await stage.put("a", { payload: bytes("kept") });
      const [message] = await stage.list({ state: "due" });
      message?.payload.fill(0);
      assert.equal(text((await stage.read("a")).payload), "kept");
    }),
  },
  ...pagingCases,
];
