import io
import os
import pickle
import random
import struct
from pathlib import Path

import pytest

from data_prep.sources import tabcs_release as pickles
from data_prep.sources.tabcs_release import PlainUnpickler, load_plain

RELEASES = Path(__file__).parents[4] / "shared" / "data" / "published"
PLAIN = [[1, 255, 256, 65_535, 65_536, -1], [], [2**31 - 1], {"get": 1, "größe": 2, "": 3, "\x00\uffff": 4}, "word", 7]


def refused(folder: Path, data: bytes) -> str:
    path = folder / "some.pkl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"some\.pkl is refused") as caught:
        load_plain(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class Command:
    """Runs a command when it is loaded."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("value", [PLAIN, *PLAIN, [list(range(3000))] * 3], ids=lambda value: str(value)[:20])
def test_plain_things_come_back(tmp_path: Path, value: object, protocol: int) -> None:
    path = tmp_path / "some.pkl"
    path.write_bytes(pickle.dumps(value, protocol))
    assert load_plain(path) == value


def test_words_as_python_2_writes_them_come_back(tmp_path: Path) -> None:
    path = tmp_path / "some.pkl"
    words = {"get": 1, "größe": 2, "": 3}
    body = (
        b"U" + struct.pack("B", len(word.encode())) + word.encode() + b"K%c" % number for word, number in words.items()
    )
    path.write_bytes(b"\x80\x02}q\x00(" + b"".join(body) + b"u.")
    assert load_plain(path) == words
    assert "it is cut short" in refused(tmp_path, b"\x80\x02]q\x00U\x09abc")
    assert "it is cut short" in refused(tmp_path, b"\x80\x02]q\x00U")


@pytest.mark.parametrize("release", ["csn", "jcg"])
def test_the_release_reads_as_pickle_itself_reads_it(release: str) -> None:
    files = sorted((RELEASES / release).glob("*.pkl"))
    if not files:
        pytest.skip(f"needs the files of the release beside the repository, in ../shared/data/published/{release}")
    assert len(files) >= 10
    for path in files:
        assert load_plain(path) == PlainUnpickler(io.BytesIO(path.read_bytes())).load()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_command_is_not_run(tmp_path: Path, protocol: int) -> None:
    data = pickle.dumps([1, Command(f"touch '{tmp_path / 'was here'}'")], protocol)
    refused(tmp_path, data)
    with pytest.raises(pickle.UnpicklingError, match=r"it names \w+\.system"):
        PlainUnpickler(io.BytesIO(data)).load()
    assert not (tmp_path / "was here").exists()
    pickle.loads(data)  # what the others would have done
    assert (tmp_path / "was here").exists()


def test_what_is_kept_elsewhere_is_not_asked_for(tmp_path: Path) -> None:
    for data in (b"\x80\x03K\x01Q.", b"\x80\x03Pname\n."):
        assert "makes something else" in refused(tmp_path, data)
        with pytest.raises(pickle.UnpicklingError, match="persistent id"):
            PlainUnpickler(io.BytesIO(data)).load()


@pytest.mark.parametrize("value", [1.5, None, True, b"bytes", (1, 2), {1}, 2**40], ids=str)
def test_other_things_are_refused(tmp_path: Path, value: object) -> None:
    assert "makes something else" in refused(tmp_path, pickle.dumps([value], 3))


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    whole = pickle.dumps(PLAIN, 3)
    for length in range(2, len(whole)):
        assert "cut short" in refused(tmp_path, whole[:length])
    assert "goes on behind its end" in refused(tmp_path, whole + whole)


@pytest.mark.parametrize("data", [b"", b"\x80", b"id,word\n1,get\n", b"(lp0\n.", pickle.dumps([1], 4), b"\x1f\x8b\x08"])
def test_what_is_no_pickle_of_the_release_is_told(tmp_path: Path, data: bytes) -> None:
    assert "no pickle of protocol 2 or 3" in refused(tmp_path, data)


def test_few_bytes_cannot_ask_for_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first would make a memo of 32 GiB, the others strings of 4 GiB and 1 TiB."""
    memo = b"\x80\x03]r" + struct.pack("<I", 2**31 - 1) + b"."
    assert "numbers more objects than it has" in refused(tmp_path, memo)
    assert "cut short" in refused(tmp_path, b"\x80\x03X" + struct.pack("<I", 2**32 - 1) + b"word.")
    for eight_bytes in (b"\x8d", b"\x8e", b"\x96", b"\x95"):
        data = b"\x80\x03" + eight_bytes + struct.pack("<Q", 2**40) + b"word."
        assert "makes something else" in refused(tmp_path, data)
    monkeypatch.setattr(pickles, "_MOST_OBJECTS", 1000)
    assert "more than 1,000 objects" in refused(tmp_path, b"\x80\x03" + b"]" * 1001 + b".")
    monkeypatch.setattr(pickles, "LARGEST", 1 << 20)
    assert "more than 1 MiB" in refused(tmp_path, b"\x80\x03" + b"]" * (1 << 20))


def test_a_list_in_itself_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "some.pkl"
    path.write_bytes(b"\x80\x03]q\x00h\x00a.")
    (inner,) = load_plain(path)
    assert inner == [inner]


@pytest.mark.parametrize(
    "program",
    [b"a.", b"]a.", b"K\x01K\x02a.", b"}]K\x01s.", b"](K\x05K\x06u.", b"h\x00.", b"(.", b".", b"]X\x01\0\0\0\xffa."],
)
def test_instructions_that_do_not_fit_together_are_one_line(tmp_path: Path, program: bytes) -> None:
    refused(tmp_path, b"\x80\x03" + program)


def test_any_damage_is_one_line_or_another_plain_thing(tmp_path: Path) -> None:
    whole, draw = pickle.dumps(PLAIN * 3, 3), random.Random(0)
    path, failed = tmp_path / "some.pkl", 0
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            load_plain(path)
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017 - many damages are none
            failed += 1
    assert failed > 150
