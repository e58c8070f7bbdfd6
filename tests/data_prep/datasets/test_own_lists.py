"""Corpora beside the five languages: PHP and Ruby, and lists of one's own in any language."""

from pathlib import Path

import pytest

from cli.main import main
from data_prep.config import DataConfig
from data_prep.datasets.source_trees import (
    LEAVE_OUT,
    PHP_RUBY,
    REPOSITORIES,
    SevenLanguages,
    connected,
    read_repositories,
)
from data_prep.languages.language import Language
from data_prep.languages.registry import corpus_languages, language, language_called, languages
from data_prep.pipeline.splits import splits_of_trees
from data_prep.prepare import prepare
from data_prep.records import SPLITS
from tests.data_prep.datasets.check_list import differences
from tests.data_prep.datasets.corpus_trees import LICENCE, head_of, write_list
from tests.search.repositories import commit

NOUNS = ("file", "line", "table", "graph", "token", "socket", "buffer", "queue", "record", "packet", "matrix", "vector")
RUST = """
/// {Verb} the {noun} of a {other}, whatever it has.
///
/// # Panics
/// If it is empty.
pub fn {verb}_{noun}(input: &str) -> usize {{
    let {other} = input.{verb}();
    {other}.len() + {number}
}}
"""
RUBY = """
  # {Verb} the {noun} of a {other}, whatever it has.
  # @param input [String]
  sig {{ params(input: String).returns(Integer) }}
  def {verb}_{noun}(input)
    {other} = input.{verb}
    {other}.size + {number}
  end
"""


def source(form: str, number: int) -> str:
    """Functions with other words than those of other numbers."""
    found = []
    for place, verb in enumerate(("reads", "writes", "opens", "joins", "counts", "moves")):
        noun, other = NOUNS[(number + place) % 12], NOUNS[(3 * number + 5 * place + 1) % 12]
        words = {"verb": f"{verb}{number}", "Verb": verb.title(), "noun": noun, "other": f"{other}{number}"}
        found.append(form.format(**words, number=number * place))
    return "".join(found)


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Path:
    """A folder with clones of six repositories of Rust and Ruby, and their list."""
    folder = tmp_path_factory.mktemp("own")
    found = []
    for number in range(6):
        files = {"LICENSE": LICENCE, "src/lib.rs": source(RUST, number)}
        files["lib/a.rb"] = f"class Reader{number}\n{source(RUBY, number + 6)}end\n"
        clone = commit(folder / "me" / f"tool{number}", files)
        found.append((f"me/tool{number}", head_of(clone), clone))
    write_list(folder / "list.txt", found, languages="Rust, rb")
    return folder


def arguments(folder: Path, root: Path, **options: str) -> list[str]:
    given = {"path": str(folder / "list.txt"), "mirrors": str(folder), "root": str(root), "processes": "1", **options}
    return ["prepare", "repositories", *(f"--data.{name}={text}" for name, text in given.items())]


@pytest.mark.parametrize(("typed", "suffixes"), [("rs", {".rs"}), ("RUBY", {".rb"}), ("all", {".rs", ".rb"})])
def test_a_list_of_ones_own_gives_pairs_of_its_languages(typed, suffixes, own, tmp_path):
    places = {"path": str(own / "list.txt"), "mirrors": str(own), "root": str(tmp_path)}
    config = DataConfig(**places, language=typed, processes=1)
    data = prepare("repositories", config, command="", say=lambda _: None)
    texts = [data.splits[name].text(row) for name in SPLITS for row in range(len(data.splits[name]))]
    assert {Path(text.path).suffix for text in texts} == suffixes
    assert len(texts) == 36 * len(suffixes)
    assert all(text.query_text.endswith("whatever it has.") for text in texts)
    assert data.folder.name == f"repositories-{language_called(typed)}"


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (("me/tool", "me/gone"), {}, "none of 6 source trees can be read, me/gone0: "),
        (("\t", " "), {}, "list.txt:2: expected owner/name, commit, licence and languages, separated by tabs"),
        (("Rust", "Rast"), {}, "list.txt:2: there is no language 'Rast'; there are python, "),
        ((), {"language": "cobol"}, "there is no language 'cobol'; there are python, "),
        ((), {"language": "C#"}, "repositories lists nothing of --data.language=csharp, but of rust, ruby"),
        ((), {"mirrors": "/nothing"}, "--data.mirrors=/nothing is no folder"),
        ((), {"path": "/nothing.txt"}, "--data.path=/nothing.txt cannot be read"),
    ],
)
def test_a_mistake_is_one_line(change, options, said, own, tmp_path, capsys):
    text = (own / "list.txt").read_text()
    (tmp_path / "list.txt").write_text(text.replace(*change) if change else text)
    given = {"mirrors": str(own), "language": "rust", **options}
    assert main(arguments(tmp_path, tmp_path / "root", **given)) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert said in last


