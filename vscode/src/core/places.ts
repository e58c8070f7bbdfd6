// Where the file of a result may be, and where the result is in it.

import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";

const NOT_IN_NAMES = path.sep === "\\" ? /[\\:\0]/ : /\0/;

/**
 * The files that a file of the index may be: the index is of `folder` or of a folder above it, nearest first. Only
 * regular ones in the indexed folder, as the server names it, if `folder` is a part of it; else only those in `folder`.
 * What has the user's `home` in it is not taken for an indexed folder, whatever a server says.
 */
export async function filesOf(folder: string, file: string, indexed: string, home = homedir()): Promise<string[]> {
  const parts = file.split("/");
  if (parts.some((part) => ["", ".", ".."].includes(part) || NOT_IN_NAMES.test(part))) return [];
  const real = await realOf(folder);
  const named = isIn(folder, indexed) || isIn(real, indexed) ? await realOf(indexed) : ""; // never of another machine
  const limit = isIn(real, named) && !isIn(await realOf(home), named) ? named : real;
  const found: string[] = [];
  for (const root of new Set([...upwards(folder), ...upwards(real)])) {
    const place = path.join(root, ...parts);
    if (await isFileIn(place, limit)) found.push(place);
  }
  return found;
}

/** A folder and those above it. */
function upwards(folder: string): string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

/** An absolute path without links; "" if there is nothing. */
async function realOf(place: string): Promise<string> {
  return path.isAbsolute(place) ? realpath(place).catch(() => "") : "";
}

/** Whether there is a regular file, to which no link leads out of a folder. */
async function isFileIn(place: string, limit: string): Promise<boolean> {
  const found = await lstat(place).catch(() => undefined);
  return found !== undefined && found.isFile() && isIn(await realOf(place), limit);
}

/** Whether an absolute path is a folder or below it. */
function isIn(place: string, folder: string): boolean {
  if (!path.isAbsolute(place) || !path.isAbsolute(folder)) return false;
  const way = path.relative(folder, place);
  return way.split(path.sep)[0] !== ".." && !path.isAbsolute(way);
}

/** Lines of a result, at most, by which it is found in its file. */
const MOST_LINES = 100;

/**
 * The line of `text`, from 0, where `code` begins: that where it was when it was indexed, or else the first with it;
 * -1 if `text` does not have it, nor its first line at the former place.
 */
export function lineOf(text: string, code: string, former: number): number {
  const lines = text.split(/\r\n|\r|\n/);
  const [first = "", ...rest] = code.split(/\r\n|\r|\n/);
  const inside = rest.slice(0, -1).slice(0, MOST_LINES);
  const isAt = (line: number): boolean =>
    (lines[line]?.endsWith(first) ?? false) && inside.every((each, at) => lines[line + 1 + at] === each);
  if (isAt(former)) return former;
  const found = lines.findIndex((_, line) => isAt(line));
  return found < 0 && first && lines[former]?.includes(first) ? former : found;
}
