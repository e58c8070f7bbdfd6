"""Dumps of all forms are read to the same records; damaged and hostile ones are refused in one line."""

import gzip
import json

import pytest

from data_prep.posts.read_dump import LONGEST_ROW, RowParser, tags_of
from data_prep.posts.sets import PostsConfig, PostSets
from data_prep.posts.store import prepare_posts
from tests.data_prep.posts.dumps import answer, code, link, question, small_dump, table, write_dump
from tests.evaluation.real_data import SHARED


def prepared(path, root, said=None, **options):
    config = PostsConfig(path=(str(path),), root=str(root / "data"), **options)
    return prepare_posts(config, command="a test", say=(said if said is not None else []).append)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    return prepared(small_dump(folder), folder)


def test_a_question_with_its_answer_and_links(small):
    first, duplicate = small.posts[0], small.posts[4]
    assert (first.title, first.tags, first.code) == ("Title 1", ("python",), "x1 = open(name)")
    assert first.error.endswith("FileNotFoundError: [Errno 2] No such file")
    assert first.keyword == ("FileNotFoundError",)
    assert first.best_answer == "Check that name1 exists."
    assert first.prose == "It fails."
    assert duplicate.duplicate_of == (1, 99)
    assert duplicate.best_answer == ""
    assert first.question_by.author == "user 7"
    assert first.question_by.url == "https://a.example/questions/1"
    assert first.answer_by.url == "https://a.example/questions/1#101"
    assert first.question_by.licence == "CC BY-SA 3.0"


def test_the_sets_of_the_paper(small):
    sets = PostSets(small.posts, PostsConfig(dev_share=0.5, linked_share=0.0))
    assert sets.corpus == (0, 1, 2, 3)
    assert [(query.row, query.relevant) for query in sets.evaluation] == [(4, (0,))]
    assert sets.pretraining == ((5, 6),)
    assert sets.linked_pretraining == ((7, 1),)
    assert not {0, 4} & {*sets.training, *sets.dev_same_post}  # nothing of the evaluation set is trained on
    assert sorted((*sets.training, *sets.dev_same_post)) == [1, 2, 3]
    assert sets.duplicates_of[0] == {4}


def test_threads_join_duplicates_of_duplicates(tmp_path):
    posts = [question(number, code("x"), accepted=number + 100) for number in range(1, 8)]
    links = [link(3, 2), link(2, 1), link(6, 4), link(7, 6), link(5, 1, 1)]  # the last is no duplicate
    posts += [answer(number + 100, number, "y") for number in range(1, 8)]
    sets = PostSets(prepared(write_dump(tmp_path, posts, links), tmp_path).posts, PostsConfig())
    assert sets.threads == {0: 0, 1: 0, 2: 0, 3: 3, 5: 3, 6: 3}


def test_linked_questions_are_a_development_set(small):
    sets = PostSets(small.posts, PostsConfig(dev_share=0.0, linked_share=1.0))
    assert [(query.row, query.relevant) for query in sets.dev_duplicates] == [(7, (1,))]
    assert sets.linked_pretraining == ()
    assert sets.training == (2, 3)  # its document is not trained on


def test_all_forms_of_a_dump_give_the_same_posts(small, tmp_path):
    plain = small_dump(tmp_path / "plain")
    packed = tmp_path / "packed" / "a.example"
    packed.mkdir(parents=True)
    for name in ("Posts.xml", "PostLinks.xml"):
        (packed / f"{name}.gz").write_bytes(gzip.compress((plain / name).read_bytes()))
    assert prepared(packed, tmp_path).posts == small.posts
    library = pytest.importorskip("py7zr", reason="needs requirements-posts.txt")
    with library.SevenZipFile(tmp_path / "a.example.7z", "w") as archive:
        for name in ("Posts.xml", "PostLinks.xml"):
            archive.write(plain / name, name)
    assert prepared(tmp_path / "a.example.7z", tmp_path).posts == small.posts
    content = (tmp_path / "a.example.7z").read_bytes()
    (tmp_path / "b.example.7z").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"b\.example\.7z .*get it again"):
        prepared(tmp_path / "b.example.7z", tmp_path)


def test_archives_of_one_table_each_and_of_several_sites(small, tmp_path):
    library = pytest.importorskip("py7zr", reason="needs requirements-posts.txt")
    plain, folder = small_dump(tmp_path / "plain"), tmp_path / "archives"
    folder.mkdir()
    for name, member in (("Posts", "Posts.xml"), ("PostLinks", "PostLinks.xml"), ("Users", "Users.xml")):
        with library.SevenZipFile(folder / f"a.example-{name}.7z", "w") as archive:
            archive.write(plain / member if name != "Users" else plain / "Posts.xml", member)
    assert prepared(folder, tmp_path).posts == small.posts
    (folder / "b.example-Posts.7z").write_bytes((folder / "a.example-Posts.7z").read_bytes())
    with pytest.raises(ValueError, match="several sites"):
        prepared(folder, tmp_path)


