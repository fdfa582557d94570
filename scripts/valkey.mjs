// Where the tests find Valkey 8: the valkey-server on the PATH, else one that was unpacked into the user's cache, where
// `fetchValkey` puts it. It is never installed: a package would start a service, and the system may have another one.
// `node scripts/valkey.mjs` prints the path of the program, or exits with 1 when there is none.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./command.mjs";

/** The oldest that the tests are for: 7.2 is Redis by another name. */
const oldest = 8;

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "punctual");
const unpacked = join(cache, "valkey");

/** The path of the program, or undefined. */
export function findValkey() {
  const inCache = join(unpacked, "usr", "bin", "valkey-server");
  return ["valkey-server", inCache].find((program) => {
    const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
    return Number(/\bv=(\d+)/.exec(stdout ?? "")?.[1]) >= oldest;
  });
}

/** Gets it from the mirror that this machine uses, where that is one of Debian. Gives its path, or undefined and says why. */
export async function fetchValkey() {
  const source = debianSource();
  if (source === undefined) return tell("it can be fetched on Debian only; put valkey-server 8 on the PATH");
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "fetching-valkey-"));
  try {
    for (const folder of ["lists/partial", "archives/partial", "root"])
      mkdirSync(join(work, folder), { recursive: true });
    writeFileSync(join(work, "sources.list"), `${source}\n`);
    // Package lists of our own, so that those of the system stay as they are, and no rights are needed.
    const options = {
      "Dir::Etc::sourcelist": join(work, "sources.list"),
      "Dir::Etc::sourceparts": "/dev/null",
      "Dir::State::lists": join(work, "lists"),
      "Dir::Cache": work,
      "APT::Sandbox::User": "root",
      // A machine without a network is to be told so, not to wait.
      "Acquire::Retries": "1",
      "Acquire::http::Timeout": "20",
    };
    const aptGet = (...args) => {
      const set = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
      return run("apt-get", ["--quiet", ...set, ...args], { cwd: work });
    };
    if ((await aptGet("update")) !== 0 || (await aptGet("download", "valkey-server", "valkey-tools")) !== 0) {
      return tell("its packages could not be downloaded");
    }
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb"))) {
      if ((await run("dpkg", ["-x", join(work, file), join(work, "root")])) !== 0)
        return tell(`${file} could not be unpacked`);
    }
    rmSync(unpacked, { recursive: true, force: true });
    renameSync(join(work, "root"), unpacked);
    return findValkey() ?? tell("what was unpacked does not run here");
  } catch (error) {
    return tell(error.message);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function tell(problem) {
  console.error(`No Valkey: ${problem}.`);
  return undefined;
}

/** A line for a list of sources: the release of Debian, or its backports, that has Valkey. */
function debianSource() {
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  if (process.platform !== "linux" || !existsSync("/etc/debian_version") || !existsSync(keyring)) return undefined;
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const mirror = codename === undefined ? undefined : mirrorOf(codename);
  if (mirror === undefined) return undefined;
  return `deb [signed-by=${keyring}] ${mirror} ${codename === "bookworm" ? "bookworm-backports" : codename} main`;
}

/** The address from which this machine gets a release of Debian. */
function mirrorOf(codename) {
  const folder = "/etc/apt/sources.list.d";
  const files = [
    "/etc/apt/sources.list",
    ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []),
  ];
  for (const file of files.filter((path) => existsSync(path))) {
    const text = readFileSync(file, "utf8").replace(/^\s*#.*$/gm, "");
    const inLine = new RegExp(String.raw`^deb\s+(?:\[.*?\]\s+)?(\S+)\s+${codename}\s`, "m").exec(text)?.[1];
    if (inLine !== undefined) return inLine;
    for (const stanza of text.split(/\n\s*\n/)) {
      const suites = /^Suites:\s*(.*)$/m.exec(stanza)?.[1]?.split(/\s+/) ?? [];
      const address = /^URIs:\s*(\S+)/m.exec(stanza)?.[1];
      if (address !== undefined && suites.includes(codename)) return address;
    }
  }
  return undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const program = findValkey();
  if (program === undefined) process.exitCode = 1;
  else console.log(program);
}
