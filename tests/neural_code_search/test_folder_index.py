"""The index of a folder from Python: made, brought up to date, found again, searched."""

import time

import pytest

from cli.main import main
from neural_code_search.folder_index import CodeIndex, index_folder, open_index
from neural_code_search.scoring import CodeModel, load_model

READER = """
package a;

public class LineReader {
    /** Returns all lines of the file. */
    public List<String> readLines(Path file) { return Files.readAllLines(file); }

    /** Closes the connection. */
    public void close() { socket.close(); }
}
"""


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("GALM_NATIVE", "0")
        yield


@pytest.fixture(scope="module")
def model() -> CodeModel:
    return load_model()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "LineReader.java").write_text(READER)
    return tmp_path


@pytest.fixture
def index(folder, model) -> CodeIndex:
    return index_folder(folder, model=model, processes=1)


def test_a_question_is_answered(index):
    assert len(index) == 3
    assert list(index.files) == ["src/LineReader.java"]
    hit, *_ = index.search("read all lines of a file", top=2)
    assert (hit.rank, hit.name, hit.path) == (1, "LineReader.readLines", "src/LineReader.java")
    assert (hit.start_line, hit.end_line, hit.stage) == (6, 6, "model")
    assert hit.signature == "public List<String> readLines(Path file)"
    assert hit.documentation == "Returns all lines of the file."
    assert hit.source.startswith("public List<String> readLines")
    assert (hit.url, hit.license) == ("", "")
    assert index.search("LineReader.close", top=1)[0].stage == "name"


def test_top_path_and_file_narrow_the_answer(index):
    assert len(index.search("close", top=2)) == 2
    assert len(index.search("close", by_file=True)) == 1
    assert len(index.search("close", path="src/*")) == 3


def test_it_is_the_index_of_the_command_line(index, folder, model, capsys):
    assert main(["index", str(folder)]) == 0
    assert "nothing has changed" in capsys.readouterr().out
    assert str(index.path) not in capsys.readouterr().err
    for place in (folder, index.path):
        assert open_index(place, model=model).search("close the connection")[0].name == "LineReader.close"


def test_vectors_lie_beside_it(index):
    assert index.path.with_name("index.vectors").is_file()
    engine = index._live.opened().engine
    assert engine.retriever is not None


@pytest.mark.usefixtures("index")
def test_changes_are_read(folder, model):
    (folder / "Sum.java").write_text("class Sum { int total(int[] values) { return IntStream.of(values).sum(); } }")
    assert len(index_folder(folder, model=model)) == 5


def test_the_file_may_be_named(folder, model, tmp_path):
    out = tmp_path / "elsewhere" / "my.index"
    assert index_folder(str(folder), out=str(out), model=model).path == out
    assert out.is_file()


def test_what_is_left_out_of_a_file_is_a_warning(folder, model, caplog):
    (folder / "Long.java").write_text("class Long {}" + " " * (4 << 20))
    index_folder(folder, model=model)
    assert [each.getMessage() for each in caplog.records if "Long.java" in each.getMessage()]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder, _: index_folder(folder / "nowhere"), "there is no folder "),
        (lambda folder, _: index_folder(folder / "empty"), "has no source file"),
        (lambda folder, _: index_folder(folder, out=folder), "is a folder: name a file"),
        (lambda folder, _: index_folder(folder, processes=-1), "expected processes to be 0 or more, got -1"),
        (lambda folder, _: open_index(folder / "nowhere"), "there is no index of .*: make one with index_folder"),
        (lambda folder, _: open_index(folder / "empty"), "there is no index of .*: make one with index_folder"),
        (lambda folder, _: open_index(folder / "src" / "LineReader.java"), "does not begin"),
        (lambda _, index: index.search(" "), "expected a question in words or a name"),
        (lambda _, index: index.search("x" * 2001), "at most 2,000 characters"),
        (lambda _, index: index.search("close", top=0), "expected top to be 1 or more, got 0"),
        (lambda _, index: index.search("close", path="test/*"), r"path 'test/\*' matches nothing in the index's "),
        (lambda _, index: index.usages("close", path="test/*"), r"path 'test/\*' matches nothing in the index's "),
        (lambda _, index: index.certainty("close", path="test/*"), r"path 'test/\*' matches nothing in the index's "),
        (lambda folder, _: index_folder(folder, model="my-run"), "model is what load_model returns, not 'my-run'"),
        (lambda folder, _: open_index(folder, model="my-run"), "model is what load_model returns, not 'my-run'"),
    ],
)
def test_a_mistake_is_told_in_a_line(folder, index, call, message):
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match=message) as error:
        call(folder, index)
    assert "\n" not in str(error.value)


def test_the_certainty_is_of_the_files_as_they_are(index, folder):
    assert index.certainty("rotate a picture").level != "strong"
    (folder / "src" / "pictures.py").write_text("def rotate_picture(picture):\n    return picture.rotated(90)\n")
    until = time.monotonic() + 30  # one question waits for half a second at most
    while index.certainty("rotate a picture").level != "strong" and time.monotonic() < until:
        time.sleep(0.05)
    assert index.certainty("rotate a picture").level == "strong"
