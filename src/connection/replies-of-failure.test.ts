import { describe, expect, it } from "vitest";
import { CommandFailure } from "../clients/port.js";
import { isMisconfiguration, remedyFor } from "./replies-of-failure.js";

const refused = (message: string) => new CommandFailure("refused", message, { code: message.split(" ")[0] ?? "" });

describe("what a failure asks for", () => {
  it.each([
    ["NOSCRIPT No matching script. Please use EVAL.", "repeat", false],
    ["TOOLATE 1700000000000.123", "repeat", false],
    ["LOADING Redis is loading the dataset in memory", "repeat-later", false],
    ["BUSY Redis is busy running a script.", "repeat-later", false],
    ["CLUSTERDOWN The cluster is down", "repeat-later", false],
    ["TRYAGAIN Multiple keys request during rehashing of slot", "repeat-later", false],
    ["READONLY You can't write against a read only replica.", "repeat-later", true],
    ["MASTERDOWN Link with MASTER is down", "repeat-later", true],
    ["UNBLOCKED force unblock from blocking operation, instance state changed", "repeat-later", true],
    ["OOM command not allowed when used memory > 'maxmemory'.", "storage-full", false],
    ["MISCONF Redis is configured to save RDB snapshots, but", "misconfigured", false],
    ["NOREPLICAS Not enough good replicas to write.", "misconfigured", false],
    ["NOAUTH Authentication required.", "misconfigured", true],
    ["WRONGPASS invalid username-password pair or user is disabled.", "misconfigured", false],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "misconfigured", false],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "misconfigured", false],
    ["CROSSSLOT Keys in request don't hash to the same slot", "misconfigured", false],
    ["MOVED 1234 127.0.0.1:7001", "misconfigured", false],
    ["ASK 1234 127.0.0.1:7001", "misconfigured", false],
    ["LAYOUT 2", "misconfigured", false],
    ["ERR unknown command 'EVALSHA'", "misconfigured", false],
    ["STALE", "refused", false],
    ["SOMETHING that nobody knows", "refused", false],
    // As Redis 7.0 reports it.
    [
      "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:4.",
      "misconfigured",
      false,
    ],
    // As Redis 7.2 and Valkey do.
    [
      "ERR ACL failure in script: User app has no permissions to run the 'zadd' command script: 1f, on @user_script:4.",
      "misconfigured",
      false,
    ],
    // As Redis 6 wraps what a script met.
    [
      "ERR Error running script (call to f_1f): @user_script:3: -OOM command not allowed when used",
      "storage-full",
      false,
    ],
    [
      "ERR Error running script (call to f_1f): @user_script: 3: -READONLY You can't write against",
      "repeat-later",
      true,
    ],
    ["ERR Error running script (call to f_1f): @user_script:3: attempt to index a nil value", "misconfigured", false],
  ])("%s → %s", (message, action, dropConnection) => {
    expect(remedyFor(refused(message))).toMatchObject({ action, dropConnection });
  });

  it.each(["not-sent", "unknown"] as const)("without a reply (%s) it is repeated on another connection", (outcome) => {
    expect(remedyFor(new CommandFailure(outcome, "read ECONNRESET"))).toEqual({
      action: "repeat",
      dropConnection: true,
    });
  });

  it.each([
    ["NOPERM this user has no permissions to run the 'zadd' command or its subcommand", "to run ZADD"],
    ["NOPERM User app has no permissions to run the 'script|load' command", "to run SCRIPT LOAD"],
    ["ERR ACL failure in script: User app has no permissions to run the 'zadd' command script: 1f, on", "to run ZADD"],
    // Only the line in the script.
    [
      "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:2.",
      "to run HGET",
    ],
    [
      "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:3.",
      "to run SPUBLISH or PUBLISH",
    ],
    [
      "ERR Error running script (call to f_1f): @user_script:2: The user executing the script can't run this command or subcommand",
      "to run HGET",
    ],
    // None that is written there.
    [
      "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:1.",
      "that is needed",
    ],
    [
      "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:9.",
      "that is needed",
    ],
    // Not about commands.
    [
      "ERR The user executing the script can't publish to the channel mentioned in the command script: 1f, on @user_script:2.",
      "that is needed",
    ],
    ["NOPERM No permissions to access a key", "that is needed"],
  ])("%s → lacks the right %s", (message, missing) => {
    const source =
      'call(command, key)\nreturn redis.call("HGET", key, "XX")\nredis.call(sharded and "SPUBLISH" or "PUBLISH", c)';
    const { action, advice } = remedyFor(refused(message), { source });
    expect({ action, advice }).toEqual({
      action: "misconfigured",
      advice: expect.stringMatching(`^the user of Redis lacks (the|a) right ${missing}$`) as string,
    });
  });
});

describe("a connection that is refused", () => {
  it.each([
    "WRONGPASS invalid username-password pair",
    "NOAUTH HELLO must be called",
    "ERR DB index is out of range",
    "ERR unknown command `HELLO`",
  ])("for %s is misconfigured", (message) => expect(isMisconfiguration(refused(message))).toBe(true));

  it.each(["LOADING Redis is loading", "ERR max number of clients reached", "BUSY Redis is busy"])(
    "for %s is tried again",
    (message) => expect(isMisconfiguration(refused(message))).toBe(false),
  );

  it("because nobody listens is tried again", () => {
    expect(isMisconfiguration(new CommandFailure("not-sent", "connect ECONNREFUSED 127.0.0.1:1"))).toBe(false);
  });
});
