import { describe, expect, it } from "vitest";
import { rightTo, users } from "../support/acl-users.js";
import { casesOfUsers, runAs, withUsers } from "../support/case-as-users.js";

const redis = withUsers();

/** A call of several users is made by each of them in turn; one of nobody by `default`. */
describe("With each call made by a user whose it is, this holds:", { timeout: 60_000 }, () => {
  it.concurrent.each(casesOfUsers)("$name", async (one) => {
    // The first to come differs from case to case.
    let turn = casesOfUsers.indexOf(one);
    const choose = (call: string) => {
      const whose = users.filter((user) => rightTo(call, user) === "yes");
      return whose[turn++ % whose.length];
    };
    const { refused, failure } = await runAs(choose, one, redis.url);
    expect(refused).toEqual([]);
    if (failure !== undefined) throw failure.error;
  });
});
