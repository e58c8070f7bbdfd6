"""Programs of four languages that fail, and the traces that they print when they are run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import write

PYTHON = {
    "app/store.py": '''\
"""Stores."""
import json


class Store:
    """Reads settings."""

    def load(self, text):
        """Load a text."""
        def inner(part):
            return json.loads(part)
        return [inner(part) for part in [text]]


def repeat(times):
    return repeat(times - 1) if times else 1 / 0


def load_all():
    try:
        Store().load("{")
    except ValueError as error:
        raise RuntimeError("cannot load\\nthe settings") from error
''',
    "main.py": """\
from app import store


def main():
    run = lambda: store.load_all()
    try:
        run()
    except RuntimeError:
        store.repeat(20)


main()
""",
}
JAVASCRIPT = {
    "lib/runner.mjs": """\
export class Runner {
  constructor(limit) {
    this.limit = limit;
  }

  async start(task) {
    return this.step(task);
  }

  step(task) {
    return [1].map(item => task.missing.field);
  }
}

export const go = async () => {
  try {
    await new Runner(1).start(null);
  } catch (error) {
    throw new TypeError("outer\\nsecond", { cause: error });
  }
};
""",
    "main.mjs": 'import { go } from "./lib/runner.mjs";\nawait go();\n',
}
JAVA = {
    "Machine.java": """\
import java.util.List;

public class Machine {
  static class Resource implements AutoCloseable {
    public void close() {
      throw new IllegalStateException("closing");
    }
  }

  Machine(int count) {
    List.of(1, 2).forEach(each -> check(count / (each - 1)));
  }

  void check(int count) { }

  static void outer() {
    try (Resource resource = new Resource()) {
      new Machine(1);
    } catch (ArithmeticException error) {
      throw new RuntimeException("wrapped", error);
    }
  }

  public static void main(String[] names) {
    new Object() {
      void go() {
        outer();
      }
    }.go();
  }
}
""",
}
GO = {
    "web/server.go": """\
package web

type Server struct{ hits []int }

// Start starts.
func (s *Server) Start(at int) int {
	run := func() int {
		return s.hits[at]
	}
	return run()
}

func Map[T any](items []T, each func(T) T) T {
	return each(items[0])
}
""",
    "main.go": "package main\n\nfunc main() {\n\tserve()\n}\n\nfunc serve() {\n\tnew(web.Server).Start(5)\n}\n",
}
GO_TRACE = """2024/05/01 10:00:00 starting
panic: runtime error: index out of range [5] with length 0 [recovered]

goroutine 1 [running]:
example.com/shop/web.(*Server).Start.func1(...)
	/build/shop/web/server.go:8
example.com/shop/web.(*Server).Start(0xc0000b2000, 0x5)
	/build/shop/web/server.go:10 +0x1d
example.com/shop/web.Map[...](0x1, {0x4b0, 0x5})
	/build/shop/web/server.go:14 +0x22
main.serve()
	/build/shop/main.go:8 +0x25
main.main()
	/build/shop/main.go:4 +0x1a

goroutine 18 [chan receive, 2 minutes]:
runtime.gopark(0x0)
	/usr/local/go/src/runtime/proc.go:381 +0xd6
...3 frames elided...
created by main.serve in goroutine 1
	/build/shop/main.go:8 +0x8c
exit status 2
"""


def printed(root: Path, files: dict[str, str], *command: str) -> str:
    """What a program that fails prints on standard error."""
    write(root, files)
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} on this machine")
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=root, env=bare, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    return done.stderr


def python_trace(root: Path) -> str:
    return printed(root, PYTHON, sys.executable, str(root / "main.py"))


def javascript_trace(root: Path) -> str:
    return printed(root, JAVASCRIPT, "node", "main.mjs")


def java_trace(root: Path) -> str:
    return printed(root, JAVA, "java", "-XX:TieredStopAtLevel=1", "Machine.java")
