// A child process that starts a private Redis, tells its parent about it, and then waits to be ended.
import { startRedisServer } from "../../src/testing/redis-server.js";

const { pid, folder } = await startRedisServer();
process.on("message", () => process.exit());
process.send?.(`${pid} ${folder}`);
