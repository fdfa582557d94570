import { describe, expect, it } from "vitest";
import { rightTo, users } from "../support/acl-users.js";
import { casesOfUsers, runAs, withUsers } from "../support/case-as-users.js";

const redis = withUsers();

/** Which calls a case makes is seen while it runs. */
describe.each(users)("A %s alone passes where all calls are theirs, and lacks a right elsewhere:", (user) => {
  const may = (call: string) => rightTo(call, user) !== "no";

  it.concurrent.each(casesOfUsers)("$name", async (one) => {
    const { done, refused, failure } = await runAs(() => user, one, redis.url);
    expect(
      done.filter((call) => !may(call)),
      "done without a right",
    ).toEqual([]);
    expect(refused.filter(may), "refused in spite of a right").toEqual([]);
    if (refused.length === 0 && failure !== undefined) throw failure.error;
    expect(failure !== undefined, "fails").toBe(refused.length > 0);
  });
});
