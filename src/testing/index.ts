/** What tests of programs that use punctual, and tests of engines, need. */
export * from "./conformance/index.js";
export { type ManualClock, manualClock } from "./manual-clock.js";
export { type RedisServer, type RedisServerOptions, startRedisServer } from "./redis-server.js";
export { runDue, type RunDueOptions, type RunMessage } from "./run-due.js";
export {
  assertNotScheduled,
  assertScheduled,
  type ExpectedMessage,
  scheduled,
  type ScheduledMessage,
} from "./scheduled.js";
