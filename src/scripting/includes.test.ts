import { describe, expect, it } from "vitest";
import { filesUnder, read } from "../../test/source-files.js";

const scripts = filesUnder("src", /\.lua$/).filter((path) => !path.includes("/snippets/"));
const snippets = new Map(filesUnder("src", /\/snippets\/[a-z-]+\.lua$/).map((path) => [path, read(path)]));

/** Lua without its comments and texts, so that only names are left. */
const bare = (lua: string) => lua.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/--.*$/gm, "");

/** The locals that a snippet gives: those that are not inside a function or a block. */
const localsOf = (lua: string) =>
  [...bare(lua).matchAll(/^local (?:function (\w+)|(\w+(?:, \w+)*))/gm)].flatMap(([, name, names]) =>
    name === undefined ? (names?.split(", ") ?? []) : [name],
  );

/** Whether a snippet does something by itself: it has a statement outside of functions that is no local. */
const acts = (lua: string) => /^(?!local\b|end\b)[a-z]/m.test(bare(lua));

const mentions = (lua: string, names: readonly string[]) =>
  names.some((name) => new RegExp(`(?<![.:\\w])${name}\\b`).test(bare(lua)));

/** What a script includes for nothing: neither it nor a snippet that it has use for uses a local of it. */
function unused(script: string, snippetOf: (name: string) => string): string[] {
  const included = [...script.matchAll(/^--- @include ([a-z-]+)$/gm)].map(([, name = ""]) => {
    const lua = snippetOf(name);
    return { name, lua, locals: localsOf(lua) };
  });
  const isUsed = new Set(included.filter(({ lua, locals }) => acts(lua) || mentions(script, locals)));
  // A set hands out also what is added to it meanwhile.
  for (const user of isUsed) {
    for (const one of included) if (one !== user && mentions(user.lua, one.locals)) isUsed.add(one);
  }
  return included.filter((one) => !isUsed.has(one)).map(({ name }) => name);
}

describe("A script includes", () => {
  it.each(scripts)("%s: no snippet that it has no use for", (path) => {
    const own = path.replace(/[^/]+$/, "snippets/");
    const snippetOf = (name: string) =>
      snippets.get(`${own}${name}.lua`) ?? snippets.get(`src/scripting/snippets/${name}.lua`) ?? "";
    expect(unused(read(path), snippetOf)).toEqual([]);
  });
});

describe("A snippet is of use", () => {
  const of = {
    values: "local pack, sub = struct.pack, string.sub",
    limit: "local function limit_of(value)\n  sub(value)\nend",
  };
  const among = (more: Record<string, string>) => (name: string) => ({ ...of, ...more })[name] ?? "";
  const script = (...lines: string[]) => lines.join("\n");

  it.each([
    ["when the script uses a local of it", script("--- @include values", "pack()"), []],
    [
      "when a snippet does that the script uses",
      script("--- @include values", "--- @include limit", "limit_of(1)"),
      [],
    ],
    ["when it does something by itself", script("--- @include begin"), []],
    [
      "not when only a comment, a text or a field has its name",
      script("--- @include limit", "-- limit_of", 'x.limit_of("limit_of")'),
      ["limit"],
    ],
    [
      "not when only a snippet uses it that is of no use",
      script("--- @include values", "--- @include limit"),
      ["values", "limit"],
    ],
  ])("%s", (_, lua, expected) => {
    expect(unused(lua, among({ begin: "if state then\n  return 1\nend" }))).toEqual(expected);
  });
});
