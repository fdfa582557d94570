import { readFile, writeFile } from "node:fs/promises";

/** Where the tables of a page stand. */
const place = /(?<=<!-- compare -->\n).*?(?=<!-- end -->)/su;

/** A page that has a place for the tables of a comparison. Fails with a sentence when it has none. */
export async function openPage(path: string): Promise<{ write(tables: string): Promise<void> }> {
  const text = await readFile(path, "utf8");
  if (!place.test(text)) {
    throw new Error(`${path} has no place for the tables: the lines <!-- compare --> and, below it, <!-- end -->.`);
  }
  return {
    // A function, so that a dollar sign in the text means nothing.
    write: (tables) =>
      writeFile(
        path,
        text.replace(place, () => `\n${tables}\n\n`),
      ),
  };
}
