"""A member that a type declares without a row of its own leads to the type, whatever its declaration begins with."""

import time

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.written_names import declares_member
from search.index.index_file import open_index

FILES = {
    "Depot.java": (
        "public class Depot {\n    private final Logger ledger = new Logger();\n"
        "    private Map<String, List<Crate>> shelves;\n    int a, total;\n}\n"
    ),
    "Other.java": (
        "public class Other {\n    public int ledger() { return 1; }\n"
        "    public void shelves(Depot depot) { depot.shelves.clear(); }\n    int total() { return 2; }\n}\n"
    ),
    "ship.hpp": (
        "class Ship {\npublic:\n    int load() const;\nprivate:\n    unsigned int keel = 3;\n    Anchor *anchor;\n"
        "    std::unique_ptr<Mast> mast;\n    int sails[4];\n    void (*callback)(int);\n};\n"
    ),
    "ship.cpp": "int keel() { return 1; }\nint mast() { return 1; }\nint sails() { return 4; }\nvoid callback() {}\n",
    "Taxi.php": "<?php\nclass Taxi {\n    private int $meter;\n    public ?string $plate = null;\n}\n"
    "class Meter { function meter() {} function plate() {} }\n",
    "Port.cs": "class Port {\n    private readonly ILogger<Port> _logger;\n    internal Dictionary<int, int>? quays;\n"
    "}\nclass Log { void Quays() {} }\n",
    "raft.rs": "pub struct Raft { pub logs: Vec<Log>, knots: u32 }\nfn logs() {}\nfn knots() {}\n",
    "gull.zig": "pub const Gull = struct {\n    beak: u32,\n    wing_span: f32 = 1.0,\n};\nfn beak() void {}\n",
    "owl.lua": "local Owl = {}\nOwl.eyes = 2\nfunction Owl:hoot() return 1 end\nreturn Owl\n",
    "sled.go": "package s\n\ntype Sled struct {\n\tRunner  string\n\tmu, rw  sync.Mutex\n}\n\nfunc rw() {}\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("members")
    engine = Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)
    engine.names.paths.folder = folder / "tree"
    return engine


@pytest.mark.parametrize(
    "question",
    [
        *("Depot.ledger", "Depot#shelves", "Depot.total", "Ship::keel", "Ship::anchor", "Ship.mast", "Ship::sails"),
        *("Ship->callback", "Taxi::meter", "Taxi.plate", "Port._logger", "Port.quays", "Raft::logs", "Raft.knots"),
        *("Gull.beak", "Sled.rw", "Sled.mu"),
    ],
)
def test_a_member_leads_to_its_type(engine, question):
    hits = engine.search(question)
    owner = question.replace("::", ".").replace("#", ".").replace("->", ".").partition(".")[0]
    assert engine.index.names[hits[0].row] == owner
    assert engine.certainty(question, hits).level == "strong"


@pytest.mark.parametrize("question", ["Owl.eyes", "Owl::eyes", "Owl#eyes"])
def test_a_member_of_what_is_no_type_is_there(engine, question):
    hits = engine.search(question)
    assert engine.index.file(hits[0].row).path == "owl.lua"
    assert engine.certainty(question, hits).level == "strong"


def test_what_a_type_only_uses_is_no_member(engine):
    assert engine.certainty("Depot.crate", engine.search("Depot.crate")).level != "strong"


def test_a_long_list_is_read_at_once():
    began = time.perf_counter()
    assert not declares_member("{" + "a b, " * 20_000 + "x < " * 20_000 + "}", "y")
    assert declares_member("class A {\n" + "int b, " * 20_000 + "y;", "y")
    assert not declares_member("y x < " * 20_000, "y")
    assert time.perf_counter() - began < 1
