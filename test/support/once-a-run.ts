import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { folderOfRun } from "../folder-of-run.js";

/** What came of it, as JSON has it. */
type Outcome<T> = { readonly made: T } | { readonly failure: string };

/**
 * Makes something that takes long, such as a build, once for all files of a run: whoever asks first makes it, in a new folder,
 * and the others wait for it. What `make` gives has to fit into JSON. Where it fails it fails for all.
 */
export async function onceARun<T>(name: string, make: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(folderOfRun(), name);
  const file = `${folder}.json`;
  const isFirst = await mkdir(folder).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      // Nobody is first, so whoever waited would wait for ever.
      throw error;
    },
  );
  if (isFirst) {
    const outcome = await make(folder).then(
      (made): Outcome<T> => ({ made }),
      (error: unknown): Outcome<T> => ({ failure: String(error) }),
    );
    // Whole from the first moment at which somebody can read it.
    await writeFile(`${file}.new`, JSON.stringify(outcome));
    await rename(`${file}.new`, file);
  }
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) {
      await sleep(50);
      continue;
    }
    const outcome = JSON.parse(text) as Outcome<T>;
    if ("failure" in outcome) throw new Error(`${name} could not be made: ${outcome.failure}`);
    return outcome.made;
  }
}
