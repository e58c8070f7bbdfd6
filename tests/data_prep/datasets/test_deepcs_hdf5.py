"""What DeepCS was trained on, in HDF5 files as its authors made them, and what is refused of others."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_prep.datasets.paper_releases import DeepcsJava
from data_prep.records import UNKNOWN
from tests.data_prep.datasets.paper_clones import ROWS, made


class Hdf5:
    """Files as PyTables writes them for DeepCS."""

    def __init__(self) -> None:
        self.h5py = pytest.importorskip("h5py", reason="needs requirements-hdf5.txt")
        self.blosc = pytest.importorskip("blosc", reason="needs requirements-hdf5.txt")

    def write(self, path: Path, rows: list[list[int]], *, chunk: int = 16) -> None:
        words = np.array([word for each in rows for word in each], "<i2")
        lengths = [len(each) for each in rows]
        places = [*zip(lengths, np.cumsum([0, *lengths[:-1]]), strict=True)]
        with self.h5py.File(path, "w") as file:
            file["indices"] = np.array(places, [("length", "<u4"), ("pos", "<u4")])
            plan = self.h5py.h5p.create(self.h5py.h5p.DATASET_CREATE)
            plan.set_chunk((chunk,))
            plan.set_filter(32_001, self.h5py.h5z.FLAG_OPTIONAL, (2, 2, 2, 2 * chunk, 5, 1))
            space = self.h5py.h5s.create_simple((len(words),), (self.h5py.h5s.UNLIMITED,))
            data = self.h5py.h5d.create(file.id, b"phrases", self.h5py.h5t.STD_I16LE, space, plan)
            for start in range(0, len(words), chunk):
                block = np.zeros(chunk, "<i2")
                block[: len(words) - start] = words[start : start + chunk]
                data.write_direct_chunk((start,), self.blosc.compress(block.tobytes(), 2, cname="blosclz"))

    def release(self, folder: Path) -> Path:
        """What DeepCS trains on and tests with, of ROWS."""
        folder.mkdir()
        for field, name in {"query": "desc", "name": "methname", "tokens": "tokens", "api": "apiseq"}.items():
            ids = {"<s>": 0, "</s>": 0, "UNK": 1}
            for part, own in (("train", ROWS[10:]), ("test", ROWS[:10])):
                known = [[ids.setdefault(word, len(ids) - 1) for word in row[field]] for row in own]
                self.write(folder / f"{part}.{name}.h5", [[1, *each[1:]] for each in known])
            body = b"".join(
                b"U" + struct.pack("B", len(word)) + word.encode() + b"M" + struct.pack("<H", number)
                for word, number in ids.items()
            )
            (folder / f"vocab.{name}.pkl").write_bytes(b"\x80\x02}(" + body + b"u.")  # as Python 2 writes it
        return folder


def test_what_deepcs_was_trained_on_is_read_from_its_hdf5(tmp_path: Path) -> None:
    folder = Hdf5().release(tmp_path / "deepcs")
    splits, _ = made(DeepcsJava, folder)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 48, "valid": 2, "test": 10}
    assert [pair.query for pair in splits["test"]] == [(UNKNOWN, *row["query"][1:]) for row in ROWS[:10]]
    assert splits["test"][9].words("tokens") == (UNKNOWN, *ROWS[9]["tokens"][1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path, _: path.write_bytes(path.read_bytes()[:700]), "is damaged ("),
        (lambda path, _: path.write_bytes(b"no such file" * 99), "is damaged ("),
        (lambda path, form: form.write(path, [[1], [2]]), "has 2 rows, but test.desc.h5 10"),
        (lambda path, form: form.write(path, [[900]] * 10), "has numbers that"),
        (lambda path, form: linked(path, form.h5py), "has no data set phrases"),
        (
            lambda path, form: outside(path, form.h5py),
            "its data set phrases is of another form, or in another",
        ),
        (lambda path, form: beyond(path, form.h5py), "has rows beyond its words"),
        (lambda path, form: large(path, form.h5py), "such a file does not unpack to"),
    ],
)
def test_hdf5_that_is_no_release_is_one_line(
    tmp_path: Path, change: Callable[[Path, Hdf5], None], message: str
) -> None:
    form = Hdf5()
    folder = form.release(tmp_path / "deepcs")
    change(folder / "test.tokens.h5", form)
    with pytest.raises(ValueError, match=r"test\.tokens\.h5 ") as error:
        made(DeepcsJava, folder)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def linked(path: Path, h5py: Any) -> None:
    with h5py.File(path, "a") as file:
        del file["phrases"]
        file["phrases"] = h5py.ExternalLink("test.desc.h5", "/phrases")


def outside(path: Path, h5py: Any) -> None:
    path.with_name("secret").write_bytes(b"\1\0" * 99)
    with h5py.File(path, "a") as file:
        del file["phrases"]
        file.create_dataset("phrases", (99,), "<i2", external=[(str(path.with_name("secret")), 0, 198)])


def beyond(path: Path, h5py: Any) -> None:
    with h5py.File(path, "a") as file:
        places = file["indices"][:]
        places["pos"] += 10_000
        file["indices"][:] = places


def large(path: Path, h5py: Any) -> None:
    with h5py.File(path, "a") as file:
        del file["phrases"]
        file.create_dataset("phrases", (1 << 40,), "<i2", chunks=(1 << 20,))


def test_without_the_library_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("desc", "methname", "tokens", "apiseq"):
        (tmp_path / f"test.{name}.h5").touch()
        (tmp_path / f"vocab.{name}.pkl").write_bytes(b"\x80\x02}(U\x01aK\x00U\x01bK\x01u.")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"test\.desc\.h5 needs h5py: bash run\.sh install hdf5$"):
        made(DeepcsJava, tmp_path)
