import { expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import { isSentinelUrl, parseSentinelUrl } from "./sentinel-url.js";

it("the URL of sentinels names them, the primary, and how to log in with both", () => {
  const url =
    "redis+sentinel://ada:it%27s%20@s1:26380,s2,[fd00::1]:26381/my%20main/3?sentinelUsername=bob&sentinelPassword=x%26y";
  const login = { username: "bob", password: "x&y", database: 0 };
  expect(parseSentinelUrl(url)).toEqual({
    sentinels: [
      { ...login, target: "redis://s1:26380", endpoint: { host: "s1", port: 26_380, tls: false } },
      { ...login, target: "redis://s2:26379", endpoint: { host: "s2", port: 26_379, tls: false } },
      { ...login, target: "redis://[fd00::1]:26381", endpoint: { host: "fd00::1", port: 26_381, tls: false } },
    ],
    name: "my main",
    primary: { username: "ada", password: "it's ", database: 3, tls: false },
  });
});

it("what the URL leaves out is left out, and rediss+sentinel is for TLS with all", () => {
  expect(parseSentinelUrl("rediss+sentinel://s1/main")).toMatchObject({
    sentinels: [{ username: undefined, password: undefined, endpoint: { port: 26_379, tls: true } }],
    primary: { username: undefined, password: undefined, database: 0, tls: true },
  });
});

it.each([
  ["redis+sentinel://", "cannot be understood"],
  ["redis+sentinel://s1", "cannot be understood"],
  ["redis+sentinel://s1/", "cannot be understood"],
  ["redis+sentinel://s1/main/three", "cannot be understood"],
  ["redis+sentinel://:hunter2@s1,,s2/main", "cannot be understood"],
  ["redis+sentinel://:hunter2@s1/main?password=hunter2", 'has the unknown parameter "password"'],
  ["redis+sentinel://:hunter2@s1/100%", "holds a % that starts no escape"],
])("%s is refused with what is accepted, and without a password", (url, problem) => {
  let refusal: unknown;
  try {
    parseSentinelUrl(url);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(PunctualError);
  expect(refusal).toMatchObject({ code: "invalid-argument", details: { argument: "url" } });
  expect(String(refusal)).toContain(problem);
  expect(String(refusal)).not.toContain("hunter2");
});

it("only such URLs are taken for URLs of sentinels", () => {
  const urls = ["redis+sentinel://a/b", "REDISS+SENTINEL://a/b", "redis://a", "rediss://sentinel", "unix:///sentinel"];
  expect(urls.map(isSentinelUrl)).toEqual([true, true, false, false, false]);
});
