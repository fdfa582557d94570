import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../source-files.js";
import { builtPackage } from "../support/compiler.js";

export interface Run {
  readonly status: number;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** The empty project of somebody who installs the package. */
export interface TrialProject extends AsyncDisposable {
  readonly folder: string;
  /** What the package contains, as paths in it. */
  readonly packedFiles: readonly string[];
  /** Installs more packages from the registry, or from the cache of npm where they are. */
  install(...packages: string[]): Promise<void>;
  write(file: string, content: string): Promise<void>;
  /** Runs a program in the folder. */
  run(program: string, ...args: string[]): Promise<Run>;
  /** Runs a command of a package that is installed here, else in the repository. */
  tool(file: string, ...args: string[]): Promise<Run>;
}

/** Runs a program to its end. Whatever it is, it has 90 s. */
function runIn(folder: string, program: string, args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { cwd: folder, timeout: 90_000, shell: process.platform === "win32" && program === "npm" },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code) || 1, output: `${stdout}${stderr}` });
      },
    );
  });
}

async function succeed(run: Promise<Run>, what: string): Promise<string> {
  const { status, output } = await run;
  if (status !== 0) throw new Error(`${what} failed with status ${status}:\n${output}`);
  return output;
}

/**
 * Packs the package apart from the working tree (other tests may read `dist/` meanwhile), and installs what was packed in an
 * empty project, without any optional peer.
 */
export async function trialProject(...packages: string[]): Promise<TrialProject> {
  const home = await mkdtemp(join(tmpdir(), "punctual-trial-"));
  try {
    return await installed(home, packages);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

async function installed(home: string, packages: readonly string[]): Promise<TrialProject> {
  const staged = join(home, "staged");
  const folder = join(home, "project");
  await mkdir(staged);
  await mkdir(folder);

  const { files } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { files: string[] };
  for (const entry of await readdir(root)) {
    if (/^(package\.json|README\.md|LICENSE)$/.test(entry) || (entry !== "dist" && files.includes(entry))) {
      await cp(join(root, entry), join(staged, entry), { recursive: true });
    }
  }
  await cp(await builtPackage(), join(staged, "dist"), { recursive: true });
  const packed = await succeed(
    runIn(staged, "npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", home]),
    "npm pack",
  );
  const [described] = JSON.parse(packed) as { filename: string; files: { path: string }[] }[];
  if (described === undefined) throw new Error(`npm pack described nothing: ${packed}`);

  const project: TrialProject = {
    folder,
    packedFiles: described.files.map(({ path }) => path).sort(),
    async install(...wanted) {
      const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--no-progress"];
      await succeed(runIn(folder, "npm", [...args, ...wanted]), `npm install ${wanted.join(" ")}`);
    },
    async write(file, content) {
      await mkdir(join(folder, file, ".."), { recursive: true });
      await writeFile(join(folder, file), content);
    },
    run: (program, ...args) => runIn(folder, program, args),
    tool(file, ...args) {
      const place = [folder, root].find((one) => existsSync(join(one, "node_modules", file))) ?? root;
      return runIn(folder, process.execPath, [join(place, "node_modules", file), ...args]);
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
  await project.write("package.json", JSON.stringify({ name: "trial", private: true, type: "module" }));
  await project.install(join(home, described.filename), ...packages);
  return project;
}