def test_prepared_posts_are_read_again_only_if_something_changed(tmp_path):
    said: list[str] = []
    path = small_dump(tmp_path)
    first = prepared(path, tmp_path, said)
    again = prepared(path, tmp_path, said, seed=3)  # divides, but does not read
    other = prepared(path, tmp_path, said, error_rule="strict")
    assert len(said) == 2
    assert again.folder == first.folder != other.folder
    (first.folder / "links.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        prepared(path, tmp_path)


def test_tags_of_both_notations_and_the_filter(tmp_path):
    assert tags_of("<python><c++>") == tags_of("|python|c++|") == ("python", "c++")
    assert tags_of("") == ()
    posts = [question(1, tags="|python-3.x|a|"), question(2, tags="<pythonic>"), question(3, tags="<python>")]
    posts += [question(4, created="2013-12-31"), question(5, tags="")]
    path = write_dump(tmp_path, posts)
    assert [post.id for post in prepared(path, tmp_path, since="2014-01-01").posts] == [1, 3]
    assert [post.id for post in prepared(path, tmp_path, tag="", until="2014-01-01").posts] == [4]
    with pytest.raises(ValueError, match=r"no question .* --data\.tag=pyhton .*most frequent tags: .*python"):
        prepared(path, tmp_path, tag="pyhton")


def test_inline_code_counts_unless_it_is_excluded(tmp_path):
    path = write_dump(tmp_path, [question(1, "<p>call <code>f()</code></p>" + code("g()"))])
    assert prepared(path, tmp_path).posts[0].code == "f()\ng()"
    assert prepared(path, tmp_path, inline=False).posts[0].code == "g()"
    assert prepared(path, tmp_path, min_chars=4).posts[0].code == ""  # "g()" and a newline strip to 3


def test_an_answer_before_its_question_is_found_by_a_second_pass(tmp_path):
    path = write_dump(tmp_path, [answer(2, 9), question(9, accepted=2), question(10, accepted=77)])
    said: list[str] = []
    posts = prepared(path, tmp_path, said).posts
    assert [post.best_answer for post in posts] == ["because", ""]
    assert "accepted answers that are not in the dump 1" in said[-1]


def test_missing_links_deleted_posts_and_rows_without_ids(tmp_path):
    posts = [question(1), question(1), {"PostTypeId": 1, "Body": ""}, question("x"), {"Id": 5, "PostTypeId": 4}]
    said: list[str] = []
    prepared(write_dump(tmp_path, posts, None), tmp_path, said)
    assert "no PostLinks.xml" in said[0]
    assert "rows without an Id 2" in said[1]
    assert "with an Id seen before 1" in said[1]
    links = [link(1, 8), link(8, 1), link(1, 1), {"Id": 3}]
    said.clear()
    prepared(write_dump(tmp_path, [question(1)], links, "b.example"), tmp_path, said)
    assert "duplicate links to posts that are not kept 1" in said[0]
    assert "links from posts that are not kept 1" in said[0]


def test_two_sites_are_kept_apart(tmp_path):
    one, two = small_dump(tmp_path), write_dump(tmp_path, [question(1, title="Other")], [], "b.example")
    config = PostsConfig(path=(str(one), str(two)), root=str(tmp_path / "data"))
    found = prepare_posts(config, command="", say=lambda _: None)
    assert len({post.key for post in found.posts}) == len(found.posts) == 9
    assert found.posts[-1].key == "b.example/1"
    with pytest.raises(ValueError, match="two dumps"):
        prepare_posts(PostsConfig(path=(str(one), str(one))), command="", say=print)


BOMB = b"""<?xml version="1.0"?><!DOCTYPE posts [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<posts><row Id="1" Body="&b;" /></posts>"""
WHOLE = table("posts", [question(1), question(2)])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BOMB, "is refused: it declares entities"),
        (b'<?xml version="1.0"?><!DOCTYPE posts SYSTEM "file:///etc/passwd"><posts></posts>', "is refused"),
        (WHOLE[:-60], r"ends early, after 1 rows .*get it again"),
        (WHOLE[:-9], "ends early, after 2 rows"),
        (b"", "ends early, after 0 rows"),
        (WHOLE.replace(b"<row", b"<row &a; ", 1), "is no UTF-8 XML"),
        (WHOLE.replace(b"A title", b"A &a; title"), "is no UTF-8 XML"),
        (WHOLE.decode("utf-8-sig").replace("utf-8", "xxx-9").encode("utf-16"), "is refused"),
        (b"<html></html>", "expected <posts>, got <html>"),
        (b"<posts><row Id='1'><row Id='2'/></row></posts>", "expected <row>, got <row>"),
        (b"PK\3\4\x14\0 stored", "is no UTF-8 XML"),
        (b"<posts></posts>", "no question .* is kept"),
    ],
)
def test_damaged_and_hostile_files_are_refused_in_one_line(tmp_path, content, said):
    path = write_dump(tmp_path, [])
    (path / "Posts.xml").write_bytes(content)
    with pytest.raises(ValueError, match=said) as error:
        prepared(path, tmp_path)
    assert "\n" not in str(error.value)
    assert not [*(tmp_path / "data").glob("*")]  # nothing half-written


