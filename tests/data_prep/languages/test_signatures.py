"""What is declared without a body is a unit of every language that has such declarations."""

import pytest

import neural_code_search as ncs
from data_prep.records import SourceFile
from search.files.languages import read_file

DECLARED = {
    "jar.rs": (
        b'extern "C" {\n    /// Seals the jar.\n    #[link_name = "seal"]\n    pub fn seal_jar(id: i32) -> i32;\n}\n'
        b"trait Shape {\n    /// What it covers.\n    fn area(&self) -> f64;\n    fn told(&self) { tell() }\n}\n",
        {"seal_jar": (3, 4, "Seals the jar."), "Shape.area": (8, 8, "What it covers.")},
    ),
    "clock.kt": (
        b"/** The moment. */\nexpect fun nowNanos(): Long\ninterface Baker {\n    /** Bakes. */\n"
        b"    fun bake(loaves: Int = 3): Boolean\n}\nabstract class Oven { abstract fun heat() }\n",
        {"nowNanos": (2, 2, "The moment."), "Baker.bake": (5, 5, "Bakes."), "Oven.heat": (7, 7, "")},
    ),
    "courier.swift": (
        b"protocol Courier {\n    /// How much it bears.\n    var capacity: Int { get }\n    /// Carries it.\n"
        b"    func carry(parcel: Int) -> Bool\n}\n",
        {"Courier.capacity": (3, 3, "How much it bears."), "Courier.carry": (5, 5, "Carries it.")},
    ),
    "store.go": (
        b"package a\n\ntype Store interface {\n\t// Fetch finds it.\n\tFetch(key string) (int, error)\n}\n\n"
        b"// sum is assembly.\nfunc sum(x []int) int\n",
        {"Store.Fetch": (5, 5, "Fetch finds it."), "sum": (9, 9, "sum is assembly.")},
    ),
    "ledger.scala": (
        b"trait Ledger {\n  /** What is owed. */\n  def balance(of: String): Int\n  def shown: Int = 1\n}\n",
        {"Ledger.balance": (3, 3, "What is owed.")},
    ),
    "valve.zig": (b"/// Opens it.\nextern fn open_valve(id: c_int) c_int;\n", {"open_valve": (2, 2, "Opens it.")}),
    "shape.hs": (
        b"module Shape where\nclass Shape a where\n  -- | How much it covers.\n  area :: a -> Double\n"
        b'foreign import ccall "sin" cSine :: Double -> Double\n',
        {"Shape.area": (4, 4, "How much it covers."), "cSine": (5, 5, "")},
    ),
    "mill.cs": (
        b"interface IMill {\n    /// <summary>Grinds it.</summary>\n    int Grind(int grain);\n}\n"
        b"abstract class Mill { protected abstract void Turn(); }\n",
        {"IMill.Grind": (3, 3, "Grinds it."), "Mill.Turn": (5, 5, "")},
    ),
    "mail.php": (
        b"<?php\nnamespace App;\ninterface Mailer {\n    /** Sends it. */\n"
        b"    public function send(string $to): bool;\n}\n"
        b"abstract class Base { abstract protected function warm(); }\n",
        {"Mailer.send": (5, 5, "Sends it."), "Base.warm": (7, 7, "")},
    ),
    "vault.ex": (
        b'defmodule Vault do\n  @doc "Fetches it."\n  @callback fetch(key :: atom) :: term\nend\n',
        {"Vault.fetch": (2, 3, "Fetches it.")},
    ),
    "sluice.h": (
        b"/** Opens it. */\nint sluice_open(struct sluice *s);\nvoid (*on_open)(int);\n#ifdef X\n"
        b"/* Drains it. */\nSLUICE_API char *sluice_drain(int x);\nint sluice_level(void) SLUICE_PURE;\n#endif\n",
        {"sluice_open": (2, 2, "Opens it."), "sluice_drain": (6, 6, "Drains it."), "sluice_level": (7, 7, "")},
    ),
    "pool.hpp": (
        b"namespace a {\nclass Pool {\n public:\n  explicit Pool(int x);\n"
        b"  /// Takes one.\n  virtual int take() const = 0;\n"
        b"  /// Any.\n  template <class T> void any(T a);\n  int kept;\n  void later();\n};\n"
        b"inline void Pool::later() { kept = 2; }\n/// Adds.\nint add(int a);\nint add(double a);\n}\n",
        {
            "Pool.Pool": (4, 4, ""),
            "Pool.take": (6, 6, "Takes one."),
            "Pool.any": (8, 8, "Any."),
            "add": (14, 14, "Adds."),
        },
    ),
    "Repo.java": (
        b"interface Repo {\n    /** Saves it. */\n    int save(String row);\n}\n",
        {"Repo.save": (3, 3, "Saves it.")},
    ),
}


@pytest.mark.parametrize("path", DECLARED)
def test_what_has_no_body_is_found_with_its_lines_and_comment(path):
    data, expected = DECLARED[path]
    read = read_file(SourceFile("", path, data))
    methods = [unit.pair.method for unit in read.units if unit.pair.method.kind == "abstract"]
    found = {each.dotted: (each.start_line, each.end_line, each.documentation.strip("/* ")) for each in methods[::-1]}
    assert (found, read.left_out) == (expected, "")


def test_a_definition_stands_before_what_only_declares_it(tmp_path, monkeypatch, compiled):
    compiled(tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "mill.h").write_text("/* Grinds the grain. */\nint mill_grind(int grain);\n")
    (tmp_path / "mill.c").write_text('#include "mill.h"\nint mill_grind(int grain)\n{\n    return grain / 2;\n}\n')
    (tmp_path / "other.c").write_text("int other(void) { return 1; }\n")
    index = ncs.index_folder(tmp_path)
    for question in ("mill_grind", "mill grind", "grinds the grain"):
        assert [hit.path for hit in index.search(question)[:2] if hit.name == "mill_grind"] == [
            "mill.c",
            "include/mill.h",
        ], question
