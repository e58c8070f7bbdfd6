import assert from "node:assert/strict";
import { test } from "node:test";

import { contextOf, LARGEST_CONTEXT } from "../src/core/context.ts";

test("a short text is sent whole", () => {
  for (const text of ["", "import json\n", "no line end", "größe 😀\r\n"]) assert.equal(contextOf(text), text);
});

test("of a long text the end is sent, from the beginning of a line", () => {
  assert.equal(contextOf("first\nsecond\nthird\n", 13), "second\nthird\n");
  assert.equal(contextOf("first\nsecond\nthird\n", 12), "third\n");
  assert.equal(contextOf("first\nsecond\nthird\n", 6), "third\n");
  assert.equal(contextOf("first\nsecond\nthird\n", 5), "");
  assert.equal(contextOf("first\nsecond\nthird\n", 0), "");
});

test("bytes are counted, not characters", () => {
  assert.equal(contextOf("a\nää\n", 5), "ää\n");
  assert.equal(contextOf("a\nää\n", 4), "");
  assert.equal(contextOf("x\n😀\n", 5), "😀\n");
  assert.equal(contextOf("x\n😀\n", 4), "");
});

test("every cut is the longest one of whole lines", () => {
  const lines = ["import json", "", "class Größe:", "    # 😀", "    pass"].map((line) => `${line}\n`);
  const text = lines.join("");
  for (let largest = 0; largest <= Buffer.byteLength(text) + 2; largest += 1) {
    const tails = lines.map((_, at) => lines.slice(at).join("")).concat("");
    const expected = tails.find((tail) => Buffer.byteLength(tail) <= largest);
    assert.equal(contextOf(text, largest), expected, String(largest));
  }
});

test("one line that is too long, ten megabytes, and halves of characters", () => {
  assert.equal(contextOf("x".repeat(LARGEST_CONTEXT + 1)), "");
  const cut = contextOf("some line\n".repeat(1 << 20));
  assert.ok(cut.startsWith("some line\n") && Buffer.byteLength(cut) <= LARGEST_CONTEXT);
  assert.ok(Buffer.byteLength(cut) > LARGEST_CONTEXT - 10);
  assert.equal(contextOf("a\ud800b\n"), "a\ufffdb\n");
});
