"""Right code that the grammars do not know: what is declared in it is found, as if they did."""

import re
import time

import pytest

from data_prep.languages.easing import Easing
from data_prep.languages.registry import language

CASES = [
    ("c", "UNUSED(static int f(void)) {\n  return 1;\n}\nint g(void) { return 2; }\n", "f g"),
    ("c", "static DWORD WINAPI run(void* p) {\n  return 1;\n}\n", "run"),
    ("c", "INLINE static int f(void) { return 1; }\nAPI_LOCAL int x = 1;\n", "f"),
    ("c", "int f(void) {\n  each(a, b) {\n    g(a);\n  }\n  XX(A, b)\n  XX(C, d)\n  return 1;\n}\n", "f"),
    ("c", "int f(int a) {\n#if A\n  if (a) {\n#else\n  if (!a) {\n#endif\n    g();\n  }\n  return 1;\n}\n", "f"),
    ("c", "int f(int a) {\n  if (a) {\n#ifdef A\n  } else if (a > 2) {\n#endif\n    g();\n  }\n  return 1;\n}\n", "f"),
    ("c", "int f(void) {\n  struct s* a = container_of(b, struct s, c);\n  return va_arg(l, char *) == a;\n}\n", "f"),
    ("c", "#define M(a) \\\n  do { /* what */ \\\n    g(a); \\\n  } while (0)\nint f(void) { return 1; }\n", "M f"),
    ("c", "#if A || \\\n    B  /* both\n          of them */\nint f(void) { return 1; }\n#endif\n", "f"),
    ("c", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f() { return 1; }\n#ifdef __cplusplus\n}\n#endif\n", "f"),
    ("c", "#if 0\nthis is (no code\n#endif\nint f(void) { return 1; }\n", "f"),
    ("c", "int f(a, b)\n  int a;\n  char *b;\n{\n  return a;\n}\nvoid g(void) {\n  MACRO_A(b)\n}\n", "f g"),
    ("c", "A_OLD(3) A_API(s *) f(int a);\nA_API(void)\nf(int a) {\n}\nstatic __device__ int g() A_X {\n}\n", "f g"),
    ("c", "typedef enum {\n  A,\n#define A A\n  B,\n} e;\nextern int f(void) __THROW;\nint g(void) { }\n", "g"),
    ("cpp", "A_API std::ostream& operator<<(std::ostream& a, B b) { return a; }\n", "operator<<"),
    ("cpp", "int f(int a, std::vector<int> b = {}) {\n  return typename A<T>::type(a);\n}\n", "f"),
    ("cpp", "class EXPORT A final : public B {\n  A_UNLESS_TESTED:\n  int at(int i) { return i; }\n};\n", "A.at"),
    ("cpp", "struct A {\n  Q_OBJECT\n  A_NON_NULL\n  int at(int i) { return this->operator[](i); }\n};\n", "A.at"),
    ("cpp", "template<typename T>\nauto f(T t) -> decltype(g(t), h<T, 1>(t), void()) { return g(t); }\n", "f"),
    ("cpp", "int f() {\n  x = typename T::v(1);\n  A_TRY\n  {\n    g();\n  }\n  A_CATCH (E& e) {\n  }\n}\n", "f"),
    ("cpp", "TEST_CASE(\"a\")\n{\n  SECTION(\"b\") {\n    CHECK(f(), \"c\", const e::t&);\n  }\n}\n", "TEST_CASE"),
    ("cpp", "int f() {\n  std::string a{STR(B) \"c\"};\n  return g(STR(B) \"c\" D_E(f) \"d\");\n}\n", "f"),
    (
        "cpp",
        "struct A {\n  int at(int i) { return (this->*b.f)(i); }\n  void (A::*g)(int);\n"
        "  typedef typename BIND_(C, D) E;\n};\n",
        "A.at",
    ),
    ("cpp", "class A {\n  int f() { }\n  int b OF_B(c);\n  s<int> d_\n      OF_A(c);\n  b::c e OF_A(c);\n};\n", "A.f"),
    ("cpp", "int f() {\n  X_TRY {\n    g();\n  } X_CATCH_ALL {\n    h();\n  }\n}\nint g() { return 1; }\n", "f g"),
    ("cpp", "int f(int n) {\n  char** a = new char*[n];\n  g(n, a ? n : throw E(n));\n  return operator++();\n}", "f"),
    ("cpp", "int f() {\n  {\n    operator++();\n  }\n  THROWS_AS(g(), int);\n  THROWS_AS(throw E(), E);\n}\n", "f"),
    ("cpp", "template <typename T, A_IF(!a<T>::b)>\nint f(T) { }\nstruct A { A(B* = 0); int g() { } };\n", "f A.g"),
    ("cpp", "module;\nexport module a.b;\ntemplate A_API void c<d>::e(int);\nint f() { return 1; }\n", "f"),
    ("cpp", "template<class T>\nauto f(T t) -> decltype(a(t) << b<T>(t), c()) { return g(t); }\n", "f"),
    ("cpp", "void f() {\n    X_SECTION(\"a\" + b){\n        g();\n    }\n    CHECKED_IF(a < b) {\n    }\n}\n", "f"),
    ("cpp", "A_API B_API void f(int* A_RESTRICT b, C* const __restrict__ d) {\n  g(\"a\" PRId64 \"b\" A_B);\n}\n", "f"),
    ("cpp", "struct A {\n  using typename B::C;\n  MOCK_METHOD(int, f, ());\n  int g() { (h->*(i))(); }\n};\n", "A.g"),
    ("c", "void f(const a *restrict b, int *C_RESTRICT d) {\n  printf(\"%\" PRIu64 \"x\", b);\n}\n", "f"),
    ("cpp", "using a::operator \"\" _b;\ntemplate<typename T, size_t N, class A = T (&)[N]>\nint f(A a) { }\n", "f"),
    ("csharp", "#if A\npublic\n#else\ninternal\n#endif\nclass Store { int At(int i) { return i; } }\n", "Store.At"),
    ("csharp", "internal ref partial struct S { int F() { return 1; } }\n", "S.F"),
    ("csharp", "unsafe class A { void F() { *(int*)(p + 1) = *(int*)(q + 1); *p++ = 2; x = *(long*)&y; } }\n", "A.F"),
    ("csharp", "class A { void F() { Unsafe.Add(ref a, 1) = true; } void G() { } }\n", "A.F A.G"),
    ("csharp", "class A {\n  int[] a = {\n#if B\n    2,\n#else\n    3,\n#endif\n  };\n  void F() { }\n}\n", "A.F"),
    ("swift", "func f() -> Int {\n  promise.succeed(())\n  return a ?? ()\n}\nfunc g(a: () -> Void) { a() }\n", "f g"),
    ("kotlin", "class A\nactual constructor(val b: Int) : B(b) {\n  fun f() = 1\n}\n", "A.f"),
    ("kotlin", "class A<T>\n@P\ninternal constructor(val b: Int) {\n  fun f() = 1\n}\n", "A.f"),
    ("kotlin", "class A { val b = 1 }\nenum class E { A, B; fun f() = 1 }\ninterface Q\nfun g() {}\n", "E.f g"),
    ("kotlin", "fun f() {\n  val a = b\n  get(\"/\") {\n  }\n  val d = e\n  set(d, a)\n}\nfun g() {}\n", "f g"),
    ("kotlin", "class A {\n  fun f() { open = false }\n  fun g() {\n    sealed.b()\n  }\n}\n", "A.f A.g"),
    ("kotlin", "val a = $$\"${b\"\nval c = \"\"\"d=\"$e\"\"\"\"\nfun f() = 1\n", "f"),
    ("kotlin", "context(a: B)\nfun f() { suspend { } }\nclass D { var e: X.() -> Z = a\n @I set(v) {} }\n", "f D.e"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "names"), CASES, ids=[f"{each[0]}-{each[2]}" for each in CASES])
def test_what_a_grammar_does_not_know_is_passed_over(name, code, names):
    spoken = language(name)
    found = spoken.parse(code.encode(), f"a{spoken.suffixes[0]}")
    assert [each.dotted for each in found.functions] == names.split()
    assert not found.broken_line
    lines = code.splitlines()
    for each in found.functions:
        assert each.name in " ".join(lines[each.start_line - 1 : each.end_line])


@pytest.mark.parametrize(
    "code",
    [
        "interface A<out B> { c: B }\nfunction f() {}\n",
        "class A<in out T = W, /** of */ out U extends V> {\n  f(a: T) { return g<T, U>(a, b < out); }\n}\n",
        "type A<\n  in T,\n  out U,\n> = (a: T) => U\nfunction f() { return [a, out] }\n",
    ],
)
def test_how_types_depend_on_their_parameters_is_passed_over(code):
    found = language("typescript").parse(code.encode(), "a.ts")
    assert not found.broken_line
    assert [each.name for each in (*found.types(), *found.functions)] == ["A", "f"]


@pytest.mark.parametrize(
    "line",
    [
        'let a: import("dns").LookupOptions["hints"];',
        "type A = Promise<import('./a-b').ns.B<string>[]>;",
        "export type * from './x';",
        "const a = await original<typeof import('./x')>();",
        "export type * as x from './x';",
        "for (using a of b) { }",
        "async function* f() { for await (using a of b) { } }",
        "export default abstract class { g() { } }",
        "export default abstract class extends A<B> { }",
    ],
)
def test_newer_lines_of_typescript_are_no_mistakes(line):
    for suffix in (".ts", ".tsx"):
        assert not language("typescript").parse(f"{line}\nfunction f() {{ }}\n".encode(), f"a{suffix}").broken_line


def test_branches_that_are_whole_statements_are_all_kept():
    code = b"int x = (;\n#if A\nint f(void) { return 1; }\n#else\nint g(void) { return 2; }\n#endif\n"
    assert [each.name for each in language("c").parse(code, "a.c").functions] == ["f", "g"]


@pytest.mark.parametrize("name", ["c", "cpp", "csharp", "swift", "kotlin"])
def test_comments_and_strings_stay_as_they_are(name):
    lines = (
        "// API_X int f(",
        'x = "API_X int f(())  { b }  #if 0 *(int*)p";',
        "/* MACRO_A\n#if 0\nMACRO_B(x)\n*/",
        "y = 'a';",
    )
    code = "\n".join(lines).encode()
    assert language(name).eased(code) == code


@pytest.mark.parametrize("name", ["c", "cpp", "csharp", "swift", "kotlin"])
@pytest.mark.parametrize(
    "piece",
    [
        "#if A\n",
        "#if A\n#else\n",
        "A_B(\n",
        "(",
        "A_B\n",
        "a b ",
        "#",
        "$",
        '"',
        "'",
        "class A<",
        "  \n",
        "A_B ",
        "/*",
        "*",
        "{ ",
    ],
)
def test_nothing_is_slow(name, piece):
    code = (piece * (50_000 // len(piece))).encode()
    start = time.process_time()
    eased = language(name).eased(code)
    assert time.process_time() - start < 5
    assert len(eased) == len(code)
    assert re.findall(rb"\n", eased) == re.findall(rb"\n", code)


def test_rules_do_not_see_texts_and_comments():
    assert Easing(b'a("b") // c\n#define d\n').text.split() == [b'a(""")']
