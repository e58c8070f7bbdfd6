"""Functions of five languages: names, documentation, comments and fields, in whole, broken and hostile files."""

from pathlib import Path

import pytest

from data_prep.languages.comments import first_sentence, plain_comment, summary
from data_prep.languages.language import FoundFunction, ParsedSource
from data_prep.languages.registry import LANGUAGES, language, language_of

PYTHON = '''#!/usr/bin/env python
"""Module doc."""
class Pool(Base):
    """Of workers."""
    @staticmethod
    async def fetchAll(urls):
        r"""Return the :class:`~pool.Bar` of ``x.y``. And more.

        Args:
            urls: where
        """
        # a comment
        return self.client.get(first(urls))(urls)
    def p(self): pass
    class Inner:
        def stop(self):
            """Stop it."""
            raise NotImplementedError
def top():
    def inner():
        """Not found, since it is inside."""
    return inner()
'''
JAVASCRIPT = """/* Copyright */

/**
 * Adds up the {@link Foo} numbers. More.
 * @param {number} a
 */
export const total = async (values) => { list.push(c); new Day(); };
// one
// two lines here
Pool.prototype.close = function() { this.drain() };
class B { /** Says it. */ static make() {}
  handler = () => 1; // trailing, of nothing
  get size() {return 1} constructor() {} }
var o = { /** The key of it. */ key: function() {}, *list() {}, "text": x => 1 }, w = 3;
module.exports = function* () {};

// far away

function last() { return 1; }
"""
TYPESCRIPT = """namespace N {
 /** Exported to all. */
 export function run(): void {} }
export default class B<T> {
  /** Docs of load. */
  @Input() private async load(path: string): Promise<void> { await this.read(path) } abstract q(): void }
"""
GO = """// Package a does.
package a

// Foo does the thing. It is
// long.
//nolint:foo
func (s *Server[T]) Foo(a int) error { s.base.Call(a); fmt.Println(a); return nil }
func assembly()

func New() *Server { return &Server{} }
"""
JAVA = """// x
class A { /** Gets it. Now. */ @Override int foo(int a) { // line
  return bar(a); } A() { } }
"""

SAMPLES = {"python": PYTHON, "javascript": JAVASCRIPT, "typescript": TYPESCRIPT, "go": GO, "java": JAVA}
GOLDEN = Path(__file__).parents[2] / "search" / "files" / "golden"
WITHOUT_TYPES = {"elixir"}
"""Languages whose grammars lose the types around functions at an error behind them."""


def parsed(name: str, text: str, path: str = "") -> ParsedSource:
    return language(name).parse(text.encode(), path or f"a{language(name).suffixes[0]}")


def told(found: FoundFunction) -> tuple[str, str, int, int, str]:
    return found.dotted, found.kind, found.start_line, found.end_line, found.query


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "python",
            PYTHON,
            [
                ("Pool.fetchAll", "method", 5, 13, "Return the pool.Bar of x.y."),
                ("Pool.p", "method", 14, 14, ""),
                ("Pool.Inner.stop", "method", 16, 18, "Stop it."),
                ("top", "function", 19, 22, ""),
            ],
        ),
        (
            "javascript",
            JAVASCRIPT,
            [
                ("total", "function", 7, 7, "Adds up the Foo numbers."),
                ("Pool.close", "method", 10, 10, "one two lines here"),
                ("B.make", "method", 11, 11, "Says it."),
                ("B.handler", "method", 12, 12, ""),
                ("B.size", "method", 13, 13, ""),
                ("B.constructor", "constructor", 13, 13, ""),
                ("key", "method", 14, 14, "The key of it."),
                ("list", "function", 14, 14, ""),
                ("text", "method", 14, 14, ""),
                ("", "function", 15, 15, ""),
                ("last", "function", 19, 19, ""),
            ],
        ),
        (
            "typescript",
            TYPESCRIPT,
            [("N.run", "method", 3, 3, "Exported to all."), ("B.load", "method", 6, 6, "Docs of load.")],
        ),
        (
            "go",
            GO,
            [("Server.Foo", "method", 7, 7, "Foo does the thing."), ("New", "function", 10, 10, "")],
        ),
        ("java", JAVA, [("A.foo", "method", 2, 3, "Gets it."), ("A.A", "constructor", 3, 3, "")]),
    ],
)
def test_functions_are_found_with_their_documentation(name, text, expected):
    assert [told(found) for found in parsed(name, text).functions] == expected


