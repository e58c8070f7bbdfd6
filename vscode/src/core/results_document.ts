// The document of results: each stands as it is in its file, and all else behind the marks of comments, so that the
// whole stays source code of its language.

import type { Answer, Place, Result } from "./answers.ts";
import { standingAlone } from "./code.ts";
import type { Language } from "./languages.ts";
import { oneLine, safeUrl } from "./plain.ts";

/** Copies of a result whose places are told. */
const MOST_COPIES = 3;

export interface ResultsDocument {
  readonly text: string;
  /** The line, from 0, of each result's heading. */
  readonly headings: readonly number[];
}

/** The document of an answer: what was asked, then the results, best first. */
export function resultsDocument(answer: Answer, language: Language): ResultsDocument {
  const lines = [...head(answer, language), ""];
  const headings: number[] = [];
  answer.results.forEach((result, at) => {
    headings.push(lines.length);
    lines.push(`${language.mark} Example ${at + 1} of ${answer.results.length}`, "");
    for (const line of standingAlone(result.code, language, result.indent).split("\n")) lines.push(line); // there may be a million
    lines.push("");
    lines.push(...attribution(result).map((line) => `${language.mark} ${line}`), "", `${language.mark}------------`);
  });
  return { text: `${lines.join("\n")}\n`, headings };
}

function head(answer: Answer, language: Language): string[] {
  const { query, results, model, milliseconds, certainty, notice } = answer;
  const found = results.length === 1 ? "1 example" : `${results.length || "No"} examples`;
  const how = model === "context" ? "with the text above the query" : "by the query alone";
  const within = folderName(answer) && ` in ${folderName(answer)}`;
  const strong = certainty.level === "strong" ? `${oneLine(certainty.text)}, ` : "";
  return [
    doubt(answer),
    `${found} of ${language.title}${within}: ${oneLine(query, 200)}`,
    `${strong}${how}, in ${Math.round(milliseconds)} ms`,
    oneLine(notice),
  ]
    .filter(Boolean)
    .map((line) => `${language.mark} ${line}`);
}

/** Why an answer may be none, with the nearest names, in a line; "" if it is certain, or the server does not say it. */
export function doubt({ certainty: { level, text, nearest } }: Answer): string {
  if (level !== "weak" && level !== "none") return "";
  const said = oneLine(text) || (level === "weak" ? "weak match" : "nothing found");
  return nearest.length ? `${said}; nearest names: ${nearest.map((name) => oneLine(name, 100)).join(", ")}` : said;
}

/** The last part of the indexed folder's path; "" if it is not known. */
export function folderName({ folder }: Answer): string {
  return oneLine(folder.split(/[\\/]/).filter(Boolean).at(-1) ?? "", 100);
}

/** What has the same text as a result, in a line; "" if nothing has. */
export function copiesLine({ copies }: Result): string {
  if (!copies.length) return "";
  const places = copies.slice(0, MOST_COPIES).map(place);
  const more = copies.length > MOST_COPIES ? `, and ${copies.length - MOST_COPIES} more` : "";
  return `and ${copies.length} ${copies.length === 1 ? "copy" : "copies"}: ${places.join(", ")}${more}`;
}

/** Where a result is from, its licence, score with eight digits as in Scotch's document, copies, and what is shown. */
export function attribution(result: Result): string[] {
  const licence = `License: ${oneLine(result.license) || "not known"}`;
  const score = `Score: ${scoreOf(result, 8)}`;
  return [sourceLine(result), licence, score, copiesLine(result), partLine(result)].filter(Boolean);
}

/** Lines of a type or file that the server has; a shorter one lacks blank lines at its end at most. */
const FIRST_LINES = 40;

/** How much of a long type or file is shown; "" if all of it is. */
export function partLine({ code, startLine, endLine }: Result): string {
  const shown = code.split("\n").length;
  const all = endLine - startLine + 1;
  return FIRST_LINES <= shown && shown < all ? `The first ${shown} of ${all} lines` : "";
}

/** Where a result is from: its permanent link, or else its place in the indexed folder. */
export function sourceLine(result: Result): string {
  const url = safeUrl(result.url);
  return url ? `Source URL: ${oneLine(url, 2000)}` : `Source: ${place(result) || "not known"}`;
}

/** The score of a result with so many digits after the point. */
export function scoreOf({ score }: Result, digits: number): string {
  return score === undefined ? "not known, since the index has no vectors" : score.toFixed(digits);
}

/** The place of a result in the indexed folder, such as src/lines.py:8-12. */
export function place({ path, startLine, endLine }: Place): string {
  return path && `${oneLine(path)}:${startLine}-${endLine}`;
}
