import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { LANGUAGES, type Language } from "../src/core/languages.ts";
import { isEnter, queryBelow, queryOf } from "../src/core/trigger.ts";
import { named } from "./samples.ts";

interface Case {
  readonly language: string;
  readonly line: string;
  readonly query: string;
}

test("comments that ask for code, as the terminal's search reads them", () => {
  const cases = JSON.parse(readFileSync("../tests/search/cursor/trigger_cases.json", "utf8")) as Case[];
  assert.ok(cases.length >= 30);
  for (const { language, line, query } of cases)
    assert.equal(queryOf(line, named(language)), query, `${language}: ${line}`);
});

test("Enter, and nothing else", () => {
  const go = named("go");
  for (const inserted of ["\n", "\r\n", "\n    ", "\n\t", "\n// "])
    assert.ok(isEnter(inserted, go), JSON.stringify(inserted));
  for (const inserted of ["", "x", " ", "\nx", "\n\n", "\n# ", "// search: x\n"]) {
    assert.ok(!isEnter(inserted, go), JSON.stringify(inserted));
  }
  for (const inserted of ["\n# ", "\n//"]) assert.ok(isEnter(inserted, named("php")), JSON.stringify(inserted));
});

interface Place {
  readonly file: string;
  readonly above: string;
  readonly asks: boolean;
}

/** The language of a file, by its suffix. */
function languageOfFile(file: string): Language {
  const suffix = `.${file.split(".").at(-1)}`;
  const found = Object.values(LANGUAGES).filter(({ suffixes }) => suffixes.includes(suffix));
  return found.find(({ markup }) => markup === suffix.endsWith("x")) ?? found[0] ?? named(suffix);
}

test("a comment asks and one in a string or in the text of markup does not, as the terminal's search reads them", () => {
  const cases = JSON.parse(readFileSync("../tests/search/cursor/above_cases.json", "utf8")) as Place[];
  assert.ok(cases.length >= 50);
  for (const { file, above, asks } of cases) {
    const language = languageOfFile(file);
    const query = queryBelow(above, `  ${language.mark} search: x`, language);
    assert.equal(query, asks ? "x" : "", `${file}: ${above}`);
    assert.equal(queryBelow(above.replaceAll("\n", "\r\n"), `${language.mark} search: x`, language), query, above);
  }
});

const UNFINISHED: readonly [string, string][] = [
  ["python", "x = 'not closed\n"],
  ["python", 'x = "a\\"b" + \'c\'  # a """ in a comment\n'],
  ["javascript", "return a / b / c;\n"],
  ["typescript", 'const s = "`;\n'],
];

test("a string that nothing closes ends with its line", () => {
  for (const [name, above] of UNFINISHED) {
    const language = named(name);
    assert.equal(queryBelow(above, `  ${language.mark} search: x`, language), "x", `${name}: ${above}`);
  }
});

test("ten megabytes above are read in one pass", () => {
  const above = 'x = "a" / b // c\n/* ` */ y = `z ${ {} }`\n'.repeat(220_000);
  assert.equal(queryBelow(above, "// search: x", named("javascript")), "x");
});
