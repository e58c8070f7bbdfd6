"""Questions in inflected languages find comments that have other forms of their words."""

import pytest
from serving import index_of

import neural_code_search as ncs
from search.engine.certainty import Judge
from search.engine.filters import Question
from search.engine.matching import LineOwners
from search.engine.name_reading import NameReader
from search.engine.phrases import Phrases
from search.index.index_file import open_index

COMMENTS = {
    "a.js": "// Müşteri indirimi hesaplar\nfunction grant(c) { return c.x }\n"
    "// Siparişleri iptal eder\nfunction halt(o) { return o.cancel() }\n"
    "// Faturayı yazdırır\nfunction put(u) { print(u) }\n",
    "b.py": 'def given(c):\n    """Скидка клиента."""\n    return c.rate\n\n'
    'def stopped(o):\n    """Отправляет письма."""\n    o.state = 0\n',
    "c.go": "package c\n\n// Berechnet den Rabatt des Kunden\nfunc Lower() int { return 1 }\n\n"
    "// Storniert die Bestellung\nfunc Undo() int { return 2 }\n",
}
NAMES = ("close", "draw", "drawer", "quorum")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("müşteriler için indirim", "grant"),
        ("sipariş iptali", "halt"),
        ("FATURALARI yazdırma", "put"),
        ("скидка клиентам", "given"),
        ("отправка письма", "stopped"),
        ("Stornierungen der Bestellungen", "Undo"),
    ],
)
def test_another_form_of_a_word_is_found(question, name, comments_in_languages):
    assert next(hit.name for hit in comments_in_languages.search(question) if hit.name not in "abc") == name


@pytest.fixture(scope="module")
def comments_in_languages(tmp_path_factory):
    root = tmp_path_factory.mktemp("languages")
    for name, text in COMMENTS.items():
        (root / name).write_text(text, encoding="utf-8")
    return ncs.index_folder(root)


@pytest.mark.parametrize(
    ("question", "formed"),
    [
        ("close drawers", "close drawers"),  # English, of which a file has one
        ("closeDrawers", "closeDrawers"),
        ("zanzibar quota", "zanzibar quota"),
        ("drawerlike", "drawerlike"),  # a name, perhaps of another project
        ("größe der Drawerzahl", "größe der drawer"),
    ],
)
def test_only_what_begins_mostly_alike_is_a_form(question, formed, tmp_path):
    (tmp_path / "a.py").write_text("".join(f"def {name}(x):\n    return x\n\n\n" for name in NAMES))
    index = open_index(index_of(tmp_path, tmp_path / "index"))
    names, owners = NameReader(index), LineOwners(index)
    assert Judge(index, names, owners, Phrases(index, owners, names)).formed(Question(question)).text == formed