def test_fields_have_the_words_of_the_body_and_the_calls_in_order():
    fetch, *_ = parsed("python", PYTHON).functions
    fields = fetch.fields()
    assert fields["name"] == ("fetch", "all")
    assert fields["tokens"] == ("client", "get", "first", "urls")
    assert fields["api"] == ("first", "client", "get")
    assert fields["ast"][:2] == ("decorated_definition", "decorator")
    assert "string_content" not in fields["ast"]
    total, close, *_ = parsed("javascript", JAVASCRIPT).functions
    assert total.fields()["api"] == ("list", "push", "Day", "new")
    assert close.fields()["api"] == ("Pool", "drain")
    assert parsed("go", GO).functions[0].fields()["api"] == ("base", "Call", "fmt", "Println")
    assert parsed("java", JAVA).functions[0].fields()["api"] == ("A", "bar")


def test_comments_and_docstrings_are_spans_of_the_text():
    data = PYTHON.encode()
    texts = [data[start:end].decode() for start, end in parsed("python", PYTHON).comments]
    assert [text.partition("\n")[0] for text in texts] == [
        "#!/usr/bin/env python", '"""Module doc."""', '"""Of workers."""',
        'r"""Return the :class:`~pool.Bar` of ``x.y``. And more.', "# a comment", '"""Stop it."""',
        '"""Not found, since it is inside."""',
    ]  # fmt: skip
    java = [JAVA[start:end] for start, end in parsed("java", JAVA).comments]
    assert java == ["// x", "/** Gets it. Now. */", "// line"]
    assert parsed("go", GO).code_start == GO.index("package")
    attributes = '@moduledoc "Of A."', "@moduledoc false", "@spec f() :: 1", '@doc ~S"""\n  Gets it.\n  """', '@x "y"'
    elixir = "defmodule A do\n  " + "\n  ".join(attributes) + "\n  def f(), do: -1 # one\nend\n"
    comments = [elixir[start:end] for start, end in parsed("elixir", elixir).comments]
    assert comments == [attributes[0], attributes[3], "# one"]


def test_stubs_are_marked():
    assert [found.is_stub for found in parsed("python", PYTHON).functions] == [False, True, True, False]
    text = "function a() {\n /* to do */ }\nfunction b() { return 1; }"
    assert [found.is_stub for found in parsed("javascript", text).functions] == [True, False]


@pytest.mark.parametrize("name", LANGUAGES)
def test_broken_text_costs_only_the_functions_that_contain_it(name):
    good = SAMPLES.get(name) or next(path.read_text(encoding="utf-8") for path in GOLDEN.iterdir() if path.stem == name)
    whole = parsed(name, good)
    found = parsed(name, f"{good}\n)]}} (((\n")
    what = (lambda each: told(each)[2:]) if name in WITHOUT_TYPES else told
    assert {what(each) for each in found.functions} <= {what(each) for each in whole.functions}
    assert parsed(name, "\0\x01 )))").functions == []
    assert parsed(name, "").functions == []


def test_deep_nesting_is_bounded():
    deep = "function f() { " * 400 + "}" * 400
    found = parsed("javascript", deep)
    assert len(found.functions) <= 17
    assert found.left_out >= 383
    nested = "x(" * 20_000 + ")" * 20_000
    one = parsed("javascript", f"/** Calls it many times over. */ function f() {{ {nested} }}").functions
    assert len(one[0].fields()["ast"]) <= 1000


def test_a_file_of_an_odd_size_or_language_is_refused():
    with pytest.raises(ValueError, match="longer than 2 MiB"):
        parsed("go", " " * (3 << 20))
    with pytest.raises(ValueError, match="there are python, javascript, typescript, java"):
        language("cobol")
    assert language_of("a/b.tsx") is language("typescript")
    assert language_of("a/README.md") is None


