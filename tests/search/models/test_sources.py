"""The table of the sources that a model learned from."""

import json

import pytest

from search.models.packed_model import write_sources


def _line(origin: str, licence: str = "MIT") -> str:
    return json.dumps({"origin": origin, "licence": licence}) + "\n"


def test_pairs_are_counted_by_repository_commit_and_licence(tmp_path):
    texts, target = tmp_path / "train-texts.jsonl", tmp_path / "sources.tsv"
    texts.write_text(_line("b/b@2") + _line("a/a@1") + _line("b/b@2") + _line("b/b@2", "ISC"))
    write_sources(texts, target)
    assert target.read_text() == "repository\tcommit\tlicence\tpairs\na/a\t1\tMIT\t1\nb/b\t2\tISC\t1\nb/b\t2\tMIT\t2\n"


@pytest.mark.parametrize(("origin", "licence"), [("a/a", "MIT"), ("@1", "MIT"), ("a/a@1", "")])
def test_a_pair_without_a_source_is_refused(tmp_path, origin, licence):
    (tmp_path / "texts").write_text(_line(origin, licence))
    with pytest.raises(ValueError, match="line 1: expected origin NAME@COMMIT and a licence"):
        write_sources(tmp_path / "texts", tmp_path / "sources.tsv")
    assert not (tmp_path / "sources.tsv").exists()
