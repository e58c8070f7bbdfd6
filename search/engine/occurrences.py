"""Where a name stands in the text of a file, and what it is there: called, imported, declared or only mentioned.

No parser is asked, which would take seconds for a name that many files have: comments and strings are told apart by
what the language's record says, calls by what stands around the name on its line. What a string has evaluated inside of
it, as ``f"{total()}"``, is code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from data_prep.languages.language import Language, Quote, words

Kind = Literal["call", "mention", "import", "definition", "text"]
"""text: in a comment or a string."""

_LONGEST: Final = 400
"""Characters of a line before and behind a name that are looked at."""
_SEEN: Final = 2000
"""Characters of a line on both sides of a name that are kept."""
_ENDS: Final = {'R"(': ')"', 'r#"': '"#', "[[": "]]", '@"': '"'}
"""What closes a string that another mark opens."""
_EXPRESSION: Final = (
    r"/(?:(?<=[(,=:\[!&|?{};+\n]/)|(?<=[(,=:\[!&|?{};+] /)|(?<==> /)|(?<==>/)|(?<=  /)|(?<=return /)|(?<=case /))"
    r"(?![*/])"
    r"(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/"
)
_INNER: Final = r"`[^`\\]*+(?:\\.[^`\\]*+)*+`"
_TEMPLATE: Final = rf"`[^`\\$]*+(?:(?:\\.|\$\{{(?:[^{{}}`]|{_INNER}|\{{[^{{}}`]*+\}})*+\}}|\$)[^`\\$]*+)*+(?:`|\Z)"
"""A template of JavaScript, whose values may have templates."""
_CHARACTER: Final = r"'(?:\\[^\n]|[^'\\\n])'"
_OPENINGS: Final = (("${", "}"), ("#{", "}"), ("\\(", ")"), ("$(", ")"))
"""What begins and ends code inside of a string."""
_CALLED: Final = re.compile(
    r"(?:(?:::)?<[^<>()\n;]*+(?:<[^<>()\n;]*+(?:<[^<>()\n;]*+>[^<>()\n;]*+)*+>[^<>()\n;]*+)*+>)?(?:!|\?\.)?[ \t]*+\("
)
_MACRO: Final = re.compile(r"![ \t]*[\[{]")
_TYPED: Final = re.compile(r"\[[^\[\]\n]*+(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+\]\(")
_TEMPLATED: Final = re.compile("\0`")
_BY_POINTER: Final = re.compile(r"\(\s*\*\s*\0\s*\)\s*\(")
_ALSO_CALLED: Final = {
    **dict.fromkeys(("javascript", "typescript"), _TEMPLATED),
    **dict.fromkeys(("c", "cpp"), _BY_POINTER),
    "lua": re.compile(r"\0\s*(?:[\"'{]|\[=*\[)"),
    "scala": re.compile(r"(?<!extends )(?<!with )(?<!: )\0 ?\{"),
    "r": re.compile(r"(?:%[^%\s]*>%|\|>)\s*\0"),
}
"""Language -> how a name, which is NUL here, is called without brackets behind it."""
_NEW: Final = re.compile(r"\bnew\s+(?:[\w$]+(?:\.|::|\\))*+\Z")
_DECLARED: Final = re.compile(
    r"(?:(?:^|[^\w.$])(?P<word>def|defp|defmacrop?|defguardp?|fn|func|fun|function\*?|sub|class|struct|interface|trait"
    r"|enum|union|type|record|object|module|(?<!using )namespace|protocol|extension|actor|macro_rules!|#\s*define|val"
    r"|var|let|(?<![*\]])const|macro)|^\s*(?:unsafe\s+)?(?P<implemented>impl)(?:<[^{}\n]*>)?)\s+(?:\([^()\n]*\)\s*|<[^<>\n]*>\s*|self\.|[\w$]+(?:<[^<>\n]*>)?[.:?]+)*+\Z"
)
_NOT_DECLARED: Final = frozenset("=(,[{+-/%&|;\"'<^~@]}")
"""What ends what stands before a name that no word declares, as most are: it need not be searched."""
_USED: Final = {
    **dict.fromkeys(("let", "val", "var"), re.compile(r"\s*(?:[({]|::)")),
    "type": re.compile(r"\s*(?:[,}]|from\b|as\b)"),
    "impl": re.compile(r"[^{;]*\bfor\b"),
}
"""What follows a name that is only used, though such a word stands before it."""
_USED_IN_C: Final = {
    **dict.fromkeys(
        ("struct", "class", "union", "enum"), re.compile(r"(?!\s*(?:final\b\s*)?(?:[{;<]|:(?!:)|/[/*]|\Z))")
    ),
    "const": re.compile(""),
}
_OF_TYPE: Final = re.compile(
    r"\s*+(?:[\w$:~]++(?:<[^<>()\n]*+(?:<[^<>()\n]*+>[^<>()\n]*+)*+>)?(?:\[\])*+[*&]*+\s++[*&]*+)++(?:[\w$~]+::)*+\Z"
)
"""What stands before the name of a function in C and the like: its type."""
_NO_TYPE: Final = words(
    "return else new throw case await co_return co_await co_yield in delete goto do yield sizeof not and or assert is "
    "as operator typeof instanceof raise when if while throws"
)
_MODIFIERS: Final = re.compile(
    r"\s*+(?:(?:public|private|protected|static|async|readonly|override|abstract|declare|get|set|export|default)\s+)++"
    r"\*?\s*\Z"
)
_SIGNATURE: Final = re.compile(r"[?]?(?:<[^<>\n]*>)?\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*+\)\s*:")
_OF_C: Final = frozenset(("c", "cpp", "java", "csharp"))
_OF_SCRIPTS: Final = frozenset(("javascript", "typescript"))
_BLOCK: Final = r"\s*\{"
UNBRACKETED: Final = {
    "ruby": r"", "haskell": r"", "elixir": r"", "bash": r"", "scala": r"", "kotlin": _BLOCK, "swift": _BLOCK,
    "lua": r"\s*[\"'\[{]",
}  # fmt: skip
"""Languages that also call without brackets, and what then follows the name where a parser has seen a call."""
_COMMAND: Final = re.compile(r"(?:^|[;&|(`!]|\b(?:then|do|else|if|while|until|run|exec|eval|time)\s)\s*\Z")
"""What stands before a command in a shell."""
_ARGUMENT: Final = re.compile(r"[ \t]+(?:[\w:'\"@\[{]|->|\*\w|&\w)(?!\w*\s*[=!]=)")
_IMPORTS: Final = re.compile(
    r"\s*(?:import\b|from\s+[\w.]+\s+import\b|(?:pub(?:\([^)]*\))?\s+)?use\s|using\s|#\s*include\b|require\b|alias\s"
    r"|export\s+(?:\*|type\s+\{|\{).*\bfrom\b|(?:const|let|var|local)\s.*\brequire\b)"
)
_RECEIVER: Final = re.compile(
    r"(?:(?P<name>(?<![\w$@])[\w$@]++)(?:(?<=super)\(\)|(?P<called>\([^()]*+\)))?)?(?:\s*(?:[?!&]*\.|\??->|(?<!\s)::|\\)\s*|(?<=\w):)\Z"
)

_POINTED: Final = re.compile(r"\(\*(\w+)\)(?=\.\Z)")
"""A type of Go before its method, as in ``(*Server).Listen``."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place of a name."""

    place: int  # in the text
    line: int  # from 1
    column: int  # characters before it in its line
    kind: Kind
    text: str  # its line, or of a long one what is around the place
    cut: int = 0  # characters of the line before that

    @property
    def at(self) -> int:
        """Where the place is in ``text``."""
        return self.column - self.cut

    @property
    def receiver(self) -> str | None:
        """The name before its dot; "": something without a name; None: there is no dot before it.

        Of a new object, as ``Till().close()``, it is the type.
        """
        found = _RECEIVER.search(_POINTED.sub(r"\1", self.text[max(0, self.at - _LONGEST) : self.at]))
        if found is None:
            return None
        return "" if found["called"] and not found["name"][0].isupper() else found["name"] or ""


