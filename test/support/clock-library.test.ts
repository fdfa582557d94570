import { expect, it } from "vitest";
import { clockLibrary } from "./clock-library.js";

it("A machine without a C compiler is told what to install", async () => {
  await expect(clockLibrary("no-such-cc")).rejects.toThrow(/^no-such-cc cannot make .* apt-get install gcc libc6-dev/);
});
