import { beforeEach, describe, expect, it } from "vitest";
import { Holdings } from "./holdings.js";
import { decodeMember, encodeMember } from "./member.js";

const held = (id: string) => ({
  member: decodeMember(encodeMember({ id, payload: Buffer.from(id), due: { delay: 0 }, onDuplicate: "keep" })),
  dueAt: 10,
  attempts: 5,
});
const receipt = (id: string, token = "t1") => ({ id, token, leaseUntil: 1_000 });

let holdings: Holdings;

beforeEach(() => {
  holdings = new Holdings();
  holdings.hold({ consumer: "c", token: "t1", leaseUntil: 1_000 }, [held("a"), held("b")]);
});

describe("what a process holds", () => {
  it("is given up once, by the token of its claim, before its lease ends", () => {
    expect(holdings.end(receipt("a", "t2"), 500)).toBeUndefined();
    expect(holdings.end(receipt("a"), 500)?.member.id).toBe("a");
    expect(holdings.end(receipt("a"), 500)).toBeUndefined();
    expect(holdings.end(receipt("b"), 1_000)).toBeUndefined();
    expect(holdings.size).toBe(0);
  });

  it("is found by its id for as long as it is held", () => {
    expect(holdings.find("a", 500)?.member.id).toBe("a");
    expect(holdings.find("a", 1_000)).toBeUndefined();
    expect(holdings.find("x", 500)).toBeUndefined();
    holdings.hold({ consumer: "d", token: "t2", leaseUntil: 2_000 }, [held("a")]);
    holdings.end(receipt("a"), 500);
    expect(holdings.find("a", 1_500)?.until).toBe(2_000);
    const lease = holdings.end(receipt("a", "t2"), 1_500);
    expect(holdings.find("a", 1_500)).toBeUndefined();
    if (lease !== undefined) holdings.restore(receipt("a", "t2"), lease);
    expect(holdings.find("a", 1_500)?.until).toBe(2_000);
    holdings.sweep(2_000);
    expect(holdings.find("a", 500)).toBeUndefined();
  });

  it("is held for longer when its lease is extended in time", () => {
    expect(holdings.extend(receipt("a"), 999.5, 1_000)).toEqual({ outcome: "extended", leaseUntil: 1_999 });
    expect(holdings.extend(receipt("b"), 1_000, 1_000)).toEqual({ outcome: "lease-lost" });
    expect(holdings.end(receipt("a"), 1_998)?.member.id).toBe("a");
  });

  it("is given again to a claim that is repeated, without what was settled since", () => {
    holdings.end(receipt("a"), 500);
    const again = holdings.again("t1", 600);
    expect([again?.leaseUntil, again?.messages.map(({ id, attempt }) => [id, attempt])]).toEqual([1_000, [["b", 1]]]);
    holdings.end(receipt("b"), 600);
    expect(holdings.again("t1", 700)).toEqual({ messages: [], leaseUntil: 1_000, buried: [] });
    expect(holdings.again("t1", 1_000)).toBeUndefined();
    expect(holdings.again("unknown", 700)).toBeUndefined();
  });

  it("is told again to a claim that is repeated with what that gave up, also when it took nothing", () => {
    const buried = [{ id: "old", reason: "expired" }];
    holdings.hold({ consumer: "d", token: "t2", leaseUntil: 1_000 }, [], buried);
    expect(holdings.again("t2", 600)).toEqual({ messages: [], leaseUntil: 1_000, buried });
    holdings.sweep(1_000);
    expect(holdings.again("t2", 600)).toBeUndefined();
  });

  it("is forgotten when its lease is over, and counted no more", () => {
    holdings.extend(receipt("a"), 500, 5_000);
    holdings.sweep(1_000);
    expect(holdings.size).toBe(1);
    expect(holdings.end(receipt("b"), 1_000)).toBeUndefined();
    holdings.sweep(5_500);
    expect(holdings.size).toBe(0);
  });

  it("is told once when its lease is over and nobody has settled it in time", () => {
    expect(holdings.takeEnded()).toEqual([]);
    holdings.hold({ consumer: "d", token: "t2", leaseUntil: 1_000 }, [held("settled")]);
    holdings.end(receipt("settled", "t2"), 999);
    holdings.end(receipt("a"), 1_000);
    expect(holdings.takeEnded()).toEqual(["a"]);
    holdings.sweep(1_000);
    expect([holdings.takeEnded(), holdings.takeEnded()]).toEqual([["b"], []]);
  });

  it("is counted by the time that is asked for, however short ago it was swept", () => {
    holdings.extend(receipt("a"), 500, 5_000);
    holdings.sweep(999);
    expect([holdings.countAt(999), holdings.countAt(1_000), holdings.countAt(5_500)]).toEqual([2, 1, 0]);
  });

  it("is held on when it could not be put back", () => {
    const lease = holdings.end(receipt("a"), 500);
    if (lease !== undefined) holdings.restore(receipt("a"), lease);
    expect(holdings.size).toBe(2);
    expect(holdings.end(receipt("a"), 600)?.member.id).toBe("a");
  });

  it("leaves nothing behind, however many claims there were", () => {
    for (let claim = 0; claim < 1_000; claim++) {
      holdings.hold({ consumer: "c", token: `claim ${claim}`, leaseUntil: 1_000 }, [held("x")]);
      holdings.end(receipt("x", `claim ${claim}`), 10);
    }
    expect(holdings.again("claim 5", 10)).toBeUndefined();
    expect(holdings.again("claim 999", 10)?.messages).toEqual([]);
    holdings.sweep(1_000);
    expect(holdings.again("claim 999", 10)).toBeUndefined();
  });

  it("cannot be changed by whoever was given it", () => {
    const [message] = holdings.again("t1", 0)?.messages ?? [];
    message?.payload.fill(0);
    expect(String(holdings.end(receipt("a"), 0)?.member.payload)).toBe("a");
  });
});
