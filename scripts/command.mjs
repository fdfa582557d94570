// Runs other programs the same way on every system: no shell, and tools of node_modules by the file that their package
// names as its command.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a program with the output of this one and resolves to its exit status; 127 when it cannot be started. */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit", ...options });
    child.on("error", (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(127);
    });
    child.on("close", (status) => resolve(status ?? 1));
  });
}

/** Runs a command of an installed package, such as `tool("typescript", "tsc")`. */
export function tool(packageName, command, args, options) {
  const folder = new URL(`../node_modules/${packageName}/`, import.meta.url);
  const { bin } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const file = typeof bin === "string" ? bin : bin[command];
  return run(process.execPath, [fileURLToPath(new URL(file, folder)), ...args], options);
}

/**
 * Runs npm. `npm run` tells its children where npm is; without it the one on the PATH is taken, which on Windows is a
 * batch file that only a shell can start.
 */
export function npm(args, options) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith(".js") || cli?.endsWith(".cjs")) return run(process.execPath, [cli, ...args], options);
  return run("npm", args, { shell: process.platform === "win32", ...options });
}
