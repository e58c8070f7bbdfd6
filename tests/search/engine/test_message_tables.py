"""A message of a table leads to its entry there, and to the function that uses the entry's key."""

import pytest
from serving import index_of

from search.engine.engine import Engine
from search.engine.line_scores import rarities
from search.engine.preview import unit_lines
from search.index.index_file import open_index

FILES = {
    "one.js": (
        'const MESSAGES = { E_OPEN: "cannot open badger gate %s", E_FULL: "the heron depot in {0} '
        'is full", "E-GONE": "walrus already left the colony" };\n\n'
        "export function open(name) {\n  throw new AppError(MESSAGES.E_OPEN, name);\n}\n\n"
        'export function fill(depot) {\n  fail("E_FULL", depot);\n}\n\n'
        'export function leave(colony) {\n  return MESSAGES["E-GONE"];\n}\n'
    ),
    "many.ts": (
        "export const faults = {\n  NoKelp: 'kelp store {n} ran dry',\n  NoReef:\n"
        "    'reef {n} was not charted',\n};\n\n"
        "export function eat(n: number) { throw new Fault(faults.NoKelp, n) }\n\n"
        "export function dive(n: number) { throw new Fault(faults.NoReef, n) }\n"
    ),
    "msgs.c": (
        "static const struct { int code; const char *text; } table[] = {\n"
        '  { E_SHREW, "shrew tunnel %s caved in" },\n'
        '  { E_VOLE, "vole socket %d refused" },\n};\n\nint dig(const char *name) {\n'
        "  return report(E_SHREW, name);\n}\n\nint refuse(int n) {\n"
        "  return fail_with(E_VOLE, n);\n}\n"
    ),
    "flat.c": (
        'static const char *texts[] = { [E_CRAB] = "crab trap %d was robbed", [E_CLAM] = "clam bed '
        '%d is silted" };\n\nint trap(int n) {\n  return warn(texts[E_CRAB], n);\n}\n\n'
        "int bed(int n) {\n  return warn(texts[E_CLAM], n);\n}\n"
    ),
    "tab.py": (
        'ERRORS = {"no_milk": "the milk of %s is sour", "no_egg": f"egg {n} has cracked in the '
        'nest", "no_tea": "tea has no leaves left"}\n\n\ndef milk(shop):\n'
        '    raise ShopError(ERRORS["no_milk"] % shop)\n\n\ndef egg(n):\n'
        '    fail("no_egg", n)\n\n\ndef tea():\n    return message_of("no_tea")\n'
    ),
    "tab.rs": (
        "pub fn messages() -> HashMap<&'static str, &'static str> {\n"
        '    HashMap::from([("otter_lost", "otter {} lost its raft"), ("stork_late", "stork {} is '
        'late by {} days")])\n}\n\npub fn float(n: i32) -> Error {\n'
        '    Error::new("otter_lost", n)\n}\n\npub fn arrive(n: i32) -> Error {\n'
        '    bail("stork_late", n)\n}\n'
    ),
    "tab.go": (
        "package tab\n\n"
        'var texts = map[string]string{"ibis.gone": "ibis %s fled the marsh", "tapir.jam": "tapir '
        'gate %d jammed shut"}\n\n'
        'var codes = map[int]string{ErrNewt: "newt pond %d has frozen", ErrMole: "mole hill %d has '
        'grown"}\n\nfunc Flee(n string) error { return newError("ibis.gone", n) }\n\n'
        'func Jam(n int) error { return newError("tapir.jam", n) }\n\n'
        "func Freeze(n int) error {\n\treturn coded(ErrNewt, n)\n}\n\n"
        "func Grow(n int) error {\n\treturn coded(ErrMole, n)\n}\n"
    ),
    "Tab.java": (
        "class Tab {\n"
        '  static final Map<String, String> T = Map.of("lynx.lost", "lynx %s lost its scent", '
        '"wolf.late", "wolf %s came late to the hunt");\n\n'
        '  void trail(String n) { throw error("lynx.lost", n); }\n\n'
        '  void chase(String n) { throw error("wolf.late", n); }\n}\n'
    ),
    "tab.rb": (
        'TEXTS = { puma_gone: "puma %s left the ledge", "puma_back" => "puma %s came back hungry" '
        "}.freeze\n\ndef ledge(n)\n  raise Gone, TEXTS[:puma_gone] % n\nend\n\ndef hungry(n)\n"
        "  raise Back, TEXTS['puma_back'] % n\nend\n"
    ),
    "tab.php": (
        "<?php\n"
        "const TEXTS = ['bison_lost' => 'bison %s lost the herd', 'bison_ill' => 'bison %s caught "
        "a chill'];\n\nfunction herd($n) {\n  throw new E(TEXTS['bison_lost'], $n);\n}\n\n"
        "function chill($n) {\n  throw new E(TEXTS['bison_ill'], $n);\n}\n"
    ),
    "Tab.kt": (
        'val TEXTS = mapOf("elk_stuck" to "elk %s got stuck in snow", "elk_free" to "elk %s broke '
        'free again")\n\nfun stuck(n: String) { throw E(TEXTS["elk_stuck"], n) }\n\n'
        'fun free(n: String) { throw E(TEXTS["elk_free"], n) }\n'
    ),
    "plain.py": "".join(f"def load_{n}(order, client):\n    return order\n\n\n" for n in range(5)),
}
"""Tables whose entries are on one line or several; of a type of Java an index has the head alone."""
ASKED = {
    "cannot open badger gate north": ("one.js", 1, "open"),
    "AppError: the heron depot in Rome is full": ("one.js", 1, "fill"),
    "walrus already left the colony": ("one.js", 1, "leave"),
    "kelp store 7 ran dry": ("many.ts", 2, "eat"),
    "reef 7 was not charted": ("many.ts", 4, "dive"),
    "shrew tunnel north caved in": ("msgs.c", 2, "dig"),
    "vole socket 7 refused": ("msgs.c", 3, "refuse"),
    "crab trap 7 was robbed": ("flat.c", 1, "trap"),
    "clam bed 7 is silted": ("flat.c", 1, "bed"),
    "the milk of anna is sour": ("tab.py", 1, "milk"),
    "egg 7 has cracked in the nest": ("tab.py", 1, "egg"),
    "ShopError: tea has no leaves left": ("tab.py", 1, "tea"),
    "otter bob lost its raft": ("tab.rs", 2, "float"),
    "stork 7 is late by 3 days": ("tab.rs", 2, "arrive"),
    "ibis bob fled the marsh": ("tab.go", 3, "Flee"),
    "tapir gate 7 jammed shut": ("tab.go", 3, "Jam"),
    "newt pond 7 has frozen": ("tab.go", 5, "Freeze"),
    "mole hill 7 has grown": ("tab.go", 5, "Grow"),
    "lynx bob lost its scent": ("Tab.java", 0, "Tab.trail"),
    "wolf bob came late to the hunt": ("Tab.java", 0, "Tab.chase"),
    "puma bob left the ledge": ("tab.rb", 1, "ledge"),
    "puma bob came back hungry": ("tab.rb", 1, "hungry"),
    "bison bob lost the herd": ("tab.php", 2, "herd"),
    "bison bob caught a chill": ("tab.php", 2, "chill"),
    "elk bob got stuck in snow": ("Tab.kt", 1, "stuck"),
    "elk bob broke free again": ("Tab.kt", 1, "free"),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("tables")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return Engine(open_index(index_of(root, root / "index")), None)


@pytest.mark.parametrize("question", ASKED)
def test_the_entry_and_what_uses_its_key_are_among_the_first_hits(engine, question):
    path, line, name = ASKED[question]
    index, hits = engine.index, engine.search(question, top=3)
    assert name in [index.names[hit.row] for hit in hits]
    rarity = rarities(engine.asked(question)[0], index.lexical)
    shown = [(index.file(hit.row).path, each) for hit in hits for each in unit_lines(index, hit.row, rarity)]
    assert not line or (path, line) in [(path, each.number) for path, each in shown if each.best]


OTHERS = {
    "raise.py": (
        "def check(form):\n"
        '    raise Invalid({"email": "gecko mail has no such address"})\n\n\n'
        "def email(user):\n    return user.email\n\n\ndef send(email):\n    return email\n"
    ),
    "code.ts": (
        "export function jam(n: number) {\n"
        "  throw new Fault({ code: 'GATE_JAM', message: `ferret gate ${n} jammed shut` })\n"
        "}\n\nexport function message(code: string) { return code === 'GATE_JAM' }\n"
    ),
    "call.go": (
        "package a\n\n"
        'func Melt(n int) error { return fail(ErrMelt, "polar cap %d melted away") }\n\n'
        "func IsMelt(err error) bool { return errors.Is(err, ErrMelt) }\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("gecko mail has no such address", "check"),
        ("ferret gate 7 jammed shut", "jam"),
        ("polar cap 7 melted away", "Melt"),
    ],
)
def test_what_prints_a_message_itself_stays_first(tmp_path, question, name):
    for path, text in {**OTHERS, "plain.py": FILES["plain.py"]}.items():
        (tmp_path / path).write_text(text)
    engine = Engine(open_index(index_of(tmp_path, tmp_path / "index")), None)
    assert engine.index.names[engine.search(question, top=1)[0].row] == name
