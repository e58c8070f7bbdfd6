import assert from "node:assert/strict";
import { test } from "node:test";

import { lackingFailure, programFailure } from "../src/core/failure.ts";

test("an empty index is told, and can be made again", () => {
  const line = "galm: the index /i is empty: index a folder that has source files";
  const { message, helps } = programFailure("The server ended", line);
  assert.equal(message, `The server ended: ${line}`);
  assert.deepEqual(helps, ["Index This Folder"]);
});

test("of what a program said the beginning of its last line is told, and the log has the rest", () => {
  const { message, helps } = programFailure("The server ended", `OSError: disk\n\tfull ${"x".repeat(1000)}`);
  assert.match(message, /^The server ended: OSError: disk full x+…$/);
  assert.ok(message.length < 200);
  assert.deepEqual(helps, ["Show Log"]);
  assert.equal(programFailure("Indexing failed", "").message, "Indexing failed: it said nothing");
});

test("where the index lacks a language, indexing is offered only if that helps", () => {
  const said = "The index has no Go, but Python.";
  const told = [true, false, undefined].map((others) => lackingFailure(said, "Go", others));
  assert.deepEqual(
    told.map(({ message, helps }) => [message, helps]),
    [
      [`${said} This folder has Go files: index it to find them.`, ["Index This Folder"]],
      [`${said} This folder has no other Go file.`, []],
      [said, []],
    ],
  );
});
