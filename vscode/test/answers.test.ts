import assert from "node:assert/strict";
import { test } from "node:test";

import { answerOf, explanationOf, usagesOf } from "../src/core/answers.ts";

test("what is missing or of another type in an answer has a value of its own", () => {
  const odd = { code: "x", identifier: 3, url: null, license: [], score: null, path: {}, start_line: 1.5, row: "3" };
  const found = answerOf({ results: [odd], took_ms: "fast", model: 1, folder: 2 }, "q", 15);
  assert.deepEqual(found.results[0], {
    code: "x",
    identifier: "",
    url: "",
    license: "",
    score: undefined,
    path: "",
    startLine: 0,
    endLine: 0,
    indent: undefined,
    preview: "",
    copies: [],
    row: -1,
  });
  assert.deepEqual([found.milliseconds, found.model, found.index, found.folder], [0, "", "", ""]);
  for (const body of [null, [], "x", { results: {} }]) assert.throws(() => answerOf(body, "q", 15), /no results/);
});

test("no more results are taken than were asked for, and no text that is longer than any of the server's", () => {
  const results = Array.from({ length: 100_000 }, () => ({ code: "x", identifier: "y".repeat(20_000) }));
  const found = answerOf({ results: [...results, null] }, "q", 15);
  assert.equal(found.results.length, 15);
  assert.equal(found.results[0]?.identifier, "");
});

test("certainty, notice and copies are taken as far as they have their form", () => {
  const certainty = { level: "weak", text: "weak match", nearest: ["QueuePool", 3, "", ..."abcdef"] };
  const copies = [{ path: "b.py", start_line: 3, end_line: 4 }, null, { path: 7 }, "x"];
  const preview = { text: "def f():", start_line: 1 };
  const body = { results: [{ code: "x", indent: 4, preview, copies }], certainty, notice: "older" };
  const found = answerOf(body, "q", 15);
  assert.deepEqual(found.certainty, { level: "weak", text: "weak match", nearest: ["QueuePool", "a", "b"] });
  assert.equal(found.notice, "older");
  assert.deepEqual(found.results[0]?.copies, [{ path: "b.py", startLine: 3, endLine: 4 }]);
  assert.deepEqual([found.results[0]?.indent, found.results[0]?.preview], [4, "def f():"]);
  for (const odd of [null, 3, [], { level: "certain" }]) {
    const none = answerOf(
      { results: [{ code: "x", copies: odd, preview: odd }], certainty: odd, notice: odd },
      "q",
      15,
    );
    assert.deepEqual(none.certainty, { level: "", text: "", nearest: [] });
    assert.deepEqual([none.notice, none.results[0]?.copies, none.results[0]?.preview], ["", [], ""]);
  }
});

const EXPLAINED = {
  query: ["read", "of"],
  code: ["lines", "read", "path"],
  fields: ["name", "tokens", "api"],
  weights: [
    [0.2, 0.7, 0.01],
    [0.4, 0.3, 0.3],
  ],
  agreement: [0.9, 0.1],
  least_agreement: 0.5,
  least_weight: 0.1,
  spans: [
    [0, 4, "read"],
    [4, 9, "lines"],
    [12, 16, "path"],
  ],
};

test("the words that agree are aligned, the strongest first", () => {
  const { words } = explanationOf(EXPLAINED, "readLines(😀 path)");
  assert.deepEqual(words, [
    {
      word: "read",
      with: [
        { word: "read", field: "tokens", weight: 0.7 },
        { word: "lines", field: "name", weight: 0.2 },
      ],
    },
    { word: "of", with: [] },
  ]);
});

test("code is cut at spans, which count characters of more than one unit once", () => {
  const { pieces } = explanationOf(EXPLAINED, "readLines(😀 path)");
  assert.deepEqual(
    pieces.map(({ text, word }) => [text, word]),
    [
      ["read", "read"],
      ["Lines", "lines"],
      ["(😀 ", ""],
      ["path", "path"],
      [")", ""],
    ],
  );
});

test("lines but the first are indented less by so many characters", () => {
  const { pieces } = explanationOf({ spans: [[4, 5, "f"]] }, "def f():\n        return 1\n  # two", 4);
  assert.equal(pieces.map(({ text }) => text).join(""), "def f():\n    return 1\n# two");
});

test("spans that overlap or lead out of the code are left out, and all of the code stays", () => {
  for (const spans of [
    [[0, 99, "a"]],
    [[2, 1, "a"]],
    [
      [0, 3, "a"],
      [1, 2, "b"],
    ],
    [["0", 1, "a"]],
    [null],
    "x",
  ]) {
    const { pieces } = explanationOf({ spans }, "code");
    assert.equal(pieces.map(({ text }) => text).join(""), "code", JSON.stringify(spans));
  }
  assert.throws(() => explanationOf([], "code"), /no explanation/);
});

test("usages are taken as far as they have their form, declarations first, and no more than were asked for", () => {
  const definitions = [{ path: "pool.py", start_line: 3, end_line: 9, signature: "def take(n)" }, null, { path: 7 }];
  const used = [{ line: 5, kind: "call", text: "take(3)", name: "Bar.serve" }, 3, { line: "x", kind: "odd", text: 1 }];
  const body = {
    text: "take: 1 definition",
    definitions,
    files: [{ path: "bar.py", usages: used }, "x", { usages: 3 }],
  };
  const { text, notice, usages } = usagesOf(body, 10);
  assert.deepEqual([text, notice], ["take: 1 definition", ""]);
  const said = usages.map(({ kind, path, startLine, shown, around }) => [kind, path, startLine, shown, around]);
  assert.deepEqual(said, [
    ["definition", "pool.py", 3, "def take(n)", ""],
    ["call", "bar.py", 5, "take(3)", "Bar.serve"],
    ["mention", "bar.py", 0, "", ""],
  ]);
  assert.equal(usagesOf(body, 1).usages.length, 1);
  for (const odd of [null, [], "x", { files: {} }]) assert.throws(() => usagesOf(odd, 9), /no usages/);
});
