// Answers of a hostile server, made at random from good ones with a fixed seed, and what the extension makes of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Answer, explanationOf } from "../src/core/answers.ts";
import { ServerError } from "../src/core/client.ts";
import { panelPage } from "../src/core/panel.ts";
import { filesOf, lineOf } from "../src/core/places.ts";
import { notice } from "../src/core/plain.ts";
import { attribution, doubt, folderName, place, resultsDocument } from "../src/core/results_document.ts";
import { answers, asked } from "./answering.ts";
import { answer, named, result } from "./samples.ts";

const ROUNDS = 400;
const TOP = 15;
/** What VS Code 1.96 takes for a link in a notification. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^\)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const RUNS = "[Open it](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22touch%20X%5Cn%22%7D)";
const FILES = {
  origin: "https://files.example",
  script: "https://files.example/a.js",
  style: "https://b.example/b.css",
};

const HIT = {
  rank: 1,
  row: 3,
  identifier: "f",
  code: "def f():\n    return 1\n",
  path: "src/a.py",
  start_line: 1,
  end_line: 2,
  url: "https://example.com/a",
  license: "MIT",
  score: 0.5,
  indent: 4,
  preview: { text: "def f():", start_line: 1, end_line: 1, best_line: 1, kinds: [], words: [] },
  copies: [{ path: "src/b.py", start_line: 1, end_line: 2 }],
};
const CERTAINTY = { level: "weak", absent: ["a"], nearest: ["f"], text: "weak match; no file has a" };
const ABOUT = { language: "python", model: "context", took_ms: 1.5, index: "abc", folder: "/src", notice: "older" };
const FOUND = { ...ABOUT, certainty: CERTAINTY, results: [HIT, HIT] };
const EXPLAINED = {
  query: ["read", "of"],
  code: ["f", "return"],
  fields: ["name", "tokens"],
  weights: [
    [0.2, 0.7],
    [0.4, 0.3],
  ],
  agreement: [0.9, 0.6],
  least_agreement: 0.5,
  least_weight: 0.1,
  spans: [
    [4, 5, "f"],
    [13, 19, "return"],
  ],
};

/** Numbers from 0 to 1 (mulberry32). */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ODD: readonly unknown[] = [
  null,
  true,
  {},
  [],
  [[[]]],
  "",
  RUNS,
  `${RUNS}\n\u202e\u0000\u2028\ud800*/`,
  `</code><script src="x">"'&`,
  "../../etc/passwd",
  "/etc/passwd",
  "//host/share",
  "C:\\x",
  "a\0b",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "constructor",
  "__proto__",
  "\n".repeat(5000),
  "x".repeat(30_000),
  -1,
  0.5,
  1e308,
  -1e308,
  2 ** 53,
];

/** `value` with some of its parts replaced by odd ones, left out or repeated. */
function changed(value: unknown, next: () => number): unknown {
  const one = next();
  if (one < 0.06) return ODD[Math.floor(next() * ODD.length)];
  if (Array.isArray(value)) {
    const all = value.map((each) => changed(each, next));
    return one < 0.12 ? Array.from({ length: 300 }, (_, at) => all[at % all.length]) : all;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(() => next() > 0.02);
  return Object.fromEntries(kept.map(([name, each]) => [name, changed(each, next)]));
}

/** `text` as JSON, now and then with bytes that are changed or cut off. */
function damaged(body: unknown, next: () => number): string {
  const text = JSON.stringify(body);
  const at = Math.floor(next() * text.length);
  if (next() < 0.9) return text;
  return next() < 0.5 ? text.slice(0, at) : `${text.slice(0, at)}${'"[]{},:9e\\'[at % 10]}${text.slice(at + 1)}`;
}

test("whatever a server answers, it is read, or refused in one sentence without a link", async () => {
  const next = numbers(20240501);
  let [read, refused] = [0, 0];
  let body = "";
  await asked(
    (...words) =>
      answers(next() < 0.8 ? 200 : [302, 400, 404, 409, 413, 500, 503][Math.floor(next() * 7)]!, body)(...words),
    async (client) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const error = { error: next() < 0.5 ? `the index has no ${RUNS}, but ${RUNS}` : ODD[round % ODD.length] };
        body = damaged(next() < 0.2 ? error : changed(FOUND, next), next);
        try {
          await checked(await client.search({ query: RUNS, context: "", language: "python", top: TOP }));
          read += 1;
        } catch (failed) {
          assert.ok(failed instanceof ServerError, `${String((failed as Error).stack)}\n${body.slice(0, 500)}`);
          isPlain(notice(failed.message));
          refused += 1;
        }
      }
    },
  );
  assert.ok(read > ROUNDS / 4 && refused > ROUNDS / 4, `${read} read, ${refused} refused`);
});

