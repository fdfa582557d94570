/** What tests of programs that use punctual, and tests of engines, need. */
export * from "./conformance/index.js";
export { type ManualClock, manualClock } from "./manual-clock.js";
export { type RedisServer, type RedisServerOptions, startRedisServer } from "./redis-server.js";
