// Answers and results for the tests.

import type { Answer, Result } from "../src/core/answers.ts";
import { LANGUAGES, type Language } from "../src/core/languages.ts";

export function named(name: string): Language {
  const found = LANGUAGES[name];
  if (!found) throw new Error(`there is no language ${name}`);
  return found;
}

export function result(more: Partial<Result> = {}): Result {
  const place = { path: "src/lines.py", startLine: 8, endLine: 9, row: 3, url: "" };
  return {
    code: "def lines(path):\n    return open(path).readlines()",
    identifier: "lines",
    license: "MIT",
    score: 0.67110825,
    indent: undefined,
    preview: "",
    copies: [],
    ...place,
    ...more,
  };
}

export function answer(results: readonly Result[], more: Partial<Answer> = {}): Answer {
  return {
    query: "read lines",
    language: "python",
    model: "context",
    milliseconds: 41.7,
    index: "f8bf7ffd02280d98",
    folder: "",
    certainty: { level: "", text: "", nearest: [] },
    notice: "",
    results,
    ...more,
  };
}
