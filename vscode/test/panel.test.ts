import assert from "node:assert/strict";
import { test } from "node:test";

import { ACTIONS, panelPage, wishOf } from "../src/core/panel.ts";
import { answer, named, result } from "./samples.ts";

const FILES = {
  origin: "https://files.example",
  script: "https://files.example/panel.js",
  style: "https://files.example/panel.css",
};
const HOSTILE = `</code><script>hurt()</script><img src=x onerror="hurt()">'&`;

test("the page runs and loads the extension's files only", () => {
  const page = panelPage(answer([result()]), new Map(), named("python"), FILES);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1];
  assert.equal(
    policy,
    "default-src &#39;none&#39;; script-src https://files.example; style-src https://files.example; base-uri &#39;none&#39;; form-action &#39;none&#39;",
  );
  assert.deepEqual(page.match(/<script[^>]*>/g), ['<script src="https://files.example/panel.js">']);
});

test("texts of an answer are escaped", () => {
  const results = [
    result({
      code: HOSTILE,
      identifier: HOSTILE,
      license: HOSTILE,
      path: HOSTILE,
      url: `https://example.com/${HOSTILE}`,
    }),
  ];
  const page = panelPage(answer(results, { query: HOSTILE }), new Map(), named("python"), FILES);
  assert.equal(page.match(/<script/g)?.length, 1);
  assert.doesNotMatch(page, /<img|onerror="/);
  assert.ok(page.includes("<pre><code>&lt;/code&gt;&lt;script&gt;hurt()"));
});

test("what was judged is pressed", () => {
  const judged = new Map([
    [0, true],
    [1, false],
  ]);
  const page = panelPage(answer([result(), result(), result()]), judged, named("python"), FILES);
  const pressed = [...page.matchAll(/data-action="(relevant|irrelevant)" aria-pressed="(\w+)"/g)].map(
    (found) => `${found[1]} ${found[2]}`,
  );
  assert.deepEqual(pressed, [
    "relevant true",
    "irrelevant false",
    "relevant false",
    "irrelevant true",
    "relevant false",
    "irrelevant false",
  ]);
  assert.match(panelPage(answer([]), new Map(), named("python"), FILES), /Nothing was found/);
});

test("how certain the answer is, where it is from, that it may be old, and copies", () => {
  const certainty = {
    level: "weak",
    text: `weak match; no file has ${HOSTILE}`,
    nearest: ["QueuePool", HOSTILE],
  } as const;
  const copies = [{ path: HOSTILE, startLine: 3, endLine: 4 }];
  const weak = answer([result({ copies })], { certainty, notice: HOSTILE, folder: `/srv/${HOSTILE.replace("/", "")}` });
  const page = panelPage(weak, new Map(), named("python"), FILES);
  assert.match(page, /<p class="doubt">weak match; no file has &lt;[^<]*nearest names: QueuePool, &lt;/);
  assert.match(page, /<p class="notice">&lt;\/code&gt;/);
  assert.match(page, /<p class="about">and 1 copy: &lt;\/code&gt;[^<]*:3-4<\/p>/);
  assert.equal(page.match(/<script/g)?.length, 1);
  assert.doesNotMatch(page, /<img|onerror="/);
  const strong = { level: "strong", text: "strong match", nearest: [] } as const;
  const sure = panelPage(
    answer([result()], { certainty: strong, folder: "C:\\src\\httpx\\" }),
    new Map(),
    named("python"),
    FILES,
  );
  assert.match(sure, /strong match: 1 result in httpx with the text above the query\./);
  assert.doesNotMatch(sure, /class="doubt"|class="notice"/);
});

test("long code is folded behind the lines that show it, and all of it is indented as it stands alone", () => {
  const lines = Array.from({ length: 12 }, (_, at) => `        line${at} = "<b>"`);
  const code = ["def f(self):", ...lines].join("\n");
  const page = panelPage(
    answer([result({ code, indent: 4, preview: '    line3 = "<b>"' }), result()]),
    new Map(),
    named("python"),
    FILES,
  );
  assert.ok(page.includes('<pre class="glance">    line3 = &quot;&lt;b&gt;&quot;</pre>'));
  assert.ok(page.includes("<details><summary>All 13 lines</summary><pre><code>def f(self):\n    line0 = "));
  assert.equal(page.match(/<details>/g)?.length, 1);
});

test("the score is short", () => {
  const page = panelPage(
    answer([result({ score: 0.67110825 }), result({ score: undefined })]),
    new Map(),
    named("python"),
    FILES,
  );
  assert.match(page, / · score 0\.671<\/p>/);
  assert.match(page, / · score not known, since the index has no vectors<\/p>/);
});

test("only wishes about results that there are", () => {
  for (const action of ACTIONS) assert.deepEqual(wishOf({ action, result: 1 }, 2), { action, result: 1 });
  for (const message of [
    null,
    "copy",
    {},
    { action: "copy" },
    { action: "run", result: 0 },
    { action: "copy", result: 2 },
    { action: "copy", result: -1 },
    { action: "copy", result: 0.5 },
  ]) {
    assert.equal(wishOf(message, 2), undefined, JSON.stringify(message));
  }
});