function isPlain(shown: string): void {
  assert.doesNotMatch(shown, LINK);
  assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\$\(/u);
  assert.ok(shown.length < 1500);
}

/** That an answer has the types that are declared, and what is shown of it is plain. */
async function checked(found: Answer): Promise<void> {
  assert.ok(found.results.length <= TOP && Number.isFinite(found.milliseconds));
  const language = named("python");
  const { text, headings } = resultsDocument({ ...found, results: found.results.map(coded) }, language);
  assert.equal(headings.length, found.results.length);
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/))
    assert.ok(line === "" || line === "CODE" || line.startsWith("#"), line);
  isPlain(notice([doubt(found), found.notice, folderName(found)].join("; ")));
  const page = panelPage(found, new Map(), named("python"), FILES);
  assert.deepEqual(page.match(/<script[^>]*>/g), [`<script src="${FILES.script}">`]);
  for (const each of found.results) {
    for (const value of [each.code, each.identifier, each.url, each.license, each.path])
      assert.equal(typeof value, "string");
    for (const value of [each.startLine, each.endLine, each.row]) assert.ok(Number.isSafeInteger(value));
    for (const shown of [...attribution(each), place(each), each.identifier, each.path]) isPlain(notice(shown));
    lineOf("x\ny\n", each.code, each.startLine - 1);
    assert.deepEqual(await filesOf("/nowhere/ws", each.path, found.folder), []);
  }
}

const coded = (each: Answer["results"][number]): typeof each => ({ ...each, code: "CODE" });

test("whatever explanation a server gives, all of the code stays, and weights are numbers", () => {
  const next = numbers(7);
  for (let round = 0; round < 10 * ROUNDS; round += 1) {
    const body = changed(EXPLAINED, next);
    if (typeof body !== "object" || body === null || Array.isArray(body)) continue;
    const { words, pieces } = explanationOf(JSON.parse(JSON.stringify(body)), HIT.code);
    assert.equal(pieces.map(({ text }) => text).join(""), HIT.code);
    for (const aligned of words)
      for (const { word, field, weight } of aligned.with)
        assert.ok(typeof word === "string" && typeof field === "string" && Number.isFinite(weight));
  }
});

test("an answer of two million results is refused, and one of hundreds of thousands costs little", async () => {
  const many = (count: number): string => `{"results":[${'{"code":""},'.repeat(count)}{"code":""}]}`;
  const question = { query: "q", context: "", language: "python", top: TOP };
  await asked(answers(200, many(2_000_000)), (client) => assert.rejects(client.search(question), /too large/), 20_000);
  await asked(
    answers(200, many(500_000)),
    async (client) => assert.equal((await client.search(question)).results.length, TOP),
    20_000,
  );
});

test("code of a million lines, blank or not, is shown in linear time", () => {
  for (const code of ["\n".repeat(1e6), `${"\n".repeat(1e6)}x`, "x\n".repeat(1e6)]) {
    const { headings } = resultsDocument(answer([result({ code }), result()]), named("go"));
    assert.equal(headings.length, 2);
  }
});