def occurrences(text: str, name: str, language: Language | None, *, plain: bool = False) -> Iterator[Occurrence]:
    """Each place of a name in a file, in order.

    Args:
        text: of the file.
        name: as it is written.
        language: of the file; None: all of it is text.
        plain: whether comments and strings are not told apart, as in a notebook, whose code is in strings.
    """
    places = [*_places(text, name)]
    inside = [*_inside(text, places, language)] if language and not plain else [False] * len(places)
    line, before, start, end = 1, 0, 0, -1
    for place, quoted in zip(places, inside, strict=True):
        if place > end:
            line, before = line + text.count("\n", before, place), place
            start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            end = end if end >= 0 else len(text)
        first = max(start, place - _SEEN)
        own = text[first : min(end, place + _SEEN)].removesuffix("\r")
        kind = "text" if quoted or language is None else _kind(own, place - first, name, language)
        yield Occurrence(place, line, place - start, kind, own, first - start)


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name begins that is no part of a longer one."""
    more, is_word = "-" if "-" in name else "", name[0].isalnum() or name[0] == "_"
    for found in _behind(name, more).finditer(text):
        place = found.start()
        before = text[place - 1 : place]
        if not (is_word and (before.isalnum() or (before and before in f"_${more}"))):
            yield place


@lru_cache(maxsize=64)
def _behind(name: str, more: str) -> re.Pattern[str]:
    """A name that does not go on; what is before it is not looked at, so that it is found fast."""
    ends = rf"(?![\w${more}])" if name[-1].isalnum() or name[-1] in "_$" else ""
    return re.compile(re.escape(name) + ends)


def _inside(text: str, places: list[int], language: Language) -> Iterator[bool]:
    """Whether each of some ascending places is in a comment or string, and not in code inside of that."""
    spans = _spans(language).finditer(text, 0, places[-1] + 1 if places else 0)
    start = end = 0
    for place in places:
        while end <= place and (found := next(spans, None)):
            start, end = found.span()
        yield start <= place < end and not _evaluated(text, start, place, language)


def _evaluated(text: str, start: int, place: int, language: Language) -> bool:
    """Whether a place in a comment or string is in code that its value has."""
    if text.startswith((language.line_comment, (language.block_comment or ("\0",))[0]), start):
        return False
    before = text[max(start, place - _LONGEST) : place]
    for opening, closing in _openings(text, start, language):
        begun = before.rfind(opening)
        if begun >= 0 and closing not in before[begun:]:
            return True
    return False


def _openings(text: str, start: int, language: Language) -> Iterator[tuple[str, str]]:
    yield from _OPENINGS
    prefix = text[max(0, start - 2) : start].lower()
    if (language.name == "python" and "f" in prefix) or (language.name == "csharp" and "$" in prefix):
        yield "{", "}"
    if language.name == "php":
        yield "{$", "}"


@lru_cache(maxsize=64)
def _spans(language: Language) -> re.Pattern[str]:
    """Comments and strings; each alternative begins with a character, by which they are found fast."""
    line = re.escape(language.line_comment)
    comment = rf"{line}(?<!\S{line})[^\n]*+" if language.line_comment == "#" else rf"{line}[^\n]*+"
    parts = [comment, rf"{language.other_comment}[^\n]*+"] if language.other_comment else [comment]
    if language.block_comment:
        opening, closing = map(re.escape, language.block_comment)
        parts.insert(0, rf"{opening}.*?(?:{closing}|\Z)")
    parts += [_CHARACTER, *map(_quoted, language.quotes)]
    if language.slash_expressions:
        parts.append(_EXPRESSION)
    return re.compile("|".join(parts), re.DOTALL)


def _quoted(quote: Quote) -> str:
    """A string; one that nothing closes ends with its line, or with the text if it may have several."""
    if quote.mark == "`" and quote.escapes:
        return _TEMPLATE
    closing = _ENDS.get(quote.mark, quote.mark)
    first, rest = re.escape(closing[0]), re.escape(closing[1:])
    line, end = ("", r"\Z") if quote.lines else (r"\n", "")
    escape = r"\\\\" if quote.escapes else ""
    inside = rf"[^{re.escape(closing[0])}{escape}{line}]*+"
    others = [r"\\."] * quote.escapes + [rf"{first}(?!{rest})"] * bool(rest)
    more = rf"(?:(?:{'|'.join(others)}){inside})*+" if others else ""
    return rf"{re.escape(quote.mark)}{inside}{more}(?:{re.escape(closing)}|{end})"


def _kind(line: str, column: int, name: str, language: Language) -> Kind:
    """What a name in code is."""
    before = line[max(0, column - _LONGEST) : column]
    after = line[column + len(name) : column + len(name) + _LONGEST]
    if _is_declared(before, after, language):
        return "definition"
    if language.name == "haskell" and ("::" in before or before.startswith(("import", "instance", "deriving"))):
        return "import" if before.startswith("import") else "mention"
    if _NEW.search(before) or _CALLED.match(after) or (language.name == "rust" and _MACRO.match(after)):
        return "call"
    if language.name in ("scala", "go") and _TYPED.match(after):
        return "call"
    if (called := _ALSO_CALLED.get(language.name)) and called.search(f"{before}\0{after}"):
        return "call"
    return "import" if _IMPORTS.match(line) else "call" if _is_command(before, after, language.name) else "mention"


def _is_command(before: str, after: str, language: str) -> bool:
    """Whether a name begins a statement that calls it without brackets."""
    if language == "ruby":
        begins = not before.strip() or before.endswith(".")
        return (begins and bool(_ARGUMENT.match(after))) or after.startswith(".new")
    return language == "bash" and bool(_COMMAND.search(before)) and not after.startswith("=")


def bracketless(found: Occurrence, name: str, language: str) -> bool:
    """Whether a place may be a call without brackets, by what follows it."""
    follows = UNBRACKETED.get(language)
    return follows is not None and bool(re.match(follows, found.text[found.at + len(name) :][:_LONGEST]))


def _is_declared(before: str, after: str, language: Language) -> bool:
    found = None if before.rstrip()[-1:] in _NOT_DECLARED else _DECLARED.search(before)
    if found and not _is_used(found["word"] or found["implemented"], after, language):
        return True
    if language.name == "bash":
        return bool(re.match(r"\s*\(\s*\)", after)) or bool(re.search(r"\bfunction\s+\Z", before))
    if language.name == "haskell":
        return not before or bool(re.match(r"\s*::", after))
    if language.name == "swift" and re.fullmatch(r"\s*(?:indirect\s+)?case\s+", before):
        return True
    if language.name == "elixir":
        return bool(re.search(r"@(?:spec|callback|macrocallback|type|typep|opaque)\s+\Z", before))
    if not _CALLED.match(after):
        return False
    if language.name in _OF_SCRIPTS:
        return bool(_MODIFIERS.fullmatch(before)) or (not before.strip() and bool(_SIGNATURE.match(after)))
    return language.name in _OF_C and _is_typed(before)


def _is_used(word: str, after: str, language: Language) -> bool:
    """Whether a name is used behind a word that declares others, as in ``struct node *first``."""
    used = _USED.get(word) or (_USED_IN_C.get(word) if language.name in ("c", "cpp", "csharp") else None)
    return used is not None and bool(used.match(after))


def _is_typed(before: str) -> bool:
    """Whether a type stands before the name of a function."""
    if not _OF_TYPE.fullmatch(before):
        return False
    typed = re.findall(r"[\w$]+", re.sub(r"(?:[\w$~]+::)*+\Z", "", before))
    return bool(typed) and _NO_TYPE.isdisjoint(typed)
