"""Sources in other encodings than UTF-8 are read, by their marks, their declarations, or their bytes."""

import codecs

import pytest

from search.files.encodings import text_of
from search.index.build import refresh
from search.index.index_file import open_index

JAVA = "package a;\nclass Maß {\n  boolean prüfe(int größe) { return größe > 5; }\n  void plain() { }\n}\n"
MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}  # fmt: skip
GUESSED = [
    (JAVA, "latin-1", "windows-1252"),
    ("// « naïve » año, façade, smørbrød\nfunc f() {}\n", "latin-1", "windows-1252"),
    ("# “a” – b…\n", "cp1252", "windows-1252"),
    ("# считает скидку для клиента\ndef f(): pass\n", "cp1251", "windows-1251"),
    ("# Считает скидку для клиента\ndef f(): pass\n", "koi8_r", "koi8-r"),
    ("# считает скидку для клиента\ndef f(): pass\n", "cp866", "cp866"),
    ("# скидка\ndef f(): pass\n", "cp1251", "windows-1251"),
    ("# Υπολογίζει την έκπτωση\ndef f(): pass\n", "cp1253", "windows-1253"),
    ("// 取消订单并退款给客户\nfunc f() {}\n", "gb18030", "gb18030"),
    ("// 取消訂單並退款給客戶\nfunc f() {}\n", "big5", "big5"),
    ("// 消費税を計算する\nfunc f() {}\n", "shift_jis", "shift-jis"),
    ("// 消費税を計算する\nfunc f() {}\n", "euc_jp", "euc-jp"),
    ("// 재고를 확인한다\nfunc f() {}\n", "euc_kr", "euc-kr"),
    ("# Příliš žluťoučký kůň vrátí uživatele\ndef f(): pass\n", "cp1250", "windows-1250"),
    ("# Vypočítá součet všech položek objednávky\ndef f(): pass\n", "iso8859_2", "iso8859-2"),
    ("# Zwraca wartość zamówienia po uwzględnieniu zniżki\ndef f(): pass\n", "cp1250", "windows-1250"),
    ("# Zwraca wartość zamówienia po uwzględnieniu zniżki\ndef f(): pass\n", "iso8859_2", "iso8859-2"),
    ("# Kiszámítja a végösszeget, és a vevő nevével tér vissza\ndef f(): pass\n", "cp1250", "windows-1250"),
    ("# Renvoie la première commande passée, où ça a été créé\ndef f(): pass\n", "mac_roman", "mac-roman"),
    ("# Renvoie la première commande passée, où ça a été créé\ndef f(): pass\n", "cp850", "cp850"),
    ("# Gibt die Größe für alle Käufer zurück\ndef f(): pass\n", "mac_roman", "mac-roman"),
    ("# Kullanıcının siparişlerini bulur ve döndürür, değişken\ndef f(): pass\n", "cp1254", "windows-1254"),
    ("# Повертає знижку клієнта за номером замовлення, їх ґанок\ndef f(): pass\n", "koi8_u", "koi8-u"),
    ("# 注文の合計金額を計算して返す\ndef f(): pass\n", "iso2022_jp", "iso2022-jp"),
    ("# ユーザーの名前を検索する\ndef f(): pass\n", "euc_jp", "euc-jp"),
    ("# 주문의 총액을 계산하여 반환한다\ndef f(): pass\n", "euc_kr", "euc-kr"),
    ("# 计算订单的总金额并返回\ndef f(): pass\n", "gb18030", "gb18030"),
    ("# -*- coding: cp1250 -*-\n# Zażółć gęślą jaźń\n", "cp1250", "windows-1250"),
    ("#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n# 5 €\n", "iso8859_15", "iso8859-15"),
]


@pytest.mark.parametrize(("text", "encoding", "told"), GUESSED)
def test_what_is_no_utf_8_is_read_as_what_it_is(text, encoding, told):
    assert text_of(text.encode(encoding)) == (text.encode(), told)


@pytest.mark.parametrize("encoding", MARKS)
def test_byte_order_marks_say_the_encoding(encoding):
    assert text_of(MARKS[encoding] + JAVA.encode(encoding)) == (JAVA.encode(), encoding)


@pytest.mark.parametrize(
    "text", ["# скидка для клиента\n", "// 取消订单并退款给客户\nfunc f() {}\n", "# 재고를 확인한다\n"]
)
@pytest.mark.parametrize("encoding", MARKS)
def test_other_scripts_need_no_mark_in_wide_encodings(text, encoding):
    assert text_of((text + "x = 1\n").encode(encoding)) == ((text + "x = 1\n").encode(), encoding)


