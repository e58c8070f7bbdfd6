"""The page in a real Chromium, driven by ``check.mjs``; what it needs is not installed with the tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repositories import commit, run_git
from serving import index_of, running

from search.serve.live_index import LiveIndex, reader_maker

HERE = Path(__file__).parent
NODE, CHROMIUM = shutil.which("node"), os.environ.get("GALM_CHROMIUM") or shutil.which("chromium")
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


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    root = commit(folder / "tree", {"io/Lines.java": ORDINARY, f"web/{HURT}.java": HOSTILE})
    run_git(root, "remote", "add", "origin", "https://github.com/owner/name.git")
    live = LiveIndex(index_of(root, folder / "index"), reader_maker(""))
    with running(live, "default") as port:
        yield port


@pytest.mark.skipif(NODE is None or CHROMIUM is None, reason="node or chromium is not installed")
def test_the_page_in_a_browser(port, tmp_path):
    done = subprocess.run(
        [NODE, HERE / "check.mjs", f"http://127.0.0.1:{port}", CHROMIUM, tmp_path],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if done.returncode == NO_PLAYWRIGHT:
        pytest.skip("playwright-core is not found: name its folder by GALM_PLAYWRIGHT")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.count("\nok ") >= 15, done.stdout
