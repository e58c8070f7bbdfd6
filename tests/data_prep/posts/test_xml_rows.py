"""Whatever the bytes of a table are, there are rows or one error of one line."""

import random

import pytest

from cli.main import main
from data_prep.posts.read_dump import RowParser
from tests.data_prep.posts.dumps import code, question, small_dump, table

ROWS = table("posts", [question(number, f"<p>größe</p>{code('x = 1 < 2')}") for number in range(6)])
NO_TEXT = ("mbcs", "oem", "utf-9", "rot13", "zlib", "hex", "base64", "idna", "punycode", "undefined", "unicode_escape")
ENCODINGS = (*NO_TEXT, "raw_unicode_escape", "utf-7", "utf-32", "shift_jis", "windows-1252", "A" * 300, "x", "UTF-16")
LEAVES = (
    *("&", "<", ">", '"', "'", "]]>", "<!DOCTYPE a>", "<!ENTITY a 'b'>", "&a;", "&#0;", "&#xD800;", "\0", "\ufffe"),
    *('<?xml version="1.1"?>', "<?a b?>", "<row/>", "</posts>", "<posts>", "<!--", "<![CDATA[", "standalone='no'"),
)


def read(content: bytes, step: int) -> int | str:
    """The number of rows, or the error."""
    rows: list[dict[str, str]] = []
    parser = RowParser("Posts.xml", "posts", lambda row: rows.append(dict(row)))
    try:
        for start in range(0, len(content), step):
            parser.feed(content[start : start + step])
        parser.close()
    except ValueError as error:
        return str(error)
    assert all(isinstance(value, str) for row in rows for value in row.values())
    return len(rows)


def title(bad: bytes, step: int, encoding: str = "utf-8") -> tuple[str, int]:
    """What is read of a title with ``bad`` in the middle, and the number of characters that were left out."""
    rows: list[dict[str, str]] = []
    parser = RowParser("Posts.xml", "posts", rows.append)
    before, after = '<posts><row Id="1" Title="aé', '😀z"/></posts>'
    content = before.encode(encoding) + bad + after.encode(encoding)
    for start in range(0, len(content), step):
        parser.feed(content[start : start + step])
    parser.close()
    return rows[0]["Title"], parser.left_out


@pytest.mark.parametrize("step", [1, 3, 1 << 16])
@pytest.mark.parametrize(
    ("bad", "kept", "count"),
    [
        *((f"&#{name};".encode(), "", 1) for name in ("11", "x1F", "xFFFE", "xffff", "xD800", "xdfff", "0", "x110000")),
        *((f"&#{name};".encode(), "", 1) for name in ("0000014", "x00000E", "9" * 40, "x" + "0" * 50)),
        *((f"&#{name};".encode(), kept, 0) for name, kept in (("x41", "A"), ("0066", "B"), ("xFFFD", "\ufffd"))),
        *((f"&#{name};".encode(), kept, 0) for name, kept in (("x1F600", "😀"), ("xA", "\n"), ("13", "\r"))),
        (b"&amp;#11;&lt;", "&#11;<", 0),
        (b"&#xD83D;&#xDE00;", "", 2),
        *((bytes([bad]), "", 1) for bad in (0, 1, 8, 11, 12, 14, 31, 0xFF, 0xC3, 0x80)),
        (b"\x7f", "\x7f", 0),
        ("\ufffeb\uffff".encode(), "b", 2),
        (b"\xed\xa0\x80", "", 3),
        (b"\xf0\x9f\x98", "", 3),
    ],
)
def test_what_xml_forbids_is_left_out_and_counted(bad, kept, count, step):
    assert title(bad, step) == (f"aé{kept}😀z", count)


@pytest.mark.parametrize("step", [1, 7, 1 << 16])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_xml_forbids_is_left_out_of_utf_16_too(encoding, step):
    high = b"\x00\xd8" if encoding.endswith("le") else b"\xd8\x00"
    assert title(high + "\ufffe\x0b&#11;".encode(encoding), step, encoding) == ("aé😀z", 4)


def test_bad_characters_hide_no_entity_and_do_not_fill_the_memory():
    assert "declares entities" in str(read(b"<!DOC\x0bTYPE posts [<!EN\x0bTITY a 'b'>]><posts/>", 1))
    endless = b'<posts><row Id="1" Body="&#' + b"0" * (20 << 20)
    assert "a row has more than 16 MiB" in str(read(endless, 1 << 20))


@pytest.mark.parametrize("encoding", NO_TEXT)
def test_an_encoding_that_is_none_is_told_in_one_line(tmp_path, capsys, encoding):
    file = small_dump(tmp_path) / "Posts.xml"
    file.write_bytes(file.read_bytes().replace(b'encoding="utf-8"', f'encoding="{encoding}"'.encode()))
    assert main(["posts", "index", str(file.parent), f"--root={tmp_path}", f"--out={tmp_path / 'it'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"galm: {file} is refused: expected the encoding utf-8, utf-16, ")
    assert line.endswith(f"got {encoding!r}: convert it")


@pytest.mark.parametrize("encoding", ["UTF-8", "utf-16", "ISO-8859-1"])
def test_other_encodings_of_xml_are_read(encoding):
    text = ROWS.decode("utf-8-sig").replace('encoding="utf-8"', f'encoding="{encoding}"')
    assert read(text.encode(encoding), 1000) == 6


def mutated(rand: random.Random) -> bytes:
    """The table with another declaration, some bytes changed, or cut."""
    text = ROWS.decode("utf-8-sig")
    if rand.random() < 0.6:
        text = text.replace("utf-8", rand.choice(ENCODINGS), 1)
    for _ in range(rand.randrange(3)):
        place = rand.randrange(rand.choice((60, len(text))))
        text = text[:place] + rand.choice(LEAVES) + text[place + rand.randrange(3) :]
    content = bytearray(text.encode(rand.choice(("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32")), "replace"))
    for _ in range(rand.choice((0, 0, 1, 5))):
        content[rand.randrange(rand.choice((60, len(content))))] = rand.randrange(256)
    return bytes(content[: rand.randrange(len(content)) if rand.random() < 0.2 else None])


def test_random_bytes_are_rows_or_one_error():
    rand, seen = random.Random(12), set()
    for _ in range(4000):
        content = mutated(rand)
        found = read(content, rand.choice((1, 7, 1 << 16)))
        seen.add("rows" if isinstance(found, int) else "refused" if "refused" in found else "damaged")
        assert isinstance(found, int) or (found.startswith("Posts.xml") and "\n" not in found), content
    assert seen == {"rows", "refused", "damaged"}


def test_random_dumps_are_prepared_or_refused_in_one_line(tmp_path, capsys):
    rand, codes = random.Random(13), set()
    file = small_dump(tmp_path) / "Posts.xml"
    for number in range(60):
        file.write_bytes(mutated(rand))
        places = [f"--data.root={tmp_path / str(number)}", f"--loop.out={tmp_path / 'runs'}"]
        codes.add(main(["posts", "statistics", f"--data.path={file.parent}", *places]))
        assert capsys.readouterr().err.count("\n") <= 1
    assert codes == {0, 2}
