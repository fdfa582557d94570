import { expect, it } from "vitest";
import { timerClock } from "../../clock.js";
import type { CallOptions, NewMessage, ScheduleResult } from "../../engine.js";
import { delayqueueKeys } from "../../engines/delayqueue/keys.js";
import { schedule as scheduleInDelayqueue } from "../../engines/delayqueue/scripts/schedule.js";
import { reliableKeys } from "../../engines/zset-list/reliable-keys.js";
import { schedule as scheduleInList } from "../../engines/zset-list/scripts/schedule.js";
import { Groups } from "../../engines/zset-stream/groups.js";
import { sharedKeys } from "../../engines/zset-stream/keys.js";
import { schedule as scheduleInStream } from "../../engines/zset-stream/scripts/schedule.js";
import type { Evaluator } from "../../scripting/script.js";
import { encodeMember } from "../member.js";
import { memberKeys } from "../member-keys.js";
import { asResults, schedule as scheduleMembers } from "./schedule.js";

type Schedule = (evaluator: Evaluator, messages: NewMessage[], options: CallOptions) => Promise<ScheduleResult[]>;

const engines: Record<string, Schedule> = {
  "as members": async (evaluator, messages, options) => {
    const placements = messages.map((message) => ({ member: encodeMember(message), due: message.due }));
    return asResults(await scheduleMembers(evaluator, memberKeys("b"), placements, options));
  },
  "zset-list": (evaluator, messages, options) => scheduleInList(evaluator, reliableKeys("b"), messages, options),
  "zset-stream": (evaluator, messages, options) =>
    scheduleInStream(evaluator, new Groups("b", sharedKeys("b")), messages, options),
  delayqueue: (evaluator, messages, options) => {
    const keys = delayqueueKeys({ hashTag: false, prefix: "dp", reportEvents: false }, "q");
    return scheduleInDelayqueue(evaluator, keys, messages, { ...options, keep: 1_000 });
  },
};

/** Answers each call after 400 ms with one message scheduled, and notes how long it was given. */
function slowServer() {
  let time = 0;
  const given: (number | undefined)[] = [];
  const evaluator: Evaluator = {
    clock: timerClock(
      () => time,
      globalThis,
      () => time,
    ),
    async evaluate(_script, _keys, _args, options) {
      given.push(options?.timeout);
      time += 400;
      return { reply: [Buffer.from(String(time)), Buffer.from("s"), Buffer.alloc(8)], uncertain: false };
    },
  };
  return { evaluator, given };
}

const messages = ["a", "b", "c", "d"].map((id): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { delay: 0 },
  onDuplicate: "keep",
}));

it.each(Object.entries(engines))(
  "Scheduling many %s, what the first calls took of the time-out is not given to those that follow",
  async (_, schedule) => {
    const { evaluator, given } = slowServer();
    expect(await schedule(evaluator, messages, { timeout: 1_000 })).toHaveLength(4);
    expect(given).toEqual([1_000, 600, 200, 0]);
  },
);

it.each(Object.entries(engines))(
  "Scheduling many %s, each call has the default when none is given",
  async (_, schedule) => {
    const { evaluator, given } = slowServer();
    await schedule(evaluator, messages, {});
    expect(given).toEqual([undefined, undefined, undefined, undefined]);
  },
);
