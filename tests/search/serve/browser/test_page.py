"""The page in a real Chromium, driven by ``check.mjs``, wherever node, Chromium and playwright-core are installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from growing import FILES as BASKETS
from growing import Slow
from repositories import commit, run_git, write
from serving import index_of, running, running_app

from search.index.build import refresh
from search.models.packed import reranker_maker
from search.quality.query_file import Judgements
from search.serve.live_index import LiveIndex
from search.serve.partial_index import OpeningIndex
from search.serve.web_app import web_app
from search.snippets import command
from tests.data_prep.posts.dumps import small_dump

HERE = Path(__file__).parent
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NO_PLAYWRIGHT = 77
HURT = "<img src=x onerror=window.hurt=1>"

ORDINARY = """\
package io;

/** Lines of files. */
public final class Lines {
    private static final int LIMIT = 0x10;

    /** Reads all lines of a file. */
    @Override
    public List<String> readAllLines(Path path, Charset charset) throws IOException {
        // no more than that
        String quote = "a // text with \\\\" quotes";
        try (BufferedReader reader = Files.newBufferedReader(path, charset)) {
            List<String> lines = new ArrayList<>(LIMIT);
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
            return lines;
        }
    }

    /** Writes lines to a file. */
    public void writeLines(Path path, List<String> lines) throws IOException {
        Files.write(path, lines);
    }

    /** Counts the words of a text. */
    public int countWords(String text) {
        return text.split(" ").length;
    }

    /** Closes the socket of a connection quietly. */
    public void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException ignored) {
            log.fine("not closed");
        }
    }
}
""".replace('\\\\"', '\\"')

HOSTILE = f"""\
/** Anything. */
class Hostile {{
    /** Escapes &lt;img src=x onerror=window.hurt=1&gt; and &lt;/script&gt;&lt;script&gt;hurt=1&lt;/script&gt;. */
    @Markup("{HURT}")
    String escapeMarkup(String markup) {{
        String smile = "\U0001f600", turned = "\u202e</script><script>window.hurt=1</script>"; // {HURT}
        return markup.replace("<", "&lt;");
    }}
}}
"""


USED = "def twice(x):\n    return 2 * x\n\n\ndef fourfold(x):\n    return twice(x) * 2\n"
PYTHON = """\
def read_lines(paths):
    lines = []
    for path in paths:
        lines += read(path)
    return lines
"""
SHELVES = "\n    ".join(f"Shelf {n}" for n in range(60))
CATALOGUE = f'class Catalogue:\n    """{SHELVES}"""\n\n    def shelve(self):\n        pass\n'


def chromium() -> str | None:
    """The program that GALM_CHROMIUM names, or the first of those that there may be."""
    downloaded = sorted((Path.home() / ".cache/ms-playwright").glob("chromium-*/chrome-linux*/chrome"))
    named, *usual = os.environ.get("GALM_CHROMIUM", ""), *COMMANDS, *PLACES, *map(str, downloaded)
    return next(filter(None, map(shutil.which, [named] if named else usual)), None)


def without_playwright(node: str) -> str:
    """Why node finds no playwright-core; "" where it does."""
    load = f'(await import("{(HERE / "browser.mjs").as_uri()}")).playwright()'
    done = subprocess.run(
        [node, "--input-type=module", "--eval", load], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != NO_PLAYWRIGHT:
        assert done.returncode == 0, done.stderr
        return ""
    return f"playwright-core, which GALM_PLAYWRIGHT may name ({done.stderr.strip()})"


@pytest.fixture(scope="module")
def browser() -> tuple[str, str]:
    """The programs node and Chromium; where something is missing, the test is left out and says what."""
    node, program = shutil.which("node"), chromium()
    sought = os.environ.get("GALM_CHROMIUM") or " or ".join(COMMANDS)
    missing = [
        "" if node else "node (not on PATH)",
        "" if program else f"Chromium (no program {sought}; GALM_CHROMIUM may name one)",
        without_playwright(node) if node else "",
    ]
    if node is None or program is None or any(missing):
        pytest.skip(f"the page needs a browser; missing: {'; '.join(filter(None, missing))}")
    return node, program


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    files = {"io/Lines.java": ORDINARY, f"web/{HURT}.java": HOSTILE, "io/reading.py": PYTHON, "io/used.py": USED}
    files["io/shelves.py"] = CATALOGUE
    root = commit(folder / "tree", files)
    run_git(root, "remote", "add", "origin", "https://github.com/owner/name.git")
    live = LiveIndex(index_of(root, folder / "index"), reranker_maker(""))
    command.index_posts([str(small_dump(folder)), f"--root={folder / 'data'}", f"--out={folder / 'posts'}"])
    judgements = Judgements(folder / "judged" / "queries.json")
    with running(live, "default", judgements=judgements, root=root, posts=folder / "posts") as port:
        yield port


def test_a_page_asks_again_once_all_is_indexed(browser, tmp_path):
    node, program = browser
    root, partial, failures = write(tmp_path / "shop", BASKETS), Slow(), []
    path = tmp_path / "index"

    def make():
        refresh(root, path, processes=0, tell=lambda *_: None, watch=partial)
        return LiveIndex(path, lambda _: None)

    live = OpeningIndex(make, failures.append, partial=partial, root=root)
    with running_app(web_app(live, "none", root=root)) as (port, _):
        command = [node, HERE / "growing.mjs", f"http://127.0.0.1:{port}", program]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
            assert page.stdout is not None
            try:
                seen = [page.stdout.readline()]
                partial.look.set()
                seen.append(page.stdout.readline())
            finally:
                partial.look.set()
                partial.go_on.set()
            seen.append(page.stdout.readline())
    assert seen == ["page\n", "some\n", "all: 60 functions, types and files of 30 files\n"]
    assert not failures


def test_the_page_in_a_browser(browser, port, tmp_path):
    node, program = browser
    done = subprocess.run(
        [node, HERE / "check.mjs", f"http://127.0.0.1:{port}", program, tmp_path],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.count("\nok ") >= 28, done.stdout
