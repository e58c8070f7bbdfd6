"""Text that is typed, or that a program printed, leads to the line that has it."""

import numpy as np
import pytest

from search.engine.engine import Engine
from search.engine.matching import LineOwners
from search.engine.name_reading import NameReader
from search.engine.phrases import Phrases
from search.engine.question import asked_words
from search.index.build import refresh
from search.index.code_index import Index
from search.index.index_file import open_index
from search.index.joint_index import JointFiles

FILES = {
    "pool.py": """
LIMIT = 7


def connect(n):
    if n > LIMIT:
        raise RuntimeError("Marmot depot limit of size %d exceeded" % n)
    return n


def reopen(name, tries):
    raise ValueError(f"Otter channel {name!r} not reopened after {tries} tries, "
                     f"giving up on {name}")


def report(error):
    raise OSError("Lynx cannot write " + error.path + " to the burrow: " + str(error))


def fold(count):
    raise KeyError("Badger tunnel {} collapsed near gate {}".format(count, count + 1))
""",
    "messages.py": 'VOLE_MISSING = "Vole record {} was never counted in season {}"\n\nOTHER = 3\n',
    "counting.py": "from messages import VOLE_MISSING\n\n\n"
    "def tally(x):\n    raise KeyError(VOLE_MISSING.format(x, 2))\n",
    "catalogue.ts": 'export const texts = {\n  heronLate: "Heron was seen late at pond {pond}",\n  other: "x",\n};\n',
    "watch.ts": 'import { texts } from "./catalogue";\n\nexport function watch(pond: number) {\n'
    "  if (pond > 3) {\n    throw new Error(format(texts.heronLate, pond));\n  }\n  return pond;\n}\n",
    "socket.js": "export function attach(n) {\n"
    "  throw new Error(`Stoat socket ${n} refused after ${n + 1} attempts`);\n}\n",
    "Basin.java": 'class Basin {\n  private static final String TORN = "Crane buffer of %s bytes is torn";\n\n'
    "  int area(int n) { return n; }\n\n"
    "  void fold(int n) {\n    throw new IllegalStateException(String.format(TORN, n));\n  }\n}\n",
    "crate.go": 'package crate\n\nimport "fmt"\n\n// Pack does.\nfunc Pack(n int) error {\n'
    '\treturn fmt.Errorf("weasel crate of %d boxes overturned: %w", n, errBoxes)\n}\n',
    "wire.go": 'package crate\n\nvar ErrCut = errors.New("osprey: frame cut in transit")\n\n'
    "func ReadFrame(b []byte) error {\n\treturn ErrCut\n}\n",
    "texts.cs": "static class Texts\n{\n    const string NoFile = \"The gibbon file '{0}' is not readable\";\n}\n",
    "Reader.cs": "class Reader\n{\n    void Load(string f)\n    {\n"
    "        throw new ArgumentException(string.Format(Texts.NoFile, f));\n    }\n}\n",
    "made.rb": "def made(x)\n  Mark.new(x)\nend\n",
    "door.R": 'open_door <- function(id) {\n  stop("wallaby door ", id, " has rusted shut")\n}\n\n'
    "shut_door <- function(door) {\n  shut(door)\n}\n",
    "Bears.java": 'class Bears {\n  int dens(int id) {\n    return id;\n  }\n\n  @PostMapping(path = "/hibernate", '
    'consumes = "text")\n  void sleep(Bear b) {\n    service.put(b);\n  }\n}\n',
    "urls.py": 'urls = [\n    path("falcons/<int:pk>/flights/", views.flights),\n]\n\n\n'
    "def path(path):\n    return path\n",
    "routes.py": '@app.route("/api/v2/marzipan")\ndef sweets():\n    return {"nougat_field": 3}\n',
    **{
        f"part_{n}.py": f'def part_{n}(x):\n    """Reads part {n} of size {n}."""\n    return x + {n}\n'
        for n in range(1, 14)
    },
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = tmp_path_factory.mktemp("phrases")
    for name, text in FILES.items():
        (root / name).write_text(text)
    refresh(root, root / "index", processes=0, tell=lambda *_: None)
    return open_index(root / "index")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Marmot depot limit of size 7 exceeded", "connect"),
        ("RuntimeError: Marmot depot limit of size 12 exceeded", "connect"),
        ("Otter channel 'left bank' not reopened after 3 tries, giving up on left bank", "reopen"),
        ("Lynx cannot write /tmp/a.txt to the burrow: no space left", "report"),
        ("Badger tunnel 5 collapsed near gate 6", "fold"),
        ("Vole record 17 was never counted in season 2", "tally"),
        ("Heron was seen late at pond 7", "watch"),
        ("Stoat socket 9 refused after 10 attempts", "attach"),
        ("Crane buffer of 12 bytes is torn", "Basin.fold"),
        ("weasel crate of 4 boxes overturned: part 7 is missing", "Pack"),
        ("reading: osprey: frame cut in transit", "ReadFrame"),
        ("The gibbon file 'a.txt' is not readable", "Reader.Load"),
        ("Error: wallaby door 7 has rusted shut", "open_door"),
        ("/api/v2/marzipan", "sweets"),
        ("GET /api/v2/marzipan", "sweets"),
        ("POST /hibernate", "Bears.sleep"),
        ("/api/hibernate", "Bears.sleep"),
        ("falcons/<int:pk>/flights/", "urls"),
        ("nougat_field", "sweets"),
        ("marzipan", "sweets"),
    ],
)
def test_a_message_leads_to_the_function_that_has_it(index: Index, message: str, name: str):
    for by_file in (False, True):
        assert index.names[Engine(index, None).search(message, by_file=by_file)[0].row] == name