@pytest.mark.parametrize(
    ("raw", "plain", "sentence"),
    [
        ('"""\n    Reads it.\n\n    :param x: y\n    """', "Reads it.\n\n:param x: y", "Reads it."),
        ("/** Reads\n   * all.\n   * @return {string}\n   */", "Reads\nall.\n@return {string}", "Reads all."),
        ('"""|coro|\n\n    Reads all of it."""', "|coro|\n\nReads all of it.", "Reads all of it."),
        ("// Reads.\n//go:noinline\n// More.", "Reads.\n\nMore.", "Reads."),
        ("/**\n * @param {string} x\n */", "@param {string} x", ""),
        ("'''fit(X, y)\n\n    Fit the model.'''", "fit(X, y)\n\nFit the model.", "Fit the model."),
        ("/*!\n * Reads it.\n */", "Reads it.", "Reads it."),
        ("// -----\n// Section\n// -----", "-----\nSection\n-----", "Section"),
        ("/* eslint-disable */", "", ""),
        ('"""Returns e.g. `text <https://x.y>`_ of it. Then."""', "Returns e.g. `text <https://x.y>`_ of it. Then.",
         "Returns e.g. text of it."),
    ],
)  # fmt: skip
def test_comments_become_plain(raw, plain, sentence):
    assert plain_comment(raw) == plain
    assert first_sentence(plain) == sentence


def test_a_summary_ends_at_a_blank_line_or_tag():
    assert summary("One two.\n\nThree.") == "One two."
    assert summary("One\ntwo.\nArgs:\n  x: y") == "One\ntwo."
    assert summary("@param x") == ""


RUBY = """class Reader
  # Public: Reads a whole file.
  #
  # name - of the file
  sig { params(name: String).returns(String) }
  def whole(name)
    name.read
  end

  # :call-seq:
  #   part(name) -> string
  #   part(name, size) -> string
  #
  # Reads a part of it.
  #: (String) -> String
  # rubocop:disable Metrics/AbcSize
  def part(name)
    name.part
  end

  # Reads it, :name or :size -> what is there.
  sig do
    void
  end
  private def some
    1
  end

  # :nodoc:
  def none
    raise NotImplementedError, "none"
  end

  # Does nothing at all.
  def nothing
    # so far
  end
end
"""


def test_documentation_of_ruby_is_without_marks_for_tools():
    found = {each.name: each for each in parsed("ruby", RUBY).functions}
    assert [each.query for each in found.values()] == [
        "Reads a whole file.", "Reads a part of it.", "Reads it, :name or :size -> what is there.", "",
        "Does nothing at all.",
    ]  # fmt: skip
    assert found["whole"].start_line == 5
    assert found["some"].start_line == 22
    assert [name for name, each in found.items() if each.is_stub] == ["none", "nothing"]


@pytest.mark.parametrize(
    ("name", "code", "doc"),
    [
        ("go", "package a\n\n// F has the\n// global logger.\nfunc F() { g() }\n", "F has the\nglobal logger."),
        ("javascript", "// Reads it.\n// global a, b:writable\nfunction f() { g() }\n", "Reads it."),
        ("r", "# Sorts x[o], see [order()].\nf <- function(x) g(x)\n", "Sorts x[o], see order()."),
    ],
)
def test_documentation_is_without_what_only_looks_like_its_words(name, code, doc):
    (found,) = parsed(name, code).functions
    assert found.doc == doc


def test_a_method_of_php_that_only_throws_is_a_stub():
    text = """<?php class A {
      /** Reads it. */ function a() { throw new LogicException('no'); }
      // phpcs:ignore Generic.Files
      function b() { if ($this->c) { throw new LogicException('no'); } return 1; }
      /** Does nothing. */ function c() { /* so far */ }
    }"""
    found = parsed("php", text).functions
    assert [(each.name, each.doc, each.is_stub) for each in found] == [
        ("a", "Reads it.", True), ("b", "", False), ("c", "Does nothing.", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("c", "int f(void) {\n  return 1;\n// c\n}\n"),
        ("javascript", "function f() {\n  return 1;\n// c\n}\n"),
        ("r", "f <- function(x) {\n  x\n# c\n}\n"),
        ("rust", "fn f() {\n    g();\n// c\n}\n"),
        ("ruby", "def f\n  g\n# c\nend\n"),
    ],
)
def test_a_comment_at_the_end_of_a_body_is_of_it(name, code):
    (found,) = language(name).parse(code.encode(), f"a{language(name).suffixes[0]}").functions
    assert (found.start_line, found.end_line) == (1, 4)


