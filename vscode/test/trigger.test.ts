import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

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
});

const INSIDE: readonly [string, string][] = [
  ["python", 'def f():\n    """\n    A docstring.\n'],
  ["python", "x = '''\n"],
  ["python", 'x = """a \\""" b\n'],
  ["python", 'x = """a " b "" c\n'],
  ["python", '# it\'s\nx = rb"""\n'],
  ["java", 'String s = """\n'],
  ["java", "// it's\n/* it's */ char c = '\"'; String s = \"\"\"\n"],
  ["javascript", "const s = `\n"],
  ["javascript", "const s = `a ${b} c\n"],
  ["javascript", "const s = `a ${f({ b: `x` })} c \\` d\n"],
  ["javascript", "const r = /[`/]`/g, s = `\n"],
  ["typescript", "const s: string = x / y + `\n"],
  ["go", "s := `a \\\n"],
];
const OUTSIDE: readonly [string, string][] = [
  ["python", ""],
  ["python", '"""Module."""\nimport json\n'],
  ["python", "x = 'not closed\n"],
  ["python", 'x = "a\\"b" + \'c\'  # a """ in a comment\n'],
  ["java", '/* """ */ String s = """\n  text""";\n// """\n'],
  ["java", "char c = '\"';\n"],
  ["javascript", "const s = `a ${f({ b: `x` })} c`;\n"],
  ["javascript", "const s = `a ${b +\n"],
  ["javascript", "const r = /[`/]`/g; // `\n/* ` */\n"],
  ["javascript", "return a / b / c;\n"],
  ["typescript", 'const s = "`";\n'],
  ["go", "s := `a \\`\n"],
  ["go", "r := '`'\n"],
];

test("a comment in a string asks for nothing", () => {
  for (const [name, above] of INSIDE) {
    const language = named(name);
    assert.equal(queryBelow(above, `  ${language.mark} search: x`, language), "", `${name}: ${above}`);
  }
});

test("a comment after strings and other comments asks", () => {
  for (const [name, above] of OUTSIDE) {
    const language = named(name);
    assert.equal(queryBelow(above, `  ${language.mark} search: x`, language), "x", `${name}: ${above}`);
  }
});

test("ten megabytes above are read in one pass", () => {
  const above = 'x = "a" / b // c\n/* ` */ y = `z ${ {} }`\n'.repeat(220_000);
  assert.equal(queryBelow(above, "// search: x", named("javascript")), "x");
});
