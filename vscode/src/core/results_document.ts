// The document of results: each stands as it is in its file, and all else behind the marks of comments, so that the
// whole stays source code of its language.

import type { Answer, Result } from "./answers.ts";
import { standingAlone } from "./code.ts";
import type { Language } from "./languages.ts";
import { oneLine, safeUrl } from "./plain.ts";

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
    for (const line of standingAlone(result.code, language).split("\n")) lines.push(line); // there may be a million
    lines.push("");
    lines.push(...attribution(result).map((line) => `${language.mark} ${line}`), "", `${language.mark}------------`);
  });
  return { text: `${lines.join("\n")}\n`, headings };
}

function head({ query, results, model, milliseconds }: Answer, language: Language): string[] {
  const found = results.length === 1 ? "1 example" : `${results.length || "No"} examples`;
  const how = model === "context" ? "with the text above the query" : "by the query alone";
  return [
    `${language.mark} ${found} of ${language.title}: ${oneLine(query, 200)}`,
    `${language.mark} ${how}, in ${Math.round(milliseconds)} ms`,
  ];
}

/** Where a result is from, under which licence, and its score, with eight digits as Scotch's document has it. */
export function attribution(result: Result): string[] {
  return [sourceLine(result), `License: ${oneLine(result.license) || "not known"}`, `Score: ${scoreOf(result, 8)}`];
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
export function place({ path, startLine, endLine }: Result): string {
  return path && `${oneLine(path)}:${startLine}-${endLine}`;
}