@pytest.mark.parametrize(
    ("name", "code", "api"),
    [
        ("python", "def f():\n    return Pool[int](a.Box[c, d]()) + handlers[key](x) + FORMS[key]()\n", "a Box Pool"),
        (
            "go",
            "package a\nfunc f() { b.New[string, *c.D](1); Sum[int](); m.Map[T](x, y); handlers[key](x); []byte(x) }\n",
            "b New Sum m Map",
        ),
        ("rust", "fn f() { Vec::<u8>::new(); g::<u8>(1); a::B::<C>::d(); <T as E>::h(); }\n", "Vec new g B d T h"),
        ("kotlin", "fun f() {\n  listOf<Int>(1)\n  a.map<Int>(b)\n  g<C> { it.d() }\n  if (a < b && c > (d)) e()\n}\n",
         "listOf a map it d g e"),
        ("swift", "func f() {\n  let x = A.B<Int>(c: 1)\n  if a < b && c > (d) { e() }\n  return Foo<Bar>(x)\n}\n",
         "A B e Foo"),
        ("cpp", "void f() { a->template b<int>(); X::template y<Z>(2); g<int>(1); }\n", "a b X y g"),
    ],
)  # fmt: skip
def test_a_call_with_type_arguments_is_one(name, code, api):
    (found,) = parsed(name, code).functions
    assert " ".join(found.fields()["api"]) == api


def test_a_javadoc_comment_documents_what_is_behind_a_blank_line_too():
    parts = [
        "/** Copyright */\n\nfunction first() {}",
        "/** Reads it. */\n\nexport const read = () => 1;",
        "/* Others. */\n\nfunction other() {}",
        "/** @typedef {number} X */\n\nfunction typed() {}",
        "/***** Section */\n\nfunction inside() {}",
        "/**\n * @method\n * @private\n * Says it. More.\n * @api public\n */\n\nA.b = function say() {}",
    ]
    found = parsed("javascript", "\n".join(parts)).functions
    told = {each.dotted: each.query for each in found if each.query}
    assert told == {"read": "Reads it.", "A.b": "Says it."}
    assert len(found) == len(parts)


def test_a_function_of_javascript_is_named_by_the_member_that_it_is_assigned_to():
    text = "A.prototype.b = function c() {};\n"
    text += "A.d = async function() {};\nmodule.exports = function e() {};\nx[0] = function g() {}"
    assert [each.dotted for each in parsed("javascript", text).functions] == ["A.b", "A.d", "e", "g"]


@pytest.mark.parametrize(
    ("name", "code", "api"),
    [
        ("kotlin", "class A { fun f() { if (!g(x)) this.h(); this@A.i() } }\n", "g A h A i"),
        ("swift", "class A { func f() { if !self.g(x) { t[i] = 1 }\n defer { h() }\n return .init(c: t[2]) } }\n",
         "A g h init"),
        ("rust", "impl A { fn f(&self) { self.g(); } }\n", "A g"),
        ("ruby", "class A\n  def f\n    self.g\n    super\n  end\nend\n", "A g super"),
        ("ruby", "def f(a, *b)\n  go\n  c = a\n  b.each { |d| h d, c, i }\nrescue E => e\n  e\nend\n", "go i h b each"),
        ("php", "<?php class A { function f() { self::g(); static::h(); B::i(); } }", "A g A h B i"),
        ("bash", "f() { \\sed a | command b; }\n", "sed command"),
        ("zig", "fn f() void { if (!a(x)) {} while (!b.c(x)) {} }\n", "a b c"),
        ("zig", "fn f() void { a.b.?.c(x); d.*.e(); }\n", "b c d e"),
        ("csharp", "class A { void F() { a!.B(); c.d!.E(); } }\n", "a B d E"),
        ("typescript", "function f() { a!.b(); c.d![0].e(); }\n", "a b e"),
        ("rust", "fn f() { a.b?.c(); d()?.e(); }\n", "b c d e"),
        ("swift", "func f() { a!.b(); c(\"d\" + e(x) + g(y), k * l(z)); return m ?? n(o) && p(q) }\n",
         "a b e g l c n p"),
        ("elixir", "defmodule A do\n  def f(x) do\n    if !g(x), do: __MODULE__.h(x)\n  end\nend\n", "g A h"),
        ("csharp", "class A { void F() { string.Join(1); new string('a', 1); base.G(); N::B.H(); } }\n",
         "string Join string new A G B H"),
        ("haskell", "f x = T.pack (Data.Map.lookup x) `M.union` y\n", "Map lookup T pack M union"),
        ("c", "void f() { (*g)(x); h->i(x); }\n", "g h i"),
        ("c", "#define M(a) do { \\\n  g(a)->h(x); \\\n} while (0)\n", "g h"),
        ("cpp", "#define M(a) std::g(a).h(b)\n", "std g h"),
        ("cpp", "#define M(a) \\\n  ELSE_BLOCKER_ \\\n  if (b()) {} else c(a)\n", "b c"),
        ("cpp", "P<Q, int (R::*)() const &> f() { return g<A>(h<Q, A (R::*)()>()); }\n", "h g"),
        ("cpp", "void f() { A b(g(c), h<int>(d), e); std::function<int(int)> i(n::j(k())); }\n", "g h k n j"),
    ],
)  # fmt: skip
def test_calls_are_found_behind_signs_and_by_what_they_are_called_on(name, code, api):
    (found,) = parsed(name, code).functions
    assert " ".join(found.fields()["api"]) == api


