// Where the file of a result may be, and where the result is in it.

import * as path from "node:path";

const NOT_IN_NAMES = path.sep === "\\" ? /[\\:\0]/ : /\0/;

/**
 * The places of a file of the index: the index is of `folder` or of a folder above it, nearest first. None for a path
 * that leads out of such a folder.
 */
export function placesOf(folder: string, file: string): string[] {
  const parts = file.split("/");
  if (parts.some((part) => ["", ".", ".."].includes(part) || NOT_IN_NAMES.test(part))) return [];
  const places: string[] = [];
  for (let root = path.resolve(folder); ; root = path.dirname(root)) {
    places.push(path.join(root, ...parts));
    if (root === path.dirname(root)) return places;
  }
}

/**
 * The line of `text`, from 0, where `code` begins: that where it was when it was indexed, or else the first with it;
 * -1 if `text` does not have it, nor its first line at the former place.
 */
export function lineOf(text: string, code: string, former: number): number {
  const lines = text.split(/\r\n|\r|\n/);
  const wanted = code.split(/\r\n|\r|\n/);
  const isAt = (line: number): boolean =>
    (lines[line]?.endsWith(wanted[0] ?? "") ?? false) &&
    wanted.slice(1, -1).every((each, at) => lines[line + 1 + at] === each);
  if (isAt(former)) return former;
  const found = lines.findIndex((_, line) => isAt(line));
  return found < 0 && wanted[0] && lines[former]?.includes(wanted[0]) ? former : found;
}