def test_a_message_stands_before_names_and_comments_that_have_its_words(tmp_path):
    texts = {
        "worker_process.py": "def start_worker_processes(worker, processes):\n    return worker.start(processes)\n",
        "notes.py": 'def note(x):\n    """Could not start worker processes."""\n    return x\n',
        "loops.py": "def check(pool):\n    if not pool:\n        raise Stop('Could not start worker processes')\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    refresh(tmp_path, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")
    hits = Engine(index, None).search("Stop: Could not start worker processes")
    assert index.names[hits[0].row] == "check"
    assert index.names[Engine(index, None).search("start processes of a worker")[0].row] == "start_worker_processes"
    rows = Phrases(index, LineOwners(index), NameReader(index)).rows
    question = "could not start worker processes"
    said = {index.names[row]: weight for row, weight in rows(asked_words(question), typed=question).items()}
    assert said["check"] > said["note"] + 4
    cut = rows(asked_words(question), typed="could not start 3 worker processes")
    assert max(cut.values()) < said["check"] - 3


def test_words_count_in_their_order_and_near_each_other(index: Index):
    def weight(question: str) -> float:
        return max(
            Phrases(index, LineOwners(index), NameReader(index)).rows(asked_words(question)).values(), default=0.0
        )

    whole = weight("Marmot depot limit of size 7 exceeded")
    assert 0.9 < whole <= 2.0
    assert weight("exceeded size limit depot Marmot") < weight("Marmot depot limit of a thing") < whole
    assert weight("Marmot weasel heron crane") == 0.0
    assert weight("") == weight("of the 7") == 0.0


def test_a_question_in_quotes_leaves_what_has_its_words_one_after_the_other(index: Index):
    engine = Engine(index, None)

    def names(question: str) -> set[str]:
        return {index.names[hit.row] for hit in engine.search(question, top=50)}

    assert names('"limit of size"') == {"connect"}
    assert names('"size limit"') == set()
    said = engine.certainty('"size limit"', engine.search('"size limit"')).line
    assert said == "nothing found: no place has these words one after the other"
    assert names('"heronLate"') == {"texts", "watch"}
    assert names('path:watch.ts "heronLate"') == {"watch"}
    assert len(names("limit of size")) > 5


def test_comments_are_left_out_if_they_are_hidden(tmp_path):
    (tmp_path / "a.py").write_text('def f():\n    """Newts gather under wet stones."""\n    return 1\n')
    refresh(tmp_path, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")
    phrases, words = Phrases(index, LineOwners(index), NameReader(index)), asked_words("newts gather under wet stones")
    assert phrases.rows(words)
    assert not phrases.rows(words, comments=False)


def test_places_survive_the_file_of_an_index(index: Index):
    whole = index.whole
    files, places = whole.occurrences("stoat")
    assert [index.files[file].path for file in files.tolist()] == ["socket.js"]
    assert whole.line(int(files[0]), int(places[0])) == 2
    assert whole.words_of(int(files[0]))[int(places[0]) >> 1] == "stoat"
    halves = [whole.taken(np.arange(5)), whole.taken(np.arange(5, len(whole)))]
    for each in (whole, JointFiles.over(halves)):
        for wanted in (np.arange(len(whole)) % 2 == 0, np.arange(len(whole)) < 0):
            *some, begun = each.occurrences_in(wanted, ("size", "zebra", "stoat"))
            for term, start, end in zip(("size", "zebra", "stoat"), begun, begun[1:], strict=False):
                files, places = whole.occurrences(term)
                is_wanted = wanted[files]
                expected = files[is_wanted].tolist(), places[is_wanted].tolist()
                assert tuple(part[start:end].tolist() for part in some) == expected
    order = np.random.default_rng(0).permutation(len(index.files))
    taken = whole.taken(order)
    parted = whole.taken(order[:5]).joined(whole.taken(order[5:]))
    for stem in ("stoat", "size", "crane"):
        for one, other in zip(taken.occurrences(stem), parted.occurrences(stem), strict=True):
            assert one.tolist() == other.tolist()
        assert sorted(order[taken.occurrences(stem)[0]].tolist()) == sorted(whole.occurrences(stem)[0].tolist())
