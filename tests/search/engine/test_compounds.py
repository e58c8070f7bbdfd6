"""Words asked one by one find the compound, or the name without signs between words, that has them."""

import pytest
from repositories import write
from serving import index_of

from search.engine.compounds import Compounds
from search.engine.engine import Engine
from search.files.words import stem_of
from search.index.index_file import open_index

FILES = {
    "a.py": (
        "def getuserbyname(db, s):\n    return db.find(s)\n\n\ndef readfilebyline(p):\n    yield from open(p)\n\n\n"
        "def setwindowtitle(w, t):\n    w.t = t\n"
    ),
    "b.c": "int strreplaceall(char *a) { return 1; }\nint hashtablelookup(struct ht *h) { return 2; }\n",
    "c.lua": "local M = {}\n"
    "function M.opensocketpair() return 1 end\nfunction M.closeallwindows() return 2 end\nreturn M\n",
    "d.js": "function benutzerkontoanlegen(n) { return n; }\nfunction rechnungsadresse(k) { return k.a; }\n"
    "function kundennummerpruefen(k) { return k; }\n",
    "e.php": "<?php\nfunction klantnummeropzoeken($k) { return $k; }\nfunction factuuradres($x) { return $x; }\n",
    "f.java": "class Lager {\n  // Berechnet den Warenbestandswert am Jahresende.\n  int wert() { return 1; }\n"
    "  /** Prüft die Zahlungsfrist einer Bestellung. */\n  boolean ok() { return true; }\n}\n",
    "g.sh": "checkdiskspace() {\n  df -h\n}\nmakebackupcopy() {\n  cp a b\n}\n",
    **{
        f"w{n}.py": f"def user_{n}(name):\n    return name\n\n\ndef file_{n}(line, max, title):\n    return line\n"
        for n in range(4)
    },
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compounds")
    return Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        *(
            ("get user by name", "getuserbyname"),
            ("read file by line", "readfilebyline"),
            ("disk space", "checkdiskspace"),
        ),
        *(
            ("set window title", "setwindowtitle"),
            ("window title", "setwindowtitle"),
            ("backup copy", "makebackupcopy"),
        ),
        *(("str replace all", "strreplaceall"), ("hash table lookup", "hashtablelookup")),
        *(("open socket pair", "M.opensocketpair"), ("close all windows", "M.closeallwindows")),
        *(("Benutzer Konto anlegen", "benutzerkontoanlegen"), ("Adresse der Rechnung", "rechnungsadresse")),
        *(("Rechnung Adresse", "rechnungsadresse"), ("Kunden Nummer prüfen", "kundennummerpruefen")),
        *(("klant nummer opzoeken", "klantnummeropzoeken"), ("adres van factuur", "factuuradres")),
        *(("Bestand der Waren am Ende des Jahres", "Lager.wert"), ("Frist der Zahlung", "Lager.ok")),
    ],
)
def test_words_find_their_compound(engine, question, name):
    hits = engine.search(question)
    assert engine.index.names[hits[0].row] == name
    assert engine.certainty(question, hits).level != "none"


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("user name", "user name"),
        ("space of a file", "space of a file"),
        ("the user of a table", "the user of a table"),
        ("disk_space", "disk_space"),
        ("disk space 7", "disk space 7"),
        ("a disk has space", "checkdiskspac has"),
    ],
)
def test_other_questions_stay(question, put):
    terms = [*map(stem_of, ("checkdiskspace", "user", "name", "file", "table", "has", "zahlungsfrist"))]
    assert Compounds([sorted(terms)], terms.__contains__).put_into(question) == put
