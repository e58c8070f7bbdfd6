// The code of a result as it stands alone.

import type { Language } from "./languages.ts";

/**
 * `code` without the indentation that its first line has lost, which is cut out of the middle of a line: that of the
 * closing brace, or in Python that of what is decorated, unless `indent` says how many characters it has. Lines that are
 * indented less stay as they are.
 */
export function standingAlone(code: string, language: Language, indent?: number): string {
  const lines = code.split(/\r\n|\r|\n/);
  while (lines.length > 1 && lines.at(-1)?.trim() === "") lines.pop();
  const begin = lines.findIndex((line) => line.trim() !== "");
  const [first = "", ...rest] = lines.slice(Math.max(0, begin));
  if (indent !== undefined) return [first, ...rest.map((line) => outdented(line, indent))].join("\n");
  const lost = /^\s/.test(first) ? "" : lostBy(first, rest, language);
  return [first, ...rest.map((line) => (line.startsWith(lost) ? line.slice(lost.length) : line))].join("\n");
}

/** `line` without at most so many characters of its indentation. */
export function outdented(line: string, indent: number): string {
  return line.slice(Math.min(Math.max(0, indent), line.length - line.trimStart().length));
}

function lostBy(first: string, rest: readonly string[], { closing }: Language): string {
  const telling = closing ? rest.at(-1) : first.startsWith("@") ? rest.find((line) => DECORATED.test(line)) : "";
  return new RegExp(closing ? `^[ \\t]*(?=${closing})` : "^[ \\t]*").exec(telling ?? "")?.[0] ?? "";
}

const DECORATED = /^\s*(?:async\s+def|def|class)\b/;
