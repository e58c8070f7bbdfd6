"""Lists of repositories: what a line says, and what is refused."""

import pytest

from search.opening import index_place
from search.repository_list import read_list


def listed(folder, text):
    path = folder / "repositories.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_list(path)


def test_a_line_names_a_folder_and_perhaps_its_name_and_who_may_see_it(tmp_path):
    found = listed(
        tmp_path,
        f"# of the company\n\nshop\n{tmp_path}/a b\tteam/pay-ments\t red , user:ann@example.org,\r\n.galm.x\t\t*\n",
    )
    assert [(each.name, each.folder, each.groups) for each in found] == [
        ("shop", tmp_path / "shop", frozenset()),
        ("team/pay-ments", tmp_path / "a b", frozenset({"red", "user:ann@example.org"})),
        ("galm.x", tmp_path / ".galm.x", frozenset("*")),
    ]
    assert found[0].index == index_place(tmp_path / "shop")


def test_nobody_sees_what_is_permitted_to_nobody(tmp_path):
    nobody, some, everybody = listed(tmp_path, "a\nb\t\tred,user:ann\nc\t\t*\n")
    for groups, seen in (((), "c"), (("red",), "bc"), (("user:ann", "blue"), "bc"), (("Red", "ann", ""), "c")):
        visible = [each.name for each in (nobody, some, everybody) if each.visible_to(frozenset(groups))]
        assert visible == list(seen)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no repository"),
        ("# nothing\n", "names no repository"),
        ("a\nb\tc\td\te\n", r"line 2: expected FOLDER, NAME and GROUPS, separated by tabs, got 'b\\tc\\td\\te'"),
        ("\tname\n", "line 1: expected FOLDER"),
        ("a\t../b\n", "line 1: expected a name of letters"),
        ("a\tb/\n", "line 1: expected a name of letters"),
        ("a\t/etc\n", "line 1: expected a name of letters"),
        ("a\tx y\n", "line 1: expected a name of letters"),
        ("a\tx\u00a0\n", "line 1: expected a name of letters"),
        ("a\t\tred\u00a0\n", "line 1: expected groups of printable characters"),
        ("a\t\tblue,user:ann\x85,red\n", "line 1: expected groups of printable characters"),
        ("a\t\t\u3000red\n", "line 1: expected groups of printable characters"),
        ("\u00a0\n", "line 1: expected a name of letters"),
        (f"a\t{'x' * 101}\n", "line 1: expected a name of letters"),
        ("a\0b\n", "line 1: expected a path"),
        (b"a\nb\xff\n", "line 2: expected UTF-8, got the byte 0xff"),
        ("x/shop\ny/Shop\n", "two repositories have the name Shop"),
        ("a\tone\n./a\ttwo\n", "two and one are the same folder"),
        ("a\tteam\nb\tteam/shop\n", "the name team/shop lies inside of team"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        listed(tmp_path, text)


def test_a_list_that_is_not_there_or_a_folder_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match="cannot be read"):
            read_list(path)