@pytest.mark.parametrize(
    ("name", "code", "types", "function"),
    [
        ("cpp", "class POOL_EXPORT Pool : public A {\n  int size() { return 1; }\n};\n", ["Pool"], "Pool.size"),
        ("c", "struct POOL_API pool {\n  int size;\n};\nint f(void) { return 1; }\n", ["pool"], "f"),
        ("zig", "fn Pool(T: type) type {\n  return struct { fn size(self: *T) void {} };\n}\n", [], "Pool.size"),
        ("zig", "fn f() void { const a: enum { b, c } = .b; }\n", [], "f"),
    ],
)
def test_a_type_is_named_and_what_only_has_one_is_none(name, code, types, function):
    found = parsed(name, code)
    assert [each.dotted for each in found.types()] == types
    assert found.functions[-1].dotted == function


@pytest.mark.parametrize(
    ("name", "code", "constant"),
    [
        ("scala", "object A {\n  object B {\n    val c = 1\n  }\n}\n", "A.B.c"),
        ("ruby", "module A\n  B = 1\nend\n", "A.B"),
        ("csharp", "namespace N { class A { const int B = 1; } }\n", "A.B"),
        ("python", "A = 1\n", "A"),
    ],
)
def test_a_constant_is_named_with_the_types_around_it(name, code, constant):
    assert [each.dotted for each in parsed(name, code).constants()] == [constant]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("python", "a = b = 1\n(c, [d, *e]), _ = f()\nx.y = z[0] = 2\n"),
        ("go", "package p\nvar a, b int\nvar (\n\tc = 1; d, _ = 2, 3\n\te = 4\n)\n"),
        ("typescript", "const a = 1, { b, x: c, ...d } = f();\nlet e: number;\n"),
        ("c", 'int a = 1, b = 2;\nstatic char *c, d[3];\nextern int n;\nchar e[] = "y";\n'),
        ("cpp", "int a = 1, b = 2;\nauto *c = f(), *d = g(), e = h();\n"),
        ("csharp", "class T { const int a = 1, b = 2; const int c = 3, d = 4, e = 5; }\n"),
        ("lua", "local a, b = 1, 2\nc, d, e = f, 4\n"),
        ("swift", "let a = 1, b = 2\nlet (c, (d, e)) = f()\n"),
        ("scala", "val a, b = 1\nval (c, (d, e)) = f\n"),
        ("ruby", "A = B = 1\nC, (D, *E) = 2, [3]\n"),
        ("kotlin", "val (a, b: Int) = f()\nval c: Int = n\nlateinit var d: T\nvar e = 1\n"),
        ("r", "a <- b <- c <- 1\nd = e = 2\n"),
        ("php", "<?php\nconst a = 1, b = 2, c = 3, d = 4, e = 5;\n"),
        ("bash", "A=1 B=2\nexport C=3 D=4\ndeclare -r E=5\nf() { local G=1 H=2; }\n"),
        ("zig", "const a, const b = f();\npub const c, var d: u8, const e = g();\n"),
    ],
)
def test_each_name_of_a_declaration_is_a_constant(name, code):
    assert [each.name.lower() for each in parsed(name, code).constants()] == [*"abcde"]


def test_a_constant_of_ruby_ends_with_the_text_that_it_is_given():
    found = parsed("ruby", "A = <<~B.freeze\n  b\nB\nC = 1\n").constants()
    assert [(each.name, each.start_line, each.end_line) for each in found] == [("A", 1, 3), ("C", 4, 4)]
