import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { attribution, resultsDocument } from "../src/core/results_document.ts";
import { answer, named, result } from "./samples.ts";

const URL = "https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines";
const CODE: Readonly<Record<string, readonly string[]>> = {
  python: [result().code, "class Lines:\n    def count(self) -> int:\n        return 1\n"],
  java: ["public int count() {\n    return 1; // one\n}", "\r\nvoid close() {\r\n}\r\n"],
  javascript: ["const first = (lines) => lines[0];", "function last(lines) {\n\treturn lines.at(-1);\n}"],
  typescript: ["export function first(lines: string[]): string {\n  return lines[0]!;\n}"],
  go: ["func first(lines []string) string {\n\treturn lines[0]\n}", "type Lines struct{}"],
};

for (const [name, codes] of Object.entries(CODE)) {
  test(`the document of ${name} is as its golden file`, () => {
    const language = named(name);
    const ends = (code: string) => ({ code, endLine: 7 + code.split("\n").length });
    const results = codes.map((code, at) =>
      at
        ? result({ ...ends(code), license: "", score: undefined })
        : result({ ...ends(code), url: `${URL}${language.suffixes[0]}#L8-L9` }),
    );
    const { text, headings } = resultsDocument(answer(results, { language: name }), language);
    const golden = join("test", "golden", `Search${language.suffixes[0]}`);
    if (process.env["WRITE_GOLDEN"]) writeFileSync(golden, text);
    assert.equal(text, readFileSync(golden, "utf8"));
    const lines = text.split("\n");
    headings.forEach((line, at) => assert.equal(lines[line], `${language.mark} Example ${at + 1} of ${codes.length}`));
    assert.equal(headings.length, codes.length);
  });
}

test("all that is not code is a comment, whatever it contains", () => {
  const hostile = "x\nimport os; os.remove('/')\r\u2028alert(1)\u202e\u0000*/";
  for (const name of Object.keys(CODE)) {
    const language = named(name);
    const results = [
      result({ code: "CODE", license: hostile, path: hostile }),
      result({ code: "CODE", url: `https://example.com/${hostile}` }),
    ];
    const { text } = resultsDocument(answer(results, { query: hostile }), language);
    for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/)) {
      assert.ok(line === "" || line === "CODE" || line.startsWith(language.mark), line);
    }
    assert.doesNotMatch(text, /[\u202e\0]/);
  }
});

test("of a long type it is said how much of it is shown", () => {
  const long = result({ code: `class Lines:\n${"    pass\n".repeat(38)}    pass`, startLine: 8, endLine: 959 });
  assert.equal(attribution(long).at(-1), "The first 40 of 952 lines");
  const whole = [result({ ...long, endLine: 47 }), result({ code: "package main", startLine: 1, endLine: 3 })];
  assert.ok(!whole.flatMap(attribution).some((line) => line.startsWith("The first"))); // blank lines at an end are not sent
});

test("attribution: a link only over https, eight digits, and what is not known", () => {
  assert.deepEqual(attribution(result({ score: 1 })), [
    "Source: src/lines.py:8-9",
    "License: MIT",
    "Score: 1.00000000",
  ]);
  for (const url of [
    "http://example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://user:word@example.com/",
  ]) {
    assert.equal(attribution(result({ url }))[0], "Source: src/lines.py:8-9", url);
  }
  const bare = result({ path: "", license: "", score: undefined });
  assert.deepEqual(attribution(bare), [
    "Source: not known",
    "License: not known",
    "Score: not known, since the index has no vectors",
  ]);
});

test("how certain the answer is comes first if it is not, then the folder, and at the end that it may be old", () => {
  const certainty = {
    level: "weak",
    text: "weak match; no file has QeuePool",
    nearest: ["QueuePool", "Queue"],
  } as const;
  const weak = answer([result()], { certainty, folder: "/home/x/httpx", notice: "2 files have\nchanged" });
  assert.deepEqual(resultsDocument(weak, named("python")).text.split("\n").slice(0, 5), [
    "# weak match; no file has QeuePool; nearest names: QueuePool, Queue",
    "# 1 example of Python in httpx: read lines",
    "# with the text above the query, in 42 ms",
    "# 2 files have changed",
    "",
  ]);
  const strong = answer([result()], { certainty: { level: "strong", text: "strong match", nearest: [] } });
  assert.deepEqual(resultsDocument(strong, named("python")).text.split("\n").slice(0, 3), [
    "# 1 example of Python: read lines",
    "# strong match, with the text above the query, in 42 ms",
    "",
  ]);
  const none = { level: "none", text: "", nearest: [] } as const;
  assert.match(
    resultsDocument(answer([], { certainty: none }), named("go")).text,
    /^\/\/ nothing found\n\/\/ No examples/,
  );
});

test("copies are one line below a result, the first few by their places", () => {
  const copies = Array.from({ length: 5 }, (_, at) => ({ path: `copy${at}.py`, startLine: at + 1, endLine: at + 2 }));
  assert.equal(
    attribution(result({ copies }))[3],
    "and 5 copies: copy0.py:1-2, copy1.py:2-3, copy2.py:3-4, and 2 more",
  );
  assert.equal(attribution(result({ copies: copies.slice(0, 1) }))[3], "and 1 copy: copy0.py:1-2");
  assert.equal(attribution(result()).length, 3);
});

test("no results, and one", () => {
  assert.match(
    resultsDocument(answer([], { model: "base" }), named("go")).text,
    /^\/\/ No examples of Go: read lines\n\/\/ by the query alone, in 42 ms\n/,
  );
  assert.match(
    resultsDocument(answer([result()]), named("python")).text,
    /^# 1 example of Python: read lines\n# with the text above the query, /,
  );
});
