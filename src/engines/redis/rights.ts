const key = "k";

/**
 * Every command that the engine sends or its scripts run, each as it could be sent, to ask the server whether the user may run
 * it. Which of them a producer, a consumer and a viewer need stands in docs/how-to/users.md.
 */
export const neededCommands: readonly (readonly string[])[] = [
  ["EVALSHA", "0".repeat(40), "0"],
  ["SCRIPT", "LOAD", "return 0"],
  ["TIME"],
  ["SUBSCRIBE", "c"],
  ["UNSUBSCRIBE", "c"],
  ["PUBLISH", "c", "m"],
  ["EXISTS", key],
  ["HDEL", key, "f"],
  ["HEXISTS", key, "f"],
  ["HGET", key, "f"],
  ["HINCRBY", key, "f", "1"],
  ["HLEN", key],
  ["HMGET", key, "f"],
  ["HRANDFIELD", key],
  ["HSCAN", key, "0"],
  ["HSET", key, "f", "v"],
  ["HSTRLEN", key, "f"],
  ["ZADD", key, "1", "m"],
  ["ZCARD", key],
  ["ZCOUNT", key, "0", "1"],
  ["ZMSCORE", key, "m"],
  ["ZRANGE", key, "0", "1"],
  ["ZRANGEBYSCORE", key, "0", "1"],
  ["ZREM", key, "m"],
  ["ZREMRANGEBYRANK", key, "0", "1"],
  ["ZREMRANGEBYSCORE", key, "0", "1"],
  ["ZREVRANGEBYSCORE", key, "1", "0"],
  ["ZSCAN", key, "0"],
  ["ZSCORE", key, "m"],
];
