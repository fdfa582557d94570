import { expect, it } from "vitest";
import { filesUnder, read } from "./source-files.js";

/** The pages about engines, by the names of the engines, with what their titles say. */
function listOfEngines(): string {
  return filesUnder("docs/reference/engines", /\.md$/)
    .toSorted()
    .map((page) => {
      const name = /([a-z-]+)\.md$/.exec(page)?.[1] ?? "";
      const title = /^# (.+)$/m.exec(read(page))?.[1] ?? "";
      const says = title.startsWith(`${name}: `) ? title.slice(name.length) : "";
      return `- [${name}](${page.replace("docs/", "")})${says}`;
    })
    .join("\n");
}

// `npx vitest run test/engine-list.test.ts -u` writes it anew.
it("docs/README.md lists every page about an engine, as its title says it", async () => {
  const text = read("docs/README.md").replace(
    /(?<=<!-- engines -->\n\n).*?(?=<!-- end -->)/su,
    () => `${listOfEngines()}\n\n`,
  );
  await expect(text).toMatchFileSnapshot("../docs/README.md");
});
