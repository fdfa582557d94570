import { describe, expect, it } from "vitest";
import { filesUnder, read } from "./source-files.js";

/** What only types announce would be missing at run time; what only the code exports is an interface that nobody keeps. */
describe("Every subpath exports at run time what its declarations announce, and nothing else:", () => {
  const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, string> };
  const subpaths = Object.entries(exports).filter(([, file]) => file.endsWith(".js"));

  it.each(subpaths)("%s", async (subpath, file) => {
    const report = subpath === "." ? "punctual" : subpath.slice("./".length).replaceAll("/", "-");
    const announced = read(`docs/api/${report}.api.md`).matchAll(
      /^export (?:declare )?(?:class|const|function) (\w+)/gm,
    );
    const [source = ""] = filesUnder("src", /\.ts$/).filter(
      (path) => path === file.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"),
    );
    const module = (await import(`../${source}`)) as Record<string, unknown>;
    expect(Object.keys(module).sort()).toEqual(Array.from(announced, ([, name = ""]) => name).sort());
  });
});