def test_a_commit_that_a_clone_lacks_is_named(own, tmp_path, capsys):
    lines = (own / "list.txt").read_text().splitlines()
    lines[1] = "me/tool0\t" + "1" * 40 + "\tMIT\trust"
    (tmp_path / "list.txt").write_text("\n".join(lines))
    assert main(arguments(tmp_path, tmp_path / "root", mirrors=str(own), language="rust")) == 0
    assert f"left out me/tool0: the clone lacks commit {'1' * 40}" in capsys.readouterr().out


def test_without_a_licence_the_reason_is_said(tmp_path, capsys):
    clone = commit(tmp_path / "me" / "tool", {"src/lib.rs": source(RUST, 0)})
    write_list(tmp_path / "list.txt", [("me/tool", head_of(clone), clone)], languages="rust")
    assert main(arguments(tmp_path, tmp_path / "root", language="rust")) == 2
    said = capsys.readouterr().err
    assert "0 pairs of 1 source trees are too few" in said
    assert "0 of 1 files have functions; of the others 1: licence not recognised" in said


@pytest.mark.parametrize("found", languages(), ids=lambda found: found.name)
def test_a_language_is_known_by_its_name_title_and_suffix(found: Language):
    for typed in (found.name, found.title, found.title.upper(), f" {found.suffixes[0][1:]}", *found.other_names):
        assert language_called(typed) == found.name
        assert DataConfig(language=typed).language == found.name


def test_what_is_no_language_stays_as_it_is():
    assert [language_called(typed) for typed in ("all", "Cobol", "", "c+")] == ["all", "Cobol", "", "c+"]
    with pytest.raises(ValueError, match="there is no language 'Cobol'"):
        language(language_called("Cobol"))


def test_php_and_ruby_are_listed_beside_the_five_languages():
    added, both = read_repositories(PHP_RUBY), read_repositories(REPOSITORIES, PHP_RUBY)
    assert both == [*read_repositories(REPOSITORIES), *added]
    for name in ("php", "ruby"):
        trees = [tree.name for tree, named in added if named == (name,)]
        assert len(trees) >= 30
        assert len({tree.partition("/")[0] for tree in trees}) > 0.8 * len(trees)
    measured = LEAVE_OUT.read_text().lower().split()
    assert not {tree.name.lower() for tree, _ in both} & set(measured)
    assert set(SevenLanguages(DataConfig(language="all")).languages) == {*corpus_languages(), "php", "ruby"}


def test_only_repositories_are_read_that_matter_for_a_language():
    """The split of a repository with two languages depends on those of both."""
    both = read_repositories(REPOSITORIES, PHP_RUBY)
    assert connected(both, ["python"]) == connected(both, ["go", "java"]) == read_repositories(REPOSITORIES)
    assert {names for _, names in connected(both, ["ruby"])} == {("ruby",)}
    assert connected(both, SevenLanguages(DataConfig(language="all")).languages) == both
    assert connected(both, ["rust"]) == []


def test_php_and_ruby_leave_the_splits_of_the_five_as_they_are():
    sizes = {name: {f"{name}{number}": 20 + number for number in range(30)} for name in corpus_languages()}
    sizes["go"] |= sizes["java"]  # some have two of them
    added = {name: {f"{name}{number}": 20 + number for number in range(30)} for name in ("php", "ruby")}
    before, after = splits_of_trees(sizes, 0), splits_of_trees(sizes | added, 0)
    assert {tree: after[tree] for tree in before} == before
    for name in ("php", "ruby"):
        assert {after[tree] for tree in added[name]} == set(SPLITS)


def test_what_is_extracted_for_one_corpus_serves_the_other(own, tmp_path):
    config = DataConfig(path=str(own / "list.txt"), mirrors=str(own), root=str(tmp_path), language="ruby", processes=1)
    prepare("seven_languages", config, command="", say=lambda _: None)
    assert len(list((tmp_path / "raw" / "repositories" / "shards").glob("*.gz"))) == 6
    assert (tmp_path / "seven_languages-ruby").is_dir()


def test_a_list_is_compared_with_its_clones(tmp_path):
    """As it was for the lists that come with this project."""
    files = {"LICENSE": LICENCE, "a.rb": "x", "b.rb": "x", "c.php": "<?php", "test/t.php": "", "vendor/v.php": ""}
    clone = commit(tmp_path / "me" / "tool", files)
    other = commit(tmp_path / "me" / "other", {"LICENSE": "All rights reserved.", "a.rb": "x"})
    found = [(f"me/{place.name}", head_of(place), place) for place in (clone, other)]
    write_list(tmp_path / "list.txt", [*found, ("me/gone", "0" * 40, clone)], languages="ruby,php")
    assert [*differences(tmp_path / "list.txt", tmp_path)] == [
        "me/tool: 1 files of php",
        "me/other: the licence at its root is not recognised; 0 files of php",
        "me/gone: there is no clone",
    ]
