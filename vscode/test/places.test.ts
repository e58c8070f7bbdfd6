import assert from "node:assert/strict";
import { sep } from "node:path";
import { test } from "node:test";

import { addressOf, shown } from "../src/core/address.ts";
import { lineOf, placesOf } from "../src/core/places.ts";
import { oneLine, safeUrl } from "../src/core/plain.ts";

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

test("a file of the index is below the folder or one above it", { skip: sep === "\\" }, () => {
  assert.deepEqual(placesOf("/a/b", "src/x.py"), ["/a/b/src/x.py", "/a/src/x.py", "/src/x.py"]);
  for (const file of ["../x.py", "a/../../x.py", "/etc/passwd", "", "a//b", "./x", "a\0b"]) {
    assert.deepEqual(placesOf("/a/b", file), [], JSON.stringify(file));
  }
});

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

test("texts from elsewhere are one printable line", () => {
  assert.equal(oneLine("  a\r\n\tb\u202e\u0000c\u2028d \ud800"), "a b c d");
  assert.equal(oneLine("größe 😀 文"), "größe 😀 文");
  assert.equal(oneLine("a".repeat(9), 5), "aaaa…");
  assert.equal(oneLine("aaa😀😀", 5), "aaa…");
  assert.equal(safeUrl("https://example.com/a b#L1-L2"), "https://example.com/a%20b#L1-L2");
});
