"""Words with accents or of other scripts: what no file has is said so, with what is near; what a file has is found."""

import unicodedata

import pytest
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index

FILES = {
    "fr.py": 'def fetch(url):\n    """Télécharger un fichier depuis le réseau."""\n    return url.read()\n\n\n'
    "def errexit(code):\n    return code\n\n\ndef disable(c):\n    return c\n\n\n"
    'class Size:\n    """Die Größe der Übersicht."""\n',
    "ru.js": "// Скидка клиента\nfunction discount(c) { return c.rate }\n"
    "// Загрузка изображения\nfunction image(u) { return u.x }\n",
    "el.go": "package a\n\n// Ανάκτηση δεδομένων χρήστη\nfunc Get(a int) int { return a }\n",
    "zh.ts": "// 下载文件到本地\nexport function save(u: string) { return u }\n"
    "// ファイルをダウンロードする\nexport function keep(u: string) { return u }\n"
    "// 파일 다운로드\nexport function load(u: string) { return u }\n",
    "tr.rs": "// Kullanıcı kaydını siler\nfn remove(u: i32) -> i32 { u }\n"
    "// Müşteri indirimi\nfn grant(u: i32) -> i32 { u }\n",
    "apart.js": unicodedata.normalize("NFD", "// Réserver une chambre\nfunction book(u) { return u }\n"),
    "bonus.kt": "// Prämie und Treueprämie für Ålborg\nfun bonus(u: Int) = u\n",
    "street.py": 'def address(x):\n    """Sucht eine Hauptstraße."""\n\n\ndef weight(x):\n    """Die Maßeinheit."""\n',
    "he.py": 'def price(x):\n    """בדיקה של המחיר בסל קניות"""\n\n\ndef bill(x):\n    """חשבון חדש"""\n',
    "prüfer.py": "def prüfe(x):\n    return x\n",
}
FORMS = pytest.mark.parametrize("form", ["NFC", "NFD"])


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("foreign")
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return Engine(open_index(index_of(root, root / "index")), None)


@FORMS
@pytest.mark.parametrize(
    ("question", "near"),
    [
        ("téléchargr", "telecharger"),
        ("télécharegr", "telecharger"),
        ("téléchargr fichier", "telecharger"),
        ("réssau", "reseau"),
        ("Grösee", "grosse"),
        ("Übresicht", "ubersicht"),
        ("скидак", "скидка"),
        ("скдка клиента", "скидка"),
        ("изображнеия", "изображения"),
        ("ανάτκηση", "ανάκτηση"),
        ("kulanıcı", "kullanici"),
        ("müşetri", "musteri"),
        ("réservre", "reserver"),
        ("prüffe", "prüfe"),
        ("disabél", "disable"),
    ],
)
def test_a_misspelt_word_is_no_strong_match_and_has_the_nearest(engine, question, near, form):
    typed = unicodedata.normalize(form, question)
    found = engine.certainty(typed, engine.search(typed))
    assert found.level != "strong"
    assert near in found.nearest
    said = unicodedata.normalize("NFC", " ".join((*found.absent, found.name)))
    assert any(word in said for word in question.split())


@FORMS
@pytest.mark.parametrize(
    "question",
    [
        "бегемот",
        "éléphant",
        "ελέφαντας",
        "天气预报",
        "фламинго жираф",
        "ダウソロード",
        "달팽이",
        "değişken",
        "dışarı",
        "errerà",
        "klasse",
        "מזלג",
    ],
)
def test_a_word_that_no_file_has_is_no_strong_match(engine, question, form):
    typed = unicodedata.normalize(form, question)
    assert engine.certainty(typed, engine.search(typed)).level != "strong"


@FORMS
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("télécharger", "fetch"),
        ("TÉLÉCHARGER un fichier", "fetch"),
        ("réseaux", "fetch"),
        ("Größe", "Size"),
        ("GRÖSSE", "Size"),
        ("Übersichten", "Size"),
        ("скидка", "discount"),
        ("скидки клиентам", "discount"),
        ("изображений", "image"),
        ("ανάκτησης", "Get"),
        ("ΔΕΔΟΜΈΝΩΝ", "Get"),
        ("下载文件", "save"),
        ("ファイル", "keep"),
        ("ダウンロード", "keep"),
        ("다운로드", "load"),
        ("KULLANICI", "remove"),
        ("kullanıcılar", "remove"),
        ("MÜŞTERİ", "grant"),
        ("müşteriler", "grant"),
        ("réserver", "book"),
        ("prüfe", "prüfe"),
        ("groesse", "Size"),
        ("GROESSE", "Size"),
        ("uebersicht", "Size"),
        ("die groesse der uebersichten", "Size"),
        ("pruefe", "prüfe"),
        ("treuepraemie", "bonus"),
        ("praemien", "bonus"),
        ("aalborg", "bonus"),
        ("hauptstrasse", "address"),
        ("hauptstrassen", "address"),
        ("masseinheiten", "weight"),
        ("מחיר", "price"),
        ("המחיר", "price"),
        ("למחיר", "price"),
        ("סל הקניות", "price"),
        ("החשבון החדש", "bill"),
        ("לחשבון", "bill"),
    ],
)
def test_a_word_that_a_file_has_stays_a_strong_match(engine, question, name, form):
    typed = unicodedata.normalize(form, question)
    hits = engine.search(typed)
    assert engine.certainty(typed, hits).level == "strong"
    assert name in [unicodedata.normalize("NFC", engine.index.names[hit.row]) for hit in hits[:2]]


@FORMS
@pytest.mark.parametrize("path", ["prüfer.py", "prüfer"])
def test_a_file_is_found_by_its_name(engine, path, form):
    typed = unicodedata.normalize(form, path)
    hits = engine.search(typed)
    assert engine.certainty(typed, hits).level == "strong"
    assert engine.index.file(hits[0].row).path == "prüfer.py"
