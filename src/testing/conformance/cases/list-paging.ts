import assert from "node:assert/strict";
import type { MessageState } from "../../../engine.js";
import type { ConformanceCase } from "../conformance-case.js";
import type { Stage, Taken } from "../stage.js";
import { hour, ids, minute, newMessage, onStage } from "../stage.js";

/** How messages of a state come, and how they go while somebody pages through them. */
interface Traffic {
  /** Brings messages into the state, in the order of the list. */
  readonly fill: (stage: Stage, all: readonly string[]) => Promise<Traffic["go"]>;
  /** Takes messages out of the state. */
  readonly go: (gone: readonly string[]) => Promise<unknown>;
  /** Brings others into it, wherever they come to lie. */
  readonly come: (stage: Stage, id: string) => Promise<unknown>;
}

const traffic: Readonly<Record<MessageState, Traffic | Omit<Traffic, "go">>> = {
  scheduled: {
    async fill(stage, all) {
      const due = { at: Math.floor(await stage.now()) + hour };
      await stage.queue.schedule(all.map((id) => newMessage(id, { due })));
      return async (gone) => {
        const half = gone.length >> 1;
        await stage.otherQueue.cancel(gone.slice(0, half));
        await stage.otherQueue.reschedule(gone.slice(half).map((id) => ({ id, due: { delay: 0 } })));
      };
    },
    async come(stage, id) {
      await stage.put(`${id}/before`, { due: { delay: minute } });
      await stage.put(`${id}/behind`, { due: { delay: 2 * hour } });
    },
  },
  due: {
    async fill(stage, all) {
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      return async (gone) => {
        await stage.otherQueue.cancel(gone.slice(1));
        // The first of all, or what came in its place.
        await stage.take({ limit: 1 });
      };
    },
    async come(stage, id) {
      await stage.put(id);
      await stage.put(`${id}/past`, { due: { at: 1 } });
    },
  },
  leased: {
    async fill(stage, all) {
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const leases = await stage.takeAll(all.length, { lease: hour });
      return (gone) =>
        stage.otherQueue.release(receiptsOf(leases, gone).map((receipt) => ({ ...receipt, delay: hour })));
    },
    async come(stage, id) {
      await stage.put(id);
      await stage.take({ lease: hour });
    },
  },
  dead: {
    async fill(stage, all) {
      await stage.buryAll(all);
      return async (gone) => {
        const half = gone.length >> 1;
        await stage.otherQueue.remove(gone.slice(0, half));
        await stage.otherQueue.revive(gone.slice(half), { delay: hour });
      };
    },
    come: (stage, id) => stage.buryAll([id]),
  },
};

function receiptsOf(leases: readonly Taken[], wanted: readonly string[]): Taken["receipts"] {
  return leases.flatMap((claim) => claim.receipts).filter((receipt) => wanted.includes(receipt.id));
}

const trafficCases = Object.entries(traffic).map(([name, { fill, come }]): ConformanceCase => {
  const state = name as MessageState;
  return {
    operation: "list",
    name: `While others come and go, each ${state} message that stays is listed once, page by page`,
    run: onStage(async (stage) => {
      const all = ids(400);
      const go = await fill(stage, all);
      // Of every ten one leaves before it is reached, and one after it was seen.
      const leaving = all.filter((_, index) => index % 10 >= 8);
      const left = new Set<string>();
      let pages = 0;
      const listed = await stage.listed({ state, limit: 40 }, async (page) => {
        pages += 1;
        const seen = page.map((message) => message.id).filter((id) => leaving.includes(id));
        const ahead = leaving.filter((id) => !left.has(id) && !seen.includes(id)).slice(-6);
        const gone = [...seen.slice(0, 2), ...ahead];
        for (const id of gone) left.add(id);
        await go(gone);
        await come(stage, `new-${pages}`);
      });
      assert.ok(pages >= 8 && left.size >= 40, `${pages} pages, ${left.size} have left`);
      const stayed = (id: string) => !left.has(id) && all.includes(id);
      const expected = all.filter(stayed);
      // Claims took the first ones away, after they were seen.
      assert.deepEqual(listed.filter(stayed).toSorted(), expected.toSorted());
      assert.equal(new Set(listed).size, listed.length, "none is listed twice");
    }),
  };
});

export const pagingCases: readonly ConformanceCase[] = [
  ...trafficCases,
  {
    operation: "list",
    name: "10,000 messages that are cancelled page by page are all visited",
    run: onStage(async (stage) => {
      const all = ids(10_000);
      await stage.queue.schedule(all.map((id) => newMessage(id, { due: { delay: hour } })));
      const visited = await stage.listed({ state: "scheduled", limit: 250 }, async (page) => {
        const answers = await stage.queue.cancel(page.map((message) => message.id));
        assert.ok(answers.every((answer) => answer === "cancelled"));
      });
      assert.deepEqual(visited.toSorted(), all.toSorted());
      assert.ok((await stage.queue.counts()).scheduled <= 250, "only the last page is left");
    }),
  },
];
