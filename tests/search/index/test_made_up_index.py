"""Indexes that somebody made up, checksums included: they are refused in one line, or answered from without harm."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from repositories import commit, run_git
from safetensors.numpy import load, save
from serving import ask, running

from cli.main import main
from search.index.build import refresh
from search.index.index_file import FORMAT, Head, UnusableIndexError, _sum, open_index, read_head, read_whole_head
from search.serve.live_index import LiveIndex

SOURCE = "class A { /** Drains the marsh. */ void drainMarsh() { pump(); } void fillPond() { pour(); } }"


@pytest.fixture
def path(tmp_path) -> Path:
    """The index of a class in a repository that has an address."""
    root = commit(tmp_path / "repository", {"A.java": SOURCE, "b/B.java": SOURCE.replace("A", "B")})
    run_git(root, "remote", "add", "origin", "https://host.org/owner/name.git")
    refresh(root, tmp_path / "index", processes=0, tell=lambda *told: pytest.fail(str(told)))
    assert open_index(tmp_path / "index").origin.url == "https://host.org/owner/name"
    return tmp_path / "index"


def arrays_of(path):
    return dict(load(path.read_bytes().partition(b"\n")[2]))


def seal(path, content, **about):
    """Write ``content`` after a line that tells of it."""
    before = {**asdict(read_head(path)), "sum": "", **about}
    head = Head(**{**before, "bytes": len(content), "content": hashlib.sha256(content).hexdigest()})
    line = json.dumps({**asdict(head), "sum": _sum(head, content)})
    path.write_bytes(f"{FORMAT} {line}\n".encode() + content)


def with_json(name, change):
    def changed(arrays):
        value = json.loads(arrays[name].tobytes())
        arrays[name] = np.frombuffer(json.dumps(change(value)).encode(), np.uint8)

    return changed


def with_array(name, change):
    return lambda arrays: arrays.update({name: np.array(change(arrays[name]))})


def with_file(**other):
    return with_json("manifest", lambda told: told | {"files": [told["files"][0] | other, *told["files"][1:]]})


def with_manifest(**other):
    return with_json("manifest", lambda told: told | other)


def with_origin(**other):
    return with_json("manifest", lambda told: told | {"origin": told["origin"] | other})


def put(place, value):
    def changed(array):
        other = array.copy()
        other[place] = value
        return other

    return changed


def deep(arrays):
    arrays["manifest"] = np.frombuffer(b"[" * 100_000, np.uint8)


MADE_UP = {
    "no files": with_json("manifest", lambda _: {"origin": None}),
    "files that are no objects": with_json("manifest", lambda told: told | {"files": [1, 2]}),
    "a manifest that is a list": with_json("manifest", lambda told: [told]),
    "nested without end": deep,
    "as many rows as fit no memory": with_file(units=10**12),
    "fewer rows than none": with_file(units=-3),
    "rows that are no number": with_file(units="3"),
    "a path that is none": with_file(path=None),
    "a field of its own": with_file(other=1),
    "a word that is none": with_json("lexicon", lambda words: [None, *words[1:]]),
    "kinds of files that are not read as a list": with_manifest(unread=[1]),
    "repositories that are a number": with_manifest(repositories=1),
    "an old file that is not there": with_manifest(old=[[10**6, ["v1"]]]),
    "old files without words": with_manifest(old=[0]),
    "old files by words that are none": with_manifest(old=[[0, [None]]]),
    "too few words": with_json("lexicon", lambda words: words[:3]),
    "terms that are no list": with_json("lexical-terms", lambda _: {"a": 1}),
    "too few terms": with_json("lexical-terms", lambda words: words[1:]),
    "too few names": with_json("names", lambda names: names[1:]),
    "a number below none": with_array("name-values", put(0, -1)),
    "a number beyond the lexicon": with_array("tokens-values", put(0, 10**6)),
    "offsets that fall": with_array("api-offsets", put(1, 10**9)),
    "offsets that begin elsewhere": with_array("query-offsets", put(0, 1)),
    "offsets that end elsewhere": with_array("name-offsets", put(-1, 0)),
    "offsets for fewer rows": with_array("ast-offsets", lambda array: array[:-1]),
    "texts beyond the end": with_array("texts-offsets", put(-1, 10**9)),
    "a row that is not there": with_array("lexical-rows", put(0, 10**6)),
    "terms that begin nowhere": with_array("lexical-starts", put(1, -5)),
    "too few gains": with_array("lexical-gains", lambda array: array[:-1]),
    "a gain that is no number": with_array("lexical-gains", put(0, np.nan)),
    "more gains of callers": with_array("callers-gains", lambda array: np.append(array, np.float32(1))),
    "gains of another type": with_array("lexical-gains", lambda array: array.astype(np.float64)),
    "another shape": with_array("asks", lambda array: array[None]),
    "no such array": lambda arrays: arrays.pop("asks"),
    "a kind that there is not": with_array("kinds", put(0, 200)),
}


@pytest.mark.parametrize("change", MADE_UP.values(), ids=MADE_UP.keys())
def test_an_index_that_does_not_fit_together_is_refused_in_one_line(path, change):
    arrays = arrays_of(path)
    change(arrays)
    seal(path, save(arrays))
    assert read_whole_head(path).rows == 6
    with pytest.raises(UnusableIndexError, match=r"cannot be read \(.+\): remove it, and make it again by") as error:
        open_index(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "other",
    [
        {"url": "javascript:alert(1)//a/b"},
        {"url": "http://host.org/owner/name"},
        {"url": "https://me@host.org/owner/name"},
        {"commit": "../../x"},
    ],
)
def test_an_origin_that_is_none_gives_no_links(path, other):
    arrays = arrays_of(path)
    assert any(map(open_index(path).url, range(6)))
    with_origin(**other)(arrays)
    seal(path, save(arrays))
    assert not any(map(open_index(path).url, range(6)))


@pytest.mark.parametrize("content", [b"\xff" * 100, b"", b"\0" * 8, b"\x02" + bytes(7) + b"{}", b"[" * 10_000])
def test_what_is_no_array_at_all_is_refused_in_one_line(path, content):
    seal(path, content)
    with pytest.raises(UnusableIndexError, match="make it again by") as error:
        open_index(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("about", [{"rows": 10**12}, {"rows": -1}, {"files": 1}])
def test_a_first_line_that_tells_of_other_rows_is_refused(path, about):
    seal(path, path.read_bytes().partition(b"\n")[2], **about)
    with pytest.raises(UnusableIndexError, match="make it again by"):
        open_index(path)


@pytest.mark.parametrize("text", [b'{"path": 3}', b"[[[[", b"[" * 1500, b"\xff\xfe", b"null"])
def test_a_text_that_is_none_is_one_line_where_it_is_asked_for(path, capsys, text):
    arrays = arrays_of(path)
    first, after = arrays["texts-offsets"][1:3]
    line = text.ljust(after - first)
    assert len(line) == after - first or len(text) > 1000
    data, offsets = arrays["texts-data"].tobytes(), arrays["texts-offsets"].copy()
    offsets[2:] += len(line) - (after - first)
    spoilt = data[:first] + line + data[after:]
    seal(path, save(arrays | {"texts-data": np.frombuffer(spoilt, np.uint8), "texts-offsets": offsets}))
    assert main(["search", "drain marsh", f"--index={path}", "--model=none"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("galm: the text of a method is damaged")
    assert error.count("\n") == 1
    with running(LiveIndex(path, lambda _: None)) as port:
        answer = ask(port, "/api/search", {"q": "drain marsh"})
        assert (answer.status, "is damaged" in answer.told["error"]) == (500, True)
        assert ask(port, "/health").told["rows"] == 6
