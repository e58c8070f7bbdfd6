"""A question that is one name leads to what is called so, however it is written."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.question import dotted_name
from search.index.index_file import open_index

FILES = {
    "lib/pool/impl.py": "class QueuePool(Pool):\n    def checkout(self):\n        return self.get_or_create()\n",
    "lib/pool/__init__.py": "from .impl import QueuePool\n",
    "lib/pool/base.py": (
        "import os\n\n\nclass Pool:\n    def get_or_create(self):\n        return os.environ.get('POOL_SIZE')\n\n"
        "    def select(self):\n        return 1\n\n\ndef recycled(config):\n    return config['pool.recycle-after']\n"
    ),
    "lib/sql/build.py": (
        "from typing import overload\n\n\n@overload\ndef select(a: int) -> int: ...\n\n\n"
        "@overload\ndef select(a: str) -> str: ...\n\n\ndef select(a):\n    return a\n\n\n"
        "def traced(function):\n    return function\n"
    ),
    "legacy/build.py": "def built(a):\n    return a\n",
    "rust/clay.rs": "pub struct Clay {}\n\npub trait Shape { fn form(&self) -> u8; }\n\n"
    "impl Shape for Clay { fn form(&self) -> u8 { 2 } }\n",
    "php/Seller.php": "<?php\nclass Seller {\n  public function haggle($x) { return $x; }\n}\n",
    "lib/sql/build.pyi": "def select(a: int) -> int: ...\ndef traced(function): ...\n",
    "lib/main.py": "def options(parser):\n    parser.add_argument('--backend-only', help='the backend')\n",
    "lib/sizes.py": "def measured(config):\n    return config['pool.größe-nach']\n",
    "tests/mocks.py": "class QueuePool:\n    pass\n\n\ndef get_or_create():\n    return None\n",
    "java/ObjectMapper.java": (
        "class ObjectMapper {\n  ObjectMapper() { this(null); }\n  ObjectMapper(Object a) { }\n"
        "  int readValue(int a) { return a; }\n}\n"
    ),
    "cpp/ink.hpp": "namespace ink { namespace detail {\ntemplate <typename T> class vat {\n public:\n"
    "  vat(T* p, int n);\n  void fill(T v) { }\n};\nint dip(int n) { return n; }\n} }\n",
    "cpp/vat.hpp": "namespace dye { class vat { public: int size() { return 1; } }; int dip(int n) { return 2; } }\n",
    "cpp/pen.cpp": "namespace ink::pen {\nint dip(int n) { return 3; }\n}\n",
    "cs/Press.cs": "namespace Acme.Print;\npublic class Print {\n  public Print() {}\n  public Print(string s) {}\n}\n",
    "java/Drum.java": "class Drum {\n  void beat() {}\n  void beat(int n) {}\n"
    "  void beat(String s, List<Integer> n) {}\n  void beat(String s) {}\n}\n",
    "cs/Flute.cs": "class Flute {\n  void Blow() {}\n  void Blow(double n) {}\n  T Blow<T>(T n, int m) {}\n}\n",
    "cpp/lute.cpp": "void Lute::pluck() {}\nvoid Lute::pluck(const std::string& s) {}\nvoid Lute::pluck(int n) {}\n",
    "php/Paper.php": "<?php\nnamespace Acme\\Stock;\nfunction fold_it($x) { return $x; }\n",
    "java/ObjectMapper.ts": "export const mapper = 1\n",
    "go/context.go": "package web\n\ntype Context struct{}\n\nfunc (c *Context) JSON(code int) { c.write(code) }\n",
    "go/render/json.go": "package render\n\ntype JSON struct{}\n\nfunc New() int { return 1 }\n",
    "ts/parse.ts": (
        "export function parse(a: string): string;\nexport function parse(a: number): number;\n"
        "export function parse(a: any): any {\n  return a;\n}\n"
    ),
    "c/loop.h": "int loop_init(struct loop *loop);\n",
    "c/loop.c": "int loop_init(struct loop *loop) {\n  return 0;\n}\n",
    "ruby/builder.rb": "module Rack\n  class Builder\n    def call(env)\n      env\n    end\n  end\nend\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    return Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)


def first(engine, query):
    hit = engine.search(query, top=1)[0]
    text = engine.index.text(hit.row)
    return f"{text.path}:{text.start_line}", engine.index.names[hit.row]


def level(engine, query):
    return engine.certainty(query, engine.search(query)).level


@pytest.mark.parametrize(
    ("query", "place", "name"),
    [
        ("build.py", "lib/sql/build.py:1", "build"),
        ("sql/build", "lib/sql/build.py:1", "build"),
        ("legacy/build.py", "legacy/build.py:1", "build"),
        ("Drum.beat(int)", "java/Drum.java:3", "Drum.beat"),
        ("Drum#beat(String)", "java/Drum.java:5", "Drum.beat"),
        ("Drum.beat(java.lang.String, java.util.List)", "java/Drum.java:4", "Drum.beat"),
        ("beat(String s)", "java/Drum.java:5", "Drum.beat"),
        ("Flute.Blow(double)", "cs/Flute.cs:3", "Flute.Blow"),
        ("Flute.Blow(T, int)", "cs/Flute.cs:4", "Flute.Blow"),
        ("Lute::pluck(int)", "cpp/lute.cpp:3", "Lute.pluck"),
        ("Lute::pluck(std::string)", "cpp/lute.cpp:2", "Lute.pluck"),
        ("detail::vat", "cpp/ink.hpp:2", "vat"),
        ("ink::detail::vat", "cpp/ink.hpp:2", "vat"),
        ("dye::vat", "cpp/vat.hpp:1", "vat"),
        ("ink::detail::dip", "cpp/ink.hpp:7", "dip"),
        ("dye::dip", "cpp/vat.hpp:1", "dip"),
        ("ink::pen::dip", "cpp/pen.cpp:2", "dip"),
        ("Acme.Print.Print", "cs/Press.cs:2", "Print"),
        ("\\Acme\\Stock\\fold_it", "php/Paper.php:3", "fold_it"),
        ("java/ObjectMapper.java", "java/ObjectMapper.java:1", "ObjectMapper"),
        ("self.select", "lib/sql/build.py:12", "select"),
        ("$this->haggle()", "php/Seller.php:3", "Seller.haggle"),
        ("$seller->haggle", "php/Seller.php:3", "Seller.haggle"),
        ("<Clay as Shape>::form", "rust/clay.rs:5", "Clay.form"),
        ("lib/pool/impl.py", "lib/pool/impl.py:1", "impl"),
        ("impl.py", "lib/pool/impl.py:1", "impl"),
        ("./lib/pool/base.py", "lib/pool/base.py:1", "base"),
        ("pool/base", "lib/pool/base.py:1", "base"),
        ("lib.pool.base", "lib/pool/base.py:1", "base"),
        ("lib/pool", "lib/pool/__init__.py:1", "__init__"),
        ("lib.select", "lib/sql/build.py:12", "select"),
        ("build.select", "lib/sql/build.py:12", "select"),
        ("select", "lib/sql/build.py:12", "select"),
        ("select()", "lib/sql/build.py:12", "select"),
        ("def select", "lib/sql/build.py:12", "select"),
        ("@traced", "lib/sql/build.py:16", "traced"),
        ("Pool.select", "lib/pool/base.py:8", "Pool.select"),
        ("lib.pool.Pool.select", "lib/pool/base.py:8", "Pool.select"),
        ("Pool#select", "lib/pool/base.py:8", "Pool.select"),
        ("Pool::select", "lib/pool/base.py:8", "Pool.select"),
        ("Pool->select()", "lib/pool/base.py:8", "Pool.select"),
        ("QueuePool.select", "lib/pool/base.py:8", "Pool.select"),
        ("QueuePool", "lib/pool/impl.py:1", "QueuePool"),
        ("class QueuePool", "lib/pool/impl.py:1", "QueuePool"),
        ("ObjectMapper", "java/ObjectMapper.java:1", "ObjectMapper"),
        ("new ObjectMapper()", "java/ObjectMapper.java:1", "ObjectMapper"),
        ("ObjectMapper(Object)", "java/ObjectMapper.java:3", "ObjectMapper.ObjectMapper"),
        ("ObjectMapper(Number)", "java/ObjectMapper.java:1", "ObjectMapper"),
        ("com.example.ObjectMapper", "java/ObjectMapper.java:1", "ObjectMapper"),
        ("ObjectMapper.readValue(int)", "java/ObjectMapper.java:4", "ObjectMapper.readValue"),
        ("func (*Context) JSON", "go/context.go:5", "Context.JSON"),
        ("func (c *Context) JSON(code int)", "go/context.go:5", "Context.JSON"),
        ("Context.JSON", "go/context.go:5", "Context.JSON"),
        ("render.New", "go/render/json.go:5", "New"),
        ("parse", "ts/parse.ts:3", "parse"),
        ("loop_init", "c/loop.c:1", "loop_init"),
        ("Rack::Builder", "ruby/builder.rb:2", "Rack.Builder"),
        ("Rack::Builder#call", "ruby/builder.rb:3", "Rack.Builder.call"),
        ("--backend-only", "lib/main.py:1", "options"),
        ("$POOL_SIZE", "lib/pool/base.py:5", "Pool.get_or_create"),
        ("${POOL_SIZE}", "lib/pool/base.py:5", "Pool.get_or_create"),
        ("POOL_SIZE", "lib/pool/base.py:5", "Pool.get_or_create"),
        ("pool.recycle-after", "lib/pool/base.py:12", "recycled"),
        ("pool.größe-nach", "lib/sizes.py:1", "measured"),
    ],
)  # fmt: skip
def test_a_name_leads_to_its_best_reading(engine, query, place, name):
    assert first(engine, query) == (place, name)
    assert level(engine, query) == "strong"


@pytest.mark.parametrize(
    ("query", "name", "nearest"),
    [
        ("QeuePool", "QueuePool", "QueuePool"),
        ("objectMaper", "ObjectMapper", "ObjectMapper"),
        ("get_or_craete", "Pool.get_or_create", "get_or_create"),
        ("Contxt.JSON", "Context.JSON", "Context.JSON"),
        ("QueuePool.chekcout", "QueuePool.checkout", "checkout"),
        ("imple.py", "impl", "lib/pool/impl.py"),
        ("impl.pyy", "impl", "lib/pool/impl.py"),
        ("pool/impl.yp", "impl", "lib/pool/impl.py"),
        ("ObjectMapper.jav", "ObjectMapper", "java/ObjectMapper.java"),
        ("java/objectmapper.jvaa", "ObjectMapper", "java/ObjectMapper.java"),
        ("clay.sr", "clay", "rust/clay.rs"),
        ("recyled", "recycled", "recycled"),
    ],
)
def test_a_misspelt_name_leads_to_the_nearest_and_is_said_to_be_none(engine, query, name, nearest):
    assert first(engine, query)[1] == name
    found = engine.certainty(query, engine.search(query))
    assert (found.level, found.nearest[0]) == ("weak", nearest)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Type#method", "Type.method"),
        ("a::b::c()", "a.b.c"),
        ("\\App\\Till->pay($x)", "App.Till.pay"),
        ("\\App\\Till", "App.Till"),
        ("Stack$push_item", "Stack.push_item"),
        ("self$push_item(3)", "push_item"),
        ("App\\Till::pay($x);", "App.Till.pay"),
        ("func (t *Till) Pay(x int)", "Till.Pay"),
        ("func (t Till[K]) Pay", "Till.Pay"),
        ("shop.(*Till).Pay", "shop.Till.Pay"),
        ("(*Till[K]).Pay", "Till.Pay"),
        ("shop::Till<Map<K, V>>::pay", "shop.Till.pay"),
        ("Till.pay!/1", "Till.pay!"),
        ("#pay", "pay"),
        ("HTTP/2", ""),
        ("load/2", "load"),
        ("app/load", ""),
        ("Outer$Inner.method", "Outer.Inner.method"),
        ("$scope", ""),
        ("a<b", ""),
        ("async def run", "run"),
        ("empty?", "empty?"),
        ("@cached", "cached"),
        ("two words", ""),
        ("what is it?", ""),
        ("a.b.", ""),
        ("", ""),
    ],
)
def test_a_name_as_people_write_it(typed, name):
    assert dotted_name(typed) == name


def test_other_questions_are_no_names(engine):
    assert engine.names.read("how is a pool recycled") is None
    assert engine.names.read("zanzibar") is None
    assert [hit.stage for hit in engine.search("recycled pool", top=1)] == ["words"]


def test_what_is_called_by_all_words_of_a_question_comes_first(tmp_path):
    others = (f'def load_{name}(item):\n    """Loads an item."""\n    return item\n\n\n' for name in "abcdefgh")
    write(tmp_path / "tree", {"things.py": "".join(others), "lib/store.py": "def load_item(key):\n    return key\n"})
    found = Engine(open_index(index_of(tmp_path / "tree", tmp_path / "index")), None)
    for query in ("load item", "Load Item"):
        assert first(found, query)[1] == "load_item"
    assert first(found, "loads an item")[1] != "load_item"
