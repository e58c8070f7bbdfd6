import assert from "node:assert/strict";
import { test } from "node:test";

import { standingAlone } from "../src/core/code.ts";
import { named } from "./samples.ts";

const CASES: readonly [string, string, string][] = [
  ["java", "int f() {\n        return 1;\n    }", "int f() {\n    return 1;\n}"],
  ["go", "func (a A) f() {\n\treturn\n}", "func (a A) f() {\n\treturn\n}"],
  ["javascript", "f() {\r\n\t\treturn `a\r\nb`;\r\n\t}", "f() {\n\treturn `a\nb`;\n}"],
  ["python", "@property\n    def f(self):\n        return 1", "@property\ndef f(self):\n    return 1"],
  [
    "python",
    "@a(\n        1\n    )\n    async def f(self):\n        return 1\n",
    "@a(\n    1\n)\nasync def f(self):\n    return 1",
  ],
  [
    "java",
    "@Override\n    public int f() {\n        return 1;\n    }",
    "@Override\npublic int f() {\n    return 1;\n}",
  ],
  ["python", "def f(self):\n        return 1", "def f(self):\n        return 1"],
  [
    "python",
    "def f(self):\n        return [\n            1,\n        ]",
    "def f(self):\n        return [\n            1,\n        ]",
  ],
  ["java", "    int f() {\n    }", "    int f() {\n    }"],
  ["java", "\n\nint x;\n", "int x;"],
  ["java", "", ""],
];

test("the indentation that the server names, of which a line may have less", () => {
  const code = "def f(self):\r\n        return [\n            1,\n        ]\n  # two\n\n";
  const expected = "def f(self):\n    return [\n        1,\n    ]\n# two";
  assert.equal(standingAlone(code, named("python"), 4), expected);
  assert.equal(standingAlone("int f() {\n\t}", named("java"), 0), "int f() {\n\t}");
  assert.equal(standingAlone("int f() {\n\t}", named("java"), -3), "int f() {\n\t}");
});

test("the indentation that the first line has lost", () => {
  for (const [name, code, expected] of CASES) assert.equal(standingAlone(code, named(name)), expected);
});
