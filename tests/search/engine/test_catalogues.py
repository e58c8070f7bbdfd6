"""A message that stands in a catalogue alone leads to the code that has its key, or else to the catalogue."""

import pytest

import neural_code_search as ncs
from search.files.generations import first_catalogues, is_catalogue, kind_of_catalogue

FILL = {
    f"src/m{number}.py": f"def load_{number}(order):\n    return order\n\n\ndef limit_{number}(x):\n    return x\n"
    for number in range(5)
}
FULL, CLOSED = "The badger depot in Rome is full", "Heron gate 7 was closed by Bob"
PROJECTS = {
    "properties": {
        "Pay.java": 'class Pay {\n  void open() { throw new E(text("badger.depot.full")); }\n'
        '  void shut(int n) { fail("heron.gate.closed", n); }\n}\n',
        "messages.properties": "badger.depot.full=The badger depot in {0} is full\n"
        "heron.gate.closed = Heron gate {0} was closed by {1}\nlonely.key=Nobody uses this walrus text\n",
    },
    "json": {
        "pay.ts": "export function open(t) { return t('badger.depot.full', 1) }\n"
        "export function shut(t) { return t('heron.closed') }\n",
        "locales/en.json": '{\n  "badger": {\n    "depot": {\n      "empty": "An empty one",\n'
        '      "full": "The badger depot in {{name}} is full"\n    }\n  },\n'
        '  "heron": {\n    "closed": "Heron gate {{n}} was closed by {{who}}"\n  },\n'
        '  "lone": "Nobody uses this walrus text"\n}\n',
    },
    "folder": {
        "pay.js": "export function open() { return t('common:badgerDepotFull', 1) }\n"
        "export function shut() { return t('common:heron.closed') }\n",
        "public/locales/en-GB/common.json": '{\n  "badgerDepotFull": "The badger depot in {{name}} is full",\n'
        '  "heron": { "closed": "Heron gate {{n}} was closed by {{who}}" }\n}\n',
    },
    "yaml": {
        "pay.rb": "def open\n  I18n.t('badger.depot.full', name: 1)\nend\ndef shut\n  t('heron.closed')\nend\n",
        "config/locales/en.yml": 'en:\n  badger:\n    depot:\n      full: "The badger depot in %{name} is full"\n'
        "  heron:\n    closed: Heron gate %{n} was closed by %{who}\n",
    },
    "resx": {
        "Pay.cs": "class Pay {\n  void Open() { throw new E(Resources.BadgerDepotFull); }\n"
        "  void Shut() { Log(string.Format(Resources.HeronGateClosed, 1)); }\n}\n",
        "Resources.resx": '<root>\n  <data name="BadgerDepotFull" xml:space="preserve">\n'
        "    <value>The badger depot in {0} is full</value>\n  </data>\n"
        '  <data name="HeronGateClosed" xml:space="preserve">\n'
        "    <value>Heron gate {0} was closed by {1}</value>\n  </data>\n</root>\n",
    },
    "php": {
        "Pay.php": "<?php\nclass Pay {\n  function open() { return __('gates.full', ['n' => 1]); }\n"
        "  function shut() { return trans('gates.heron.closed'); }\n}\n",
        "lang/en/gates.php": "<?php\n\nreturn [\n    'full' => 'The badger depot in :name is full',\n"
        "    'heron' => [\n        'a' => 'y',\n        'closed' => 'Heron gate :n was closed by :who',\n    ],\n];\n",
    },
    "ts": {
        "pay.ts": "export function open(t) { return t('badger.depotFull') }\n"
        "export function shut(t) { return t('heron.closed') }\n",
        "src/locales/en.ts": "export default {\n  badger: {\n"
        '    depotFull: "The badger depot in {name} is full",\n  },\n'
        '  heron: { closed: "Heron gate {n} was closed by {who}" },\n}\n',
    },
    "xcstrings": {
        "Pay.swift": 'class Pay {\n  func open() { show(NSLocalizedString("crane.late", comment: "")) }\n'
        '  func shut() { show(String(localized: "stork_gone")) }\n}\n',
        "Localizable.xcstrings": '{\n  "strings" : {\n'
        + ",\n".join(
            f'    "{key}" : {{\n      "localizations" : {{\n        "en" : {{\n          "stringUnit" : {{\n'
            f'            "state" : "translated",\n            "value" : "{text}"\n          }}\n        }}\n'
            "      }\n    }"
            for key, text in (
                ("crane.late", "The badger depot in %@ is full"),
                ("stork_gone", "Heron gate %d was closed by %@"),
            )
        )
        + "\n  }\n}\n",
    },
    "android": {
        "Pay.kt": "class Pay {\n  fun open() { toast(R.string.badger_depot_full) }\n"
        "  fun shut() { getString(R.string.heron_gate_closed, 1) }\n}\n",
        "res/values/strings.xml": '<resources>\n    <string name="badger_depot_full">The badger depot in %1$s is full'
        '</string>\n    <string name="heron_gate_closed">Heron gate %1$d was closed by %2$s</string>\n</resources>\n',
    },
}