def test_bad_characters_are_left_out_counted_and_said(tmp_path):
    said: list[str] = []
    path = write_dump(tmp_path, [question(1, title="A b%c", accepted=2), answer(2, 1)], [link(1, 9)])
    for name, bad in (("Posts.xml", b"&#11;&#xFFFE;\xe9"), ("PostLinks.xml", b"%\x0b")):
        content = (path / name).read_bytes()
        (path / name).write_bytes(content.replace(b"%", bad).replace(b"2015", b"2015\x0b" if bad[0] == 37 else b"2015"))
    found = prepared(path, tmp_path, said)
    assert (found.posts[0].title, found.posts[0].duplicate_of) == ("A bc", (9,))
    assert found.manifest["counts"]["a.example"]["bad characters left out"] == 4
    assert "bad characters left out 4" in said[-1]


def test_a_row_without_an_end_does_not_fill_the_memory():
    parser = RowParser("Posts.xml", "posts", dict)
    parser.feed(b'<posts><row Id="1" Body="')
    for _ in range(LONGEST_ROW >> 20):
        parser.feed(b"x" * (1 << 20))
    with pytest.raises(ValueError, match="a row has more than 16 MiB"):
        parser.feed(b"x" * (2 << 20))


def test_a_gzip_bomb_and_a_missing_dump(tmp_path):
    path = write_dump(tmp_path, [])
    (path / "Posts.xml").unlink()
    with pytest.raises(ValueError, match=r"expected Posts\.xml"):
        prepared(path, tmp_path)
    (path / "Posts.xml.gz").write_bytes(gzip.compress(b"<posts>" + (b"<row Body='" + b" " * (1 << 20) + b"'/>") * 70))
    with pytest.raises(ValueError, match="unpacks to more than"):
        prepared(path, tmp_path)
    with pytest.raises(ValueError, match="nothing is there"):
        prepared(tmp_path / "none", tmp_path)
    with pytest.raises(ValueError, match="expected a dump"):
        prepare_posts(PostsConfig(), command="", say=print)


def test_a_description_of_the_site(tmp_path):
    path = small_dump(tmp_path)
    about = {"site": "tracker", "question_url": "https://t.example/{id}", "licence": "MIT"}
    (path / "site.json").write_text(json.dumps(about))
    first = prepared(path, tmp_path).posts[0]
    assert first.key == "tracker/1"
    assert first.answer_by.url == "https://t.example/1"
    assert first.answer_by.licence == "MIT"
    del about["licence"]
    (path / "site.json").write_text(json.dumps(about))
    assert prepared(path, tmp_path).posts[0].answer_by.licence == "licence not known"  # not that of Stack Exchange
    (path / "site.json").write_text("[]")
    with pytest.raises(ValueError, match=r"site\.json takes texts"):
        prepared(path, tmp_path)


@pytest.mark.parametrize("options", [{"since": "2014"}, {"since": "2015-01-01", "until": "2014-01-01"}, {"root": ""}])
def test_options_that_cannot_be_meant(options):
    with pytest.raises(ValueError, match="--data"):
        PostsConfig(**options)


def test_a_real_dump(tmp_path):
    path = SHARED / "se_quantum"
    if not (path / "Posts.xml.gz").is_file():
        pytest.skip("needs the dump se_quantum/Posts.xml.gz beside the repository, in ../shared/data")
    posts = prepared(path, tmp_path, tag="").posts
    assert len(posts) == 612
    assert sum(bool(post.best_answer) for post in posts) == 389
    assert sum(len(post.duplicate_of) for post in posts) == 11  # of 14 links, those with both ends kept
    assert sum(bool(post.error) for post in posts) == 3


def test_several_processes_write_the_same_lines_as_one(tmp_path, monkeypatch):
    rows = [question(2 * n + 1, code(f"x = {n}"), accepted=2 * n + 2) for n in range(450)]
    path = write_dump(tmp_path, [*rows, *(answer(2 * n + 2, 2 * n + 1, f"<p>{n}</p>") for n in range(450))], [])
    one = prepared(path, tmp_path / "one")
    monkeypatch.setattr("data_prep.posts.store._LARGE", 0)
    monkeypatch.setattr("data_prep.posts.store._BATCH", 20_000)
    monkeypatch.setattr("data_prep.posts.store.processors", lambda: 2)
    several = prepared(path, tmp_path / "several")
    assert one.posts == several.posts
    assert len(one.posts) == one.manifest["questions"] == several.manifest["questions"] == 450
    for name in ("questions.jsonl.gz", "answers.jsonl.gz"):
        lines, parts = ((each.folder / name).read_bytes() for each in (one, several))
        assert gzip.decompress(lines) == gzip.decompress(parts)
