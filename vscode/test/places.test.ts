import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

import { addressOf, shown } from "../src/core/address.ts";
import { filesOf, lineOf } from "../src/core/places.ts";
import { notice, oneLine, safeUrl } from "../src/core/plain.ts";

test("this machine, and another one only if that is allowed", () => {
  for (const host of ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]"])
    assert.ok(addressOf(host, 8765, false).local, host);
  assert.equal(shown(addressOf("[::1]", 1, false)), "http://[::1]:1");
  for (const host of ["search.example.com", "0.0.0.0", "127.0.0.1.example.com", "10.0.0.1"]) {
    assert.throws(
      () => addressOf(host, 443, false),
      /^Error: Nothing was sent: .* is not this machine.*allowOtherHost\.$/,
      host,
    );
    assert.equal(shown(addressOf(host, 443, true)), `https://${host}:443`);
  }
  for (const host of ["", "a b", "user@host", "host/path", "host:80", "http://host"]) {
    assert.throws(() => addressOf(host, 443, true), /takes the name of a host/, host);
  }
});

test("a file of the index is in the folder that the server names, and else in that of the workspace", async () => {
  await inTree(["indexed/ws/src/x.py", "indexed/lib/y.py", "home/z.py"], async (top) => {
    const [ws, indexed] = [join(top, "indexed", "ws"), join(top, "indexed")];
    const found = async (file: string, named: string, home = join(top, "home")): Promise<string[]> =>
      (await filesOf(ws, file, named, home)).map((each) => relative(top, each));
    assert.deepEqual(await found("src/x.py", ""), ["indexed/ws/src/x.py"]);
    assert.deepEqual(await found("ws/src/x.py", ""), ["indexed/ws/src/x.py"]);
    assert.deepEqual(await found("lib/y.py", indexed), ["indexed/lib/y.py"]);
    for (const named of ["", ws, join(ws, "src"), join(top, "home"), "indexed", `${indexed}\0`, `${indexed}/none`])
      assert.deepEqual(await found("lib/y.py", named), [], named);
    assert.deepEqual(await found("home/z.py", indexed), []);
    for (const named of [top, "/"]) assert.deepEqual(await found("home/z.py", named), [], "has the user's home in it");
    assert.deepEqual(await found("home/z.py", top, "/nowhere"), ["home/z.py"]);
    for (const file of [
      "../lib/y.py",
      "a/../../lib/y.py",
      join(indexed, "lib/y.py"),
      "",
      "lib//y.py",
      "./x",
      "a\0b",
      "lib",
    ])
      assert.deepEqual(await found(file, indexed), [], JSON.stringify(file));
  });
});

test("no link leads out of it, and the folder may be reached by one", async () => {
  await inTree(["ws/x.py", "out/y.py"], async (top) => {
    symlinkSync(join(top, "out"), join(top, "ws", "out"));
    symlinkSync(join(top, "out", "y.py"), join(top, "ws", "y.py"));
    symlinkSync(join(top, "ws"), join(top, "again"));
    for (const file of ["out/y.py", "y.py"]) assert.deepEqual(await filesOf(join(top, "ws"), file, ""), [], file);
    for (const named of ["", join(top, "ws"), join(top, "again")])
      assert.equal((await filesOf(join(top, "again"), "x.py", named))[0], join(top, "again", "x.py"), named);
    assert.ok((await filesOf(join(top, "again"), "out/y.py", top, "/nowhere")).includes(join(top, "out", "y.py")));
  });
});

/** Run with the real path of a folder that has these files. */
async function inTree(files: readonly string[], run: (top: string) => Promise<void>): Promise<void> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "extension-places-")));
  try {
    for (const file of files) {
      mkdirSync(dirname(join(top, file)), { recursive: true });
      writeFileSync(join(top, file), "");
    }
    await run(top);
  } finally {
    rmSync(top, { recursive: true });
  }
}

test("a result is found in its file, also if that has changed", () => {
  const text = "import x\r\n\r\nclass A:\r\n    def f(self):\r\n        return 1\r\n\r\n    def g(self): ...\r\n";
  const code = "def f(self):\n        return 1";
  assert.equal(lineOf(text, code, 3), 3);
  assert.equal(lineOf(text, code, 0), 3);
  assert.equal(lineOf(text, code, 99), 3);
  assert.equal(lineOf(text, "def h(self):\n        return 1", 3), -1);
  assert.equal(lineOf("f();\nf();\nf();\n", "f();", 1), 1);
  assert.equal(lineOf("", code, 0), -1);
});

test("lines that are all alike are searched in linear time", () => {
  const alike = "x\n".repeat(300_000);
  assert.equal(lineOf(`${alike}z\n`, `${"x\n".repeat(50)}y\nx\n`, -1), -1);
  assert.equal(lineOf(`y\n${alike}`, alike, 5), 5);
  assert.equal(lineOf(`${alike}y\n${alike}`, `y\n${alike}`, 0), 300_000);
});

test("texts from elsewhere are one printable line", () => {
  assert.equal(oneLine("  a\r\n\tb\u202e\u0000c\u2028d \ud800"), "a b c d");
  assert.equal(oneLine("größe 😀 文"), "größe 😀 文");
  assert.equal(oneLine("a".repeat(9), 5), "aaaa…");
  assert.equal(oneLine("aaa😀😀", 5), "aaa…");
  assert.equal(safeUrl("https://example.com/a b#L1-L2"), "https://example.com/a%20b#L1-L2");
});

test("VS Code takes nothing in a notice for a link or an icon", () => {
  const link = "[Open it](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22touch%20X%5Cn%22%7D)";
  assert.equal(notice(`${link}.py`), `${link.replace("](", "] (")}.py`);
  assert.equal(notice("[a]\u200b(command:b) $(bug) $\u00ad(bug) [a](](b"), "[a] (command:b) $ (bug) $ (bug) [a] (] (b");
  assert.equal(notice("f(x)[1] (y)\n\u{e0041}z"), "f(x)[1] (y) z");
  assert.ok(notice("[](".repeat(10_000)).length < 1500);
});
