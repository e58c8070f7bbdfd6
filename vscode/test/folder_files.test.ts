import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { hasOtherFile } from "../src/core/folder_files.ts";
import { named } from "./samples.ts";

test("whether a folder has another file of a language", async () => {
  const folder = mkdtempSync(join(tmpdir(), "extension-files-"));
  const write = (path: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "");
  };
  const has = (name: string, most?: number): Promise<boolean | undefined> =>
    hasOtherFile(folder, named(name).suffixes, join(folder, "own.go"), most);
  try {
    for (const path of ["own.go", "a/b/c.tsx", "node_modules/a/b.js", ".venv/a.java", "ago", "go.mod"]) write(path);
    symlinkSync(folder, join(folder, "a", "again"));
    const found = await Promise.all(["go", "typescript", "javascript", "java"].map((name) => has(name)));
    assert.deepEqual(found, [false, true, false, false]);
    assert.deepEqual([await has("go", 2), await has("typescript", 2)], [undefined, undefined]);
    write("a/other.go");
    assert.equal(await has("go", 2), true);
    assert.equal(await hasOtherFile(join(folder, "none"), [".go"], ""), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
