"""What a program printed, with other values in it, leads to what prints it, also beside functions called by digits."""

import pytest

import neural_code_search as ncs
from search.engine.messages import share_as_typed

FILES = {
    "pool.py": 'def part_7(x):\n    return x\n\n\ndef part_12(x):\n    return x * 12\n\n\n'
    'def retry(n):\n    raise RuntimeError("Badger tunnel {} collapsed after {} days".format(n, 2))\n\n\n'
    'def concat(n):\n    raise IOError("Ferret cage " + str(n) + " not latched: " + n)\n\n\n'
    "# quince jelly is boiled here\ndef boil(n):\n    return n + 1\n\n\n"
    '@app.route("/api/v3/persimmon/<int:id>")\ndef show(id):\n    return id\n\n\n'
    '@pytest.mark.kumquat\ndef marked():\n    return 1\n',
    "a.go": 'package a\n\nfunc Part7() int { return 7 }\n\nfunc Open(n int) error {\n'
    '\treturn fmt.Errorf("tapir gate %d jammed at %s: %w", n, "x", err)\n}\n',
    "b.rs": 'fn part_7() -> i32 { 7 }\nfn close(n: i32) {\n    panic!("gecko wall {n} is wet");\n}\n',
    "C.java": 'class C {\n  int part7() { return 7; }\n  @GetMapping("/v4/tamarind/{id}")\n'
    '  String page(int id) { return ""; }\n  void pen(int n) {\n'
    '    throw new IllegalStateException("Bison pen " + n + " overflowed by " + 3 + " heads");\n  }\n}\n',
    "k.cpp": 'void Burn(int n) { throw std::runtime_error("Shrew hill " + std::to_string(n) + " burned for " + x); }\n',
}  # fmt: skip
FILES |= {
    "nest.ts": "@Controller('parcels')\nexport class ParcelController {\n  @Get(':id')\n"
    "  findOne(@Param('id') id: string) {\n    return this.service.one(id)\n  }\n  @Post()\n"
    "  create(@Body() dto: Dto) {\n    return this.service.make(dto)\n  }\n}\n",
    "Spring.java": '@RestController\n@RequestMapping("/buses")\nclass BusController {\n  @GetMapping("/{id}")\n'
    "  Bus one(int id) { return repo.find(id); }\n  @PostMapping\n  Bus make(Bus b) { return repo.save(b); }\n}\n",
    "canoes.py": '@app.get("/canoes/<id>")\ndef canoe(id):\n    return load(id)\n\n\n'
    '@router.post("/canoes")\nasync def build(c):\n    return save(c)\n',
}
FILES |= {
    "vault.ts": 'export enum Fault { Full = "The magpie loft cannot take any more twigs" }\n'
    "export function nest(n: number) { if (n > 9) throw new LoftError(Fault.Full) }\n"
    "export function twigsOfLoft(magpie: number, loft: number, twigs: number) { return magpie }\n",
    "gate.go": 'package a\n\nvar ErrGone = errors.New("ibis: chick already left the colony")\n\n'
    "func Ring(s []string) error { return ErrGone }\nfunc chickLeftColony(c string) bool { return true }\n",
    "hen.rb": "class Hen\n  def comb_above(hen, comb) = hen.comb\n"
    '  validates :comb, numericality: { message: "must stay above the curlew clearance" }\nend\n',
    "feed.js": "export function fetch(url) {\n  throw new Error(`Toucan at ${url} returned an empty crate`);\n}\n"
    "export function emptyCrate(url, toucan) { return { returned: url, at: toucan } }\n",
    "key.py": 'def unlock(code, hutch):\n    raise KeyError("unknown code " + repr(code) + " for hutch " + hutch)\n\n\n'
    "def hutch_code(unknown, code, hutch):\n    return code\n",
    "mesh.cpp": 'void Net::add(int v) { throw E("knot " + std::to_string(v) + " is not part of net " + n_); }\n'
    "int Net::knotOfNet(int knot, int part, int net) { return knot; }\n",
    "eel.py": 'def wind(n):\n    raise E(\n        f"Lamprey {n} winds "\n        f"twice around {n + 1}"\n    )\n\n\n'
    "def winds_around(lamprey, twice):\n    return lamprey\n",
    "gull.R": 'weigh <- function(gull) {\n  stop(sprintf("weight %d of %s is negative", gull$w, gull$n))\n}\n'
    "negative_weight <- function(weight) { error <- weight }\n",
}
ASKED = {
    "Badger tunnel 12 collapsed after 7 days": "retry",
    "Ferret cage 7 not latched: door": "concat",
    "2026-11-27 10:00:01,123 ERROR [main] Ferret cage 7 not latched: door": "concat",
    "quince jelly": "boil",
    "GET /api/v3/persimmon/7": "show",
    "kumquat": "marked",
    "tapir gate 12 jammed at door": "Open",
    "gecko wall 12 is wet": "close",
    "/v4/tamarind/7": "C.page",
    "bison pen 12 overflowed by 7 heads": "C.pen",
    "GET /parcels/:id": "ParcelController.findOne",
    "POST /parcels": "ParcelController.create",
    "GET /buses/7": "BusController.one",
    "POST /buses": "BusController.make",
    "POST /canoes": "build",
    "Shrew hill 7 burned for hours": "Burn",
    "LoftError: The magpie loft cannot take any more twigs": "nest",
    "ibis: chick already left the colony": "Ring",
    "Comb must stay above the curlew clearance": "Hen",
    "Error: Toucan at https://x.org/rss returned an empty crate": "fetch",
    "KeyError: \"unknown code '771' for hutch north\"": "unlock",
    "terminate called an instance of 'std::out_of_range' what(): knot -4 is not part of net big": "Net.add",
    "Lamprey north winds twice around south": "wind",
    "Error: weight -3 of anna is negative": "weigh",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    root = tmp_path_factory.mktemp("small")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return ncs.index_folder(root)


@pytest.mark.parametrize("question", ASKED)
def test_a_message_with_values_leads_to_its_function(small, question):
    assert small.search(question, top=1)[0].name == ASKED[question]


@pytest.mark.parametrize(
    "question",
    ["2026-11-27 10:00:01,123 ERROR [main] Ferret cage 7 not latched: door", "Error: weight -3 of anna is negative"],
)
def test_a_message_with_values_is_certain(small, question):
    assert small.certainty(question).level == "strong"


@pytest.mark.parametrize("question", ["quince jelly", "kumquat", "/api/v3/persimmon/9"])
def test_one_file_is_enough(tmp_path, question):
    (tmp_path / "pool.py").write_text(FILES["pool.py"])
    assert ncs.index_folder(tmp_path).search(question, top=1)[0].name == ASKED.get(question, "show")


@pytest.mark.parametrize(
    ("typed", "share"),
    [
        ("bison pen 12 overflowed by 7 heads", 1.0),
        ("error: bison pen 12 overflowed by 7 heads", 1.0),
        ("error bison pen 12 overflowed by 7 heads", 5 / 6),
        ("bison pen north overflowed by far too many heads", 1.0),
        ("bison herd pen north overflowed", 0.0),
        ("bison north overflowed south heads", 0.0),
        ("bison pen 12 was full", 0.0),
        ("pen 12 overflowed by x", 3 / 4),
        ("bison pen a overflowed by b heads", 1.0),
        ("herd (north) overflowed by (7) heads", 3 / 4),
        ("bison pen /srv/herd overflowed by 'far' heads", 1.0),
        ("bison pen 12 overflowed by 7 heads: too many of them", 5 / 5.4),
        ("bison pen 12 overflowed by 7 heads in spring: too many of them", 5 / 7.4),
        ("bison pen 12 overflowed by 7 heads. too many of them", 5 / 7),
        ("12 7 9", 0.0),
    ],
)
def test_words_with_digits_stand_for_anything(typed, share):
    text = 'throw new E("Bison pen " + n + " overflowed by " + 3 + " heads");'
    assert share_as_typed(typed.split(), text) == pytest.approx(share)
