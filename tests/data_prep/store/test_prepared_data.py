"""The store gives back what was put in, byte for byte the same each time, and notices every damage."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data_prep.records import CODE_FIELDS, SPLITS, WORD_FIELDS, Method, Pair, SplitName
from data_prep.store.arrays import edges
from data_prep.store.prepared_data import (
    FORMAT_VERSION,
    MANIFEST,
    limit_pairs,
    manifest_sha256,
    open_prepared,
    sealed_file,
    write_prepared,
)
from data_prep.store.split import DamagedStore, Split


def pair(number: int) -> Pair:
    """A pair whose words tell its number; some fields are empty, some words are not ASCII."""
    fields = {field: tuple(f"{field}{n}" for n in range(number % 4)) for field in CODE_FIELDS}
    fields["name"] = ("größe", f"n{number}")
    method = Method(
        "jdk-17.0.21", f"a/F{number}.java", number + 1, number + 3, "F.Inner", f"n{number}", "method",
        f"int n{number}() {{\n\treturn '\u2028\ud800';\n}}", "/** N. */", fields,
    )  # fmt: skip
    return Pair(method, f"Returns “{number}”.", ("returns", str(number)))


SIZES = {"train": 70, "valid": 10, "test": 21}


@pytest.fixture
def pairs() -> dict[SplitName, list[Pair]]:
    return {name: [pair(100 * place + n) for n in range(SIZES[name])] for place, name in enumerate(SPLITS)}


@pytest.fixture
def folder(tmp_path: Path, pairs: Mapping[SplitName, Sequence[Pair]]) -> Path:
    write_prepared(tmp_path / "jdk", pairs, {"dataset": "jdk"})
    return tmp_path / "jdk"


def check_same(split: Split, pairs: Sequence[Pair]) -> None:
    assert len(split) == len(pairs)
    for row, expected in enumerate(pairs):
        for field in WORD_FIELDS:
            assert split.word_list(field, row) == list(expected.words(field))
        text, method = split.text(row), expected.method
        assert (text.origin, text.path, text.start_line, text.end_line) == (
            method.origin, method.path, method.start_line, method.end_line,
        )  # fmt: skip
        assert (text.type_name, text.method_name, text.source) == (method.type_name, method.name, method.source)
        assert text.query_text == expected.query_text


def test_pairs_come_back(folder: Path, pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    data = open_prepared(folder)
    assert data.manifest["dataset"] == "jdk"
    assert data.manifest["split_sizes"] == SIZES
    for name in SPLITS:
        check_same(data.splits[name], pairs[name])
    lexicon = list(data.splits["train"].lexicon)
    assert lexicon == sorted(
        {word for each in pairs.values() for p in each for f in WORD_FIELDS for word in p.words(f)}
    )


def test_taken_rows_come_back_in_order(folder: Path, pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    rows = [5, 0, 5, 69]
    taken = open_prepared(folder).splits["train"].take(np.array(rows))
    check_same(taken, [pairs["train"][row] for row in rows])
    check_same(taken.take(np.array([3, 0])), [pairs["train"][row] for row in (69, 5)])


def test_lines_are_those_of_the_texts(pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    split = Split.of("train", pairs["train"])
    written = split.texts.data.tobytes()
    for stored in (written, written.replace(b'"start_line":', b'"start_line": ')):  # as another program writes JSON
        lengths = np.array([len(line) + 1 for line in stored.splitlines()])
        texts = replace(split.texts, data=np.frombuffer(stored, np.uint8), offsets=edges(lengths))
        again = replace(split, texts=texts)
        for row in range(len(again)):
            text = again.text(row)
            assert again.lines(row) == (text.start_line, text.end_line)


def test_a_split_in_memory_is_the_same(pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    check_same(Split.of("valid", pairs["valid"]), pairs["valid"])


def test_arrays_are_mapped_not_read(folder: Path) -> None:
    values = open_prepared(folder).splits["train"].words["tokens"].values
    assert isinstance(values.base, np.memmap)
    assert not values.flags.writeable


def test_empty_splits_are_kept(tmp_path: Path) -> None:
    write_prepared(tmp_path / "few", {"train": [pair(1)]}, {})
    data = open_prepared(tmp_path / "few")
    assert {name: len(data.splits[name]) for name in SPLITS} == {"train": 1, "valid": 0, "test": 0}


def test_same_pairs_give_the_same_bytes(folder: Path, pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    again = folder.with_name("again")
    write_prepared(again, pairs, {"dataset": "jdk"})
    for file in folder.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name


def test_every_flipped_byte_is_noticed(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for place in {0, len(whole) // 2, len(whole) - 1}:
            damaged = bytearray(whole)
            damaged[place] ^= 1
            file.write_bytes(bytes(damaged))
            with pytest.raises(DamagedStore, match=file.name):
                open_prepared(folder)
        file.write_bytes(whole)
    open_prepared(folder)


def test_every_missing_or_shortened_file_is_noticed(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DamagedStore, match=file.name):
            open_prepared(folder)
        file.unlink()
        with pytest.raises(DamagedStore, match=f"{file.name} is missing"):
            open_prepared(folder)
        file.write_bytes(whole)


def test_reasons_are_one_line_each(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    for text, reason in (
        ("{", "cannot be read"),
        ("[]", "format None"),
        (json.dumps(manifest | {"format_version": FORMAT_VERSION + 1}), f"format {FORMAT_VERSION + 1}"),
        (json.dumps(manifest | {"dataset": "csn"}), "changed after"),
    ):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(DamagedStore, match=reason) as caught:
            open_prepared(folder)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("limit", [3, 4, 10, 50, 100])
def test_limit_is_kept_and_shared_out(folder: Path, limit: int) -> None:
    data = limit_pairs(open_prepared(folder), limit, seed=3)
    sizes = {name: len(data.splits[name]) for name in SPLITS}
    assert sum(sizes.values()) == limit
    for name in SPLITS:
        assert sizes[name] >= 1
        assert abs(sizes[name] - limit * SIZES[name] / 101) < 2
        assert (np.diff(data.splits[name].texts.rows) > 0).all()


def test_limit_draws_by_seed(folder: Path) -> None:
    data = open_prepared(folder)

    def drawn(seed: int) -> list[int]:
        return limit_pairs(data, 40, seed).splits["train"].texts.rows.tolist()

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
    assert max(drawn(0)) > 40  # not merely the first ones


def test_no_limit_is_all_of_it(folder: Path) -> None:
    data = open_prepared(folder)
    assert limit_pairs(data, 0) is data
    assert limit_pairs(data, 101) is data
    with pytest.raises(ValueError, match=r"--data.limit takes 0 \(all\) or at least 3"):
        limit_pairs(data, 2)


def sealed_again(folder: Path) -> None:
    """A manifest that says what the files are now, with a valid checksum."""
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"] = [sealed_file(folder / each["name"]) for each in manifest["files"]]
    (folder / MANIFEST).write_text(json.dumps(manifest | {"manifest_sha256": manifest_sha256(manifest)}))


def check_damaged(folder: Path) -> None:
    with pytest.raises(DamagedStore) as caught:
        open_prepared(folder)
    assert "\n" not in str(caught.value)


def test_a_manifest_nested_without_end_is_damage(folder: Path) -> None:
    for depth in (900, 100_000):
        nested = "[" * depth + "]" * depth
        (folder / MANIFEST).write_text(f'{{"format_version": {FORMAT_VERSION}, "a": {nested}}}')
        check_damaged(folder)


def test_files_that_changed_places_are_damage(folder: Path, pairs: Mapping[SplitName, Sequence[Pair]]) -> None:
    other = folder.with_name("other")
    write_prepared(other, {name: each[1:] for name, each in pairs.items()}, {"dataset": "jdk"})
    for name in (MANIFEST, "lexicon.json", "train-query-values.npy", "test-texts-offsets.npy"):
        own, strange = folder / name, (other / name).read_bytes()
        whole = own.read_bytes()
        own.write_bytes(strange)
        check_damaged(folder)
        own.write_bytes(whole)
    open_prepared(folder)


@pytest.mark.parametrize("change", [("start_line", "begin"), ('"path":', '"path" '), ("Returns", '"'), ("{", "[")])
def test_a_made_up_text_is_damage_where_it_is_asked_for(folder: Path, change: tuple[str, str]) -> None:
    file = folder / "train-texts.jsonl"
    file.write_text(file.read_text().replace(change[0], change[1].ljust(len(change[0]))))
    sealed_again(folder)
    split = open_prepared(folder).splits["train"]
    with pytest.raises(DamagedStore, match="the text of a method is damaged") as caught:
        split.text(3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [MANIFEST, "lexicon.json", "train-query-values.npy", "test-texts.jsonl"])
def test_a_pipe_or_a_device_is_damage_at_once(folder: Path, name: str) -> None:
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (folder / name).unlink()
        make(folder / name)
        check_damaged(folder)
