"""A message with few telling words leads to what prints it, whatever values are beside them, and whoever expects it."""

import pytest

import neural_code_search as ncs

FILES = {
    "shelf.py": 'def missing(jar, shelf):\n    raise KeyError(f"{jar} not found in the {shelf} pantry ({jar})")\n\n\n'
    'def unread(jar):\n    raise OSError(f"Could not label {jar} for {jar}")\n\n\n'
    'def rack(jar):\n    raise OSError("{} does not fit the rack: {}".format(jar, jar))\n\n\n'
    'def rejected(jar):\n    raise ValueError("Jar is not sealed: " + jar)\n\n\n'
    'def negative(n):\n    raise ValueError("weight can\'t be negative")\n',
    "lid.go": 'package lid\n\nfunc Close(err error) error {\n\treturn fmt.Errorf("failed to close lid: %w", err)\n}\n\n'
    "func FailedLid(failed, lid, close string) string {\n\treturn failed\n}\n",
    "cup.rs": 'fn pour(n: u8) {\n    panic!("No cups were poured, \\\n'
    '            which means that the kettle ran dry");\n}\n',
    "Sip.scala": 'object Sip {\n  def sip(n: Int) = {\n    sys.error(s"""|Found a chip in cup $n\n'
    '                  |while rinsing it""")\n  }\n}\n',
    "mug.ts": 'export function drain(mug: Mug) {\n  throw new Error(`Mug "${mug.name}" does not exist.`);\n}\n\n'
    "export class Mug {\n  exist(mug: Mug) {\n    return mug;\n  }\n}\n",
    "src/Tea/Brewer.php": "<?php\nnamespace Tea;\nclass Brewer {\n  function brew($pot) {\n"
    "    throw new LogicException('This expects instances of the Tea\\Leaf class to work');\n  }\n}\n",
    "src/Tea/Leaf.php": "<?php\nnamespace Tea;\nclass Leaf {\n  function leaf() { return 1; }\n"
    "  function expects($instances) { return $instances; }\n}\n",
    "Spoon.java": "class Spoon {\n  void stir(String s) {\n"
    '    throw new IllegalStateException("Bent handle \\"" + s + "\\" caused by " + s);\n  }\n}\n',
    "bowl.kt": "class Bowl(val rim: Int) {\n    init {\n"
    '        require(rim > 0) { "rim mustn\'t be below zero here" }\n    }\n}\n\n'
    "fun rims(n: Int): Int {\n    val rim = 0\n    return rim + n\n}\n",
    **{
        f"parts/part_{n}.py": f"def local_host_{n}(jar, users, label, lid, mug):\n"
        f'    config = app.json("jar", "closed {n}")\n    jar.label(users, sealed=exist({n}), found=config)\n'
        "    return localhost, pantry(users), weight, negative\n"
        for n in range(60)
    },
    **{
        f"tests/test_jar_{n}.py": f"def test_tasted_{n}():\n"
        f'    assert error == "Jam {n} was tasted twice"\n    assert str(other) == "Jam 7 was tasted twice"\n'
        for n in range(60)
    },
    "taste.py": 'def taste(n):\n    raise RuntimeError("Jam %d was tasted twice" % n)\n',
}
ASKED = {
    "localhost not found in the users pantry (jar)": "missing",
    "Could not label app/config.json for /srv/users/app.json": "unread",
    "Jar is not sealed: localhost": "rejected",
    "ValueError: weight can't be negative": "negative",
    "failed to close lid: users of config are closed": "Close",
    "error: failed to close lid: users of config are closed": "Close",
    "No cups were poured, which means that the kettle ran dry": "pour",
    "Found a chip in cup 7 while rinsing it": "Sip.sip",
    'Mug "users" does not exist.': "drain",
    "This expects instances of the Tea\\Leaf class to work": "Brewer.brew",
    'Bent handle "config/app.json" caused by users': "Spoon.stir",
    "rim mustn't be below zero here": "Bowl",
    "Jam 7 was tasted twice": "taste",
    "does not fit the rack: localhost": "rack",
}


@pytest.fixture(scope="module")
def pantry(tmp_path_factory):
    root = tmp_path_factory.mktemp("pantry")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return ncs.index_folder(root)


@pytest.mark.parametrize("question", ASKED)
def test_a_short_message_leads_to_what_prints_it(pantry, question):
    assert pantry.search(question, top=1)[0].name == ASKED[question]


@pytest.mark.parametrize("question", ["Jar is not sealed: localhost", "Could not label app/config.json for users"])
def test_a_message_in_quotes_is_found_with_its_values(pantry, question):
    assert [hit.name for hit in pantry.search(f'"{question}"')] == [ASKED.get(question, "unread")]


def test_what_nothing_prints_is_not_found_in_quotes(pantry):
    assert not pantry.search('"Jars of localhost are on the table"')


def test_a_name_stands_before_code_that_has_its_words(pantry):
    assert pantry.search("Tea\\Leaf", top=1)[0].name == "Leaf"
    assert pantry.search("how does src/Tea/Leaf.php expect instances", top=1)[0].name in ("Leaf", "Leaf.expects")
