// Whether a folder has files of a language.

import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";

/** Folders that are read at most. */
const MOST_FOLDERS = 2000;

/**
 * Whether `folder` or one below it has another file than `but` with one of `suffixes`. Hidden folders and node_modules,
 * which are seldom indexed, and links are passed over.
 *
 * @return undefined: not in the first `most` folders, and there are more
 */
export async function hasOtherFile(
  folder: string,
  suffixes: readonly string[],
  but: string,
  most = MOST_FOLDERS,
): Promise<boolean | undefined> {
  const folders = [folder];
  for (const [read, each] of folders.entries()) {
    if (read === most) return undefined;
    for (const entry of await readdir(each, { withFileTypes: true }).catch(() => [])) {
      const path = join(each, entry.name);
      if (entry.isFile() && suffixes.includes(extname(entry.name)) && path !== but) return true;
      if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules") folders.push(path);
    }
  }
  return false;
}
