/** What tests of programs that use punctual, and tests of engines, need. */
export { type ManualClock, manualClock } from "./manual-clock.js";
export { type RedisServer, type RedisServerOptions, startRedisServer } from "./redis-server.js";
