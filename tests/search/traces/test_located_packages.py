"""Frames in installed packages, and in one of several files that are called alike."""

import pytest
from repositories import write
from serving import index_of

from data_prep.traces.trace import Frame, read_trace
from search.engine.engine import Engine
from search.hits import View
from search.index.frame_locator import FrameLocator
from search.index.index_file import open_index
from search.snippets.answer import answer_text
from search.snippets.show import as_text

TS = "export function parse(a) {\n  return inner(a);\n}\n\nfunction inner(a) {\n  throw new Error(a);\n}\n"
MAIN = "fn main() {{\n    let port = {};\n    serve(port);\n}}\n\nfn serve(port: u16) {{\n    listen(port);\n}}\n"
FILES = {
    "packages/zod/src/core/parse.ts": TS,
    "packages/mini/src/core/parse.ts": TS.replace("inner", "other"),
    "axum/src/routing/router.rs": "impl Router {\n    fn route(&self) {\n        self.add();\n    }\n}\n",
    "axum-core/src/routing/router.rs": "fn core_route() {\n    add();\n}\n",
    "activesupport/lib/core/time.rb": "class Clock\n  def now\n    raise 'x'\n  end\nend\n",
    "render/json.go": "package render\n\nfunc Render() {\n\tpanic(1)\n}\n",
    "submodule/render/json.go": "package render\n\nfunc RenderOther() {\n\tpanic(1)\n}\n",
    "examples/hello-world/src/main.rs": MAIN.format(1),
    "examples/readme/src/main.rs": MAIN.format(2),
    "examples/chat/src/main.rs": MAIN.format(3),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    return open_index(index_of(write(folder / "tree", FILES), folder / "index"))


def place(index, frame):
    """The path and name of a frame's row; None: it has none."""
    row = FrameLocator(index).located([frame])[0].row
    return None if row is None else (index.file(row).path, index.names[row])


ZOD, RUST = ("packages/zod/src/core/parse.ts", "inner"), ("axum/src/routing/router.rs", "Router.route")
CARGO = "/home/ann/.cargo/registry/src/index.example.org-6f17d22bba15001f"


@pytest.mark.parametrize(
    ("path", "line", "name", "expected"),
    [
        ("/app/node_modules/zod/src/core/parse.ts", 6, "inner", ZOD),
        ("/app/node_modules/zod/src/core/parse.ts", 6, "", ZOD),
        ("node_modules/zod/src/core/parse.ts", 6, "inner", ZOD),
        ("/app/node_modules/@scope/zod/src/core/parse.ts", 6, "inner", ZOD),
        ("/app/node_modules/.pnpm/zod@3.2.1/node_modules/zod/src/core/parse.ts", 6, "inner", ZOD),
        ("/app/node_modules/nested/node_modules/zod/src/core/parse.ts", 6, "inner", ZOD),
        ("/app/node_modules/@zod/mini/src/core/parse.ts", 6, "", ("packages/mini/src/core/parse.ts", "other")),
        ("/app/node_modules/yup/src/core/parse.ts", 6, "inner", None),
        (f"{CARGO}/axum-0.7.5/src/routing/router.rs", 3, "Router.route", RUST),
        (f"{CARGO}/axum-0.8.0-rc.1/src/routing/router.rs", 3, "Router.route", RUST),
        (f"{CARGO}/axum-core-0.4.3/src/routing/router.rs", 2, "", ("axum-core/src/routing/router.rs", "core_route")),
        (f"{CARGO}/tower-0.4.3/src/routing/router.rs", 3, "Router.route", None),
        (
            "/usr/lib/ruby/gems/3.2.0/gems/activesupport-7.1.2/lib/core/time.rb",
            3,
            "Clock.now",
            ("activesupport/lib/core/time.rb", "Clock.now"),
        ),
        (
            "/home/ann/go/pkg/mod/example.com/acme/submodule/v2@v2.1.0/render/json.go",
            4,
            "",
            ("submodule/render/json.go", "RenderOther"),
        ),
    ],
)
def test_an_installed_package_that_has_a_folder_of_its_own(index, path, line, name, expected):
    assert place(index, Frame(path, line, name)) == expected


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (Frame("src/main.rs", 2, "main"), None),
        (Frame("src/main.rs", 2, "main", package="app"), None),
        (Frame("src/main.rs", 2, ""), None),
        (Frame("src/main.rs", 2, "main", package="hello_world"), "examples/hello-world/src/main.rs"),
        (Frame("src/main.rs", 2, "main", package="example_chat"), "examples/chat/src/main.rs"),
        (Frame("readme/src/main.rs", 2, "main", package="app"), "examples/readme/src/main.rs"),
        (Frame("src/main.rs", 2, "main", code="let port = 3;"), "examples/chat/src/main.rs"),
        (Frame("src/main.rs", 7, "serve"), "examples/chat/src/main.rs"),  # the same everywhere
    ],
)
def test_a_file_that_is_called_as_others_needs_more_than_that(index, frame, expected):
    assert (found := place(index, frame)) == expected or (found and found[0] == expected)


def test_what_is_in_several_files_alike_is_told(index):
    place = "./src/main.rs:2:5"
    text = f"thread 'main' panicked at {place}:\nboom\n   1: app::main\n             at {place}\n"
    trace, engine = read_trace(text), Engine(index, None)
    assert {each.several for each in FrameLocator(index).located(trace.frames)} == {3}
    assert trace.frames[-1].package == "app"
    shown = as_text(View.of(engine, "", None), answer_text(engine, text), 0.0)
    assert "not in the index: src/main.rs:2 main (in which of 3 files is not certain)" in shown
