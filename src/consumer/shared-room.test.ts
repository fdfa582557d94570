import { describe, expect, it } from "vitest";
import { manualClock } from "../testing/manual-clock.js";
import { type RoomShare, SharedRoom } from "./shared-room.js";

/** Two that share the room of a concurrency of 4, and how often a timer was set. */
function shared() {
  const clock = manualClock();
  let timers = 0;
  const counting = new Proxy(clock, {
    get(target, name) {
      if (name === "runAfter") timers += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  const room = new SharedRoom(4);
  const share = (): RoomShare => ({ clock: () => counting, active: () => 0, held: () => 0, onRoom: () => {} });
  const [one, other] = [share(), share()];
  for (const each of [one, other]) room.join(each);
  return { clock, room, one, other, timers: () => timers };
}

describe("A claim of one that shares room", () => {
  it("sets aside what it may take, until it ends or 250 ms are over", async () => {
    const { clock, room, one, other } = shared();
    room.claims(one, 3);
    expect(room.roomFor(other)).toBe(1);
    room.ended(one);
    expect(room.roomFor(other)).toBe(2);
    room.claims(one, 3);
    await clock.advance(249);
    expect(room.roomFor(other)).toBe(1);
    await clock.advance(1);
    expect(room.roomFor(other)).toBe(2);
  });

  it("that may take nothing sets no timer", () => {
    const { room, one, timers } = shared();
    room.claims(one, 0);
    expect(timers()).toBe(0);
    room.claims(one, 1);
    expect(timers()).toBe(1);
  });
});