@pytest.mark.parametrize("kind", PROJECTS)
def test_a_message_leads_to_what_has_its_key(tmp_path, kind):
    for name, text in {**FILL, **PROJECTS[kind]}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    index = ncs.index_folder(tmp_path)
    found = [index.search(question, top=1)[0].name.lower().rpartition(".")[2] for question in (FULL, CLOSED)]
    assert found == ["open", "shut"]
    assert {hit.path for hit in index.search("load order limit", top=5)} <= {*FILL}
    if kind in ("properties", "json"):
        assert index.search("Nobody uses this walrus text", top=1)[0].path.endswith((".properties", ".json"))


def test_a_translation_leads_to_what_has_the_text(tmp_path):
    (tmp_path / "pay.py").write_text(
        'def open():\n    raise E(_("The badger depot is full"))\n\n\ndef shut():\n    run()\n'
    )
    (tmp_path / "de.po").write_text('msgid "The badger depot is full"\nmsgstr "Das Dachslager ist voll"\n')
    assert ncs.index_folder(tmp_path).search("Das Dachslager ist voll", top=1)[0].name == "open"


@pytest.mark.parametrize(
    ("catalogue", "text", "call", "question"),
    [
        ("lang/de.json", '{\n "heron": {\n  "closed": "Tor {{n}} wurde geschlossen"\n }\n}\n', "heron.closed",
         "Tor 7 wurde geschlossen"),
        ("config/locales/ja.yml", "ja:\n  heron:\n    closed: 門は閉じられました\n", "heron.closed",
         "門は閉じられました"),
        ("messages_fr.properties", "heron.gate.closed=La for\\u00eat {0} d\\u00e9bord\\u00e9e\n", "heron.gate.closed",
         "La forêt 7 débordée"),
        ("lang/pt_BR/gates.php", "<?php\nreturn [\n  'closed' => 'O portal :n foi fechado',\n];\n", "gates.closed",
         "O portal 7 foi fechado"),
        ("res/values/strings.xml", '<resources>\n  <plurals name="herons_closed">\n'
         '    <item quantity="one">%d heron gate was closed</item>\n'
         '    <item quantity="other">%d heron gates were closed</item>\n  </plurals>\n</resources>\n',
         "herons_closed", "7 heron gates were closed"),
        ("de.po", 'msgid "%d badger moved"\nmsgid_plural "%d badgers moved"\nmsgstr[0] "%d Dachs ist umgezogen"\n'
         'msgstr[1] "%d Dachse sind umgezogen"\n', "%d badgers moved", "7 Dachse sind umgezogen"),
    ],
)  # fmt: skip
def test_a_catalogue_in_any_language_and_form(tmp_path, catalogue, text, call, question):
    for name, content in {**FILL, catalogue: text, "pay.js": f"function shut() {{ return t('{call}') }}\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    assert ncs.index_folder(tmp_path).search(question, top=1)[0].name == "shut"


def test_of_translations_the_english_one_is_read(tmp_path):
    read = (
        "messages.properties",
        "i18n/en-US/a.json",
        "i18n/de/b.json",
        "res/values/strings.xml",
        "X.resx",
        "app_fr.arb",
    )
    left = (
        "messages_fr.properties",
        "i18n/de/a.json",
        "res/values-de/strings.xml",
        "X.de.resx",
        "locales/de/a/package.md",
    )
    for name in (*read, *left, "a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    tells = first_catalogues(tmp_path)
    assert [name for name in (*read, *left) if tells(name)] == [*read]
    others = ("token.json", "package.json", "en/a.json", "src/main.properties", "values/colors.xml", "i18n/readme.yaml")
    assert not any(map(is_catalogue, others))
    assert kind_of_catalogue("lang/en/a.php") == "code"
    assert not is_catalogue("lang/en/a.php")


def test_of_many_translations_the_first_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("search.files.generations.MOST_CATALOGUES", 2)
    for name in ("de", "fr", "it", "nl"):
        (tmp_path / f"{name}.po").write_text(f'msgid "walrus"\nmsgstr "{name}"\n')
    (tmp_path / "pay.py").write_text("def open():\n    run()\n")
    hits = ncs.index_folder(tmp_path).search("walrus", top=10)
    assert len({hit.path for hit in hits if hit.path.endswith(".po")}) == 2


def test_a_short_text_of_a_catalogue_leads_to_the_code_that_has_its_key_not_to_tests(tmp_path):
    files = {
        "config/locales/en.yml": "en:\n  errors:\n    no_jam: 'has a jar not allowed'\n    lid_gone:\n"
        "      problem: 'the lid of the jar was not found'\n      resolution: 'look for it'\n",
        "lib/jam.rb": "def open_jar(x)\n  fail(message(:no_jam))\nend\n\ndef close_jar(x)\n"
        "  fail(compose(:lid_gone))\nend\n\ndef problem(jar)\n  jar\nend\n\ndef read(x)\n  problem(x)\nend\n",
        "spec/jam_spec.rb": "it 'has a jar not allowed' do\n  expect(error).to eq 'jam has a jar not allowed'\n"
        "  expect(no_jam).to be(:no_jam)\nend\n\nit 'finds no lid' do\n"
        "  expect(error).to eq 'the lid of the jar was not found'\n  lid_gone\nend\n",
    }
    for name, text in {**files, **FILL}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = ncs.index_folder(tmp_path)
    assert found.search("limit has a jar not allowed", top=1)[0].name == "open_jar"
    assert found.search("the lid of the jar was not found", top=1)[0].name == "close_jar"