def test_a_few_bad_bytes_in_utf_8_are_replaced():
    good = "# größer als üblich, süß\n".encode()
    assert text_of(good + b"x = '\xff'\n") == (good + "x = '\ufffd'\n".encode(), "utf-8 with errors")


def test_utf_8_stays_as_it_is_without_its_mark():
    assert text_of(codecs.BOM_UTF8 + JAVA.encode()) == (JAVA.encode(), "")
    assert text_of(JAVA.encode()) == (JAVA.encode(), "")
    assert text_of("ä".encode()[:1]) == ("ä".encode()[:1], "")  # cut off where reading ends


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_plain_utf_16_needs_no_mark(encoding):
    assert text_of(JAVA.encode(encoding)) == (JAVA.encode(), encoding)


@pytest.mark.parametrize("data", [b"a\0b", b"\x7fELF\2\1\0\0" + bytes(range(256)) * 9, b"\xff\xfe" + bytes(6)])
def test_binary_files_are_refused(data):
    with pytest.raises(ValueError, match="binary: a NUL byte in its first 8 KiB"):
        text_of(data)


@pytest.mark.parametrize("place", [0, 40, -1])
@pytest.mark.parametrize("nuls", [b"\0", bytes(600)])
@pytest.mark.parametrize("text", [JAVA * 3, "def greet():\n    return 'hello, \u00e4ll'\n" * 2])
def test_a_stray_nul_byte_is_a_blank(text, nuls, place):
    data = text.encode()
    place %= len(data)
    read = text_of(data[:place] + nuls + data[place:])
    assert read == (data[:place] + b" " * len(nuls) + data[place:], "utf-8 with NUL bytes")


@pytest.mark.parametrize("data", [b"first\0second\0third\0" * 30, b"\1\2" + b"text of a program " * 9 + b"\0"])
def test_tables_of_strings_are_binary(data):
    with pytest.raises(ValueError, match="binary"):
        text_of(data)


def test_a_late_nul_byte_makes_no_file_binary():
    data = b"x" * 8192 + b"\0"
    assert text_of(data) == (b"x" * 8192 + b" ", "utf-8 with NUL bytes")


@pytest.mark.parametrize("declared", ["rot13", "zlib", "utf-7", "idna", "unicode_escape", "none-like-it"])
def test_only_encodings_of_text_are_believed(declared):
    data = f"# coding: {declared}\n# Größe\n".encode("latin-1")
    assert text_of(data).encoding == "windows-1252"


NAMES = {
    "A.java": ("class A { /** Prüft. */ int prüfe(int größe) { return 1; } int plain() { return 2; } }\n", "A.plain"),
    "a.py": ("def prüfe(größe):\n    '''Prüft.'''\n\ndef plain(): pass\n", "plain"),
    "a.js": ("/** Prüft. */\nfunction prüfe(größe) {}\nfunction plain(a) {}\n", "plain"),
    "a.ts": ("/** Prüft. */\nfunction prüfe(größe: number) {}\nfunction plain(a) {}\n", "plain"),
    "a.go": ("package a\n\n// Prüft.\nfunc prüfe(größe int) {}\nfunc plain() {}\n", "plain"),
}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_identifiers_and_comments_survive_in_every_language_and_are_counted(tmp_path, encoding):
    folder = tmp_path / "sources"
    folder.mkdir()
    for path, (text, _) in NAMES.items():
        (folder / path).write_bytes(text.encode(encoding))
    done = refresh(folder, tmp_path / "index", processes=0, tell=lambda *told: pytest.fail(str(told)))
    assert sum(done.encodings.values()) == len(NAMES)
    index = open_index(tmp_path / "index")
    found = {(index.file(row).path, name): index.split.text(row) for row, name in enumerate(index.names)}
    for path, (_, plain) in NAMES.items():
        assert (path, plain) in found
        (own,) = (text for (place, name), text in found.items() if place == path and name.endswith("prüfe"))
        assert own.query_text == "Prüft."
        assert "\ufffd" not in own.source


def test_carriage_returns_end_lines_if_nothing_else_does():
    assert text_of(b"a\rb\r").data == b"a\nb\n"
    assert text_of("\ufeffa\rb".encode("utf-16")).data == b"a\nb"
    assert text_of(b"a\r\nb\rc\n").data == b"a\r\nb\rc\n"
