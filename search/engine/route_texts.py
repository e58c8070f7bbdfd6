"""The routes that the text of a file declares, with what begins them there, and what serves each.

``v1 := api.Group("/v1")`` and ``v1.GET("/users", list)`` are ``GET .../v1/users`` of ``list``. What is indented below a
group, such as ``r.Route("/users", func(r chi.Router) {``, begins as that does. So the text is read by its calls with a
path, in any language; nothing is parsed.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from data_prep.languages.language import words

Parts = tuple[str, ...]
"""Of a path, between slashes."""
_CALLED: Final = (
    r"(?<!\w)(?:http(?=[a-z])|map(?=[a-z])|add_)?(?P<called>get|post|put|patch|delete|del|head|options|any|all|route"
    r"|api_route|url_rule|handle|handlefunc|request|match|methodfunc|grouped|group|namespace|scope|path|prefix|basepath"
    r"|pathprefix|blueprint|apirouter|nest|nest_service|use|mount|register|controller|routeprefix|resources?|apiresource)"
    r"(?:mapping)?!?"
    r"(?:\s*\(\s*\[?\s*|[ \t]+)(?:['\"]?(?:prefix|value|path)['\"]?\s*(?:=>?|:)\s*)?"
)
_CALL: Final = re.compile(
    rf"{_CALLED}(?:(?P<quote>[\"'`])(?P<path>[^\"'`\n]{{0,200}})(?P=quote)"
    r"(?P<more>(?:,[ \t]*\"[:\w-]{1,99}\"(?=[,)]))*)|:(?P<symbol>\w+))",
    re.IGNORECASE,
)
"""A call with a text first, or a symbol."""
_BARE: Final = re.compile(
    r"^[ \t]*(?:@(?P<at>Get|Post|Put|Patch|Delete)(?:Mapping)?(?:\([ \t]*\))?|\[Http(?P<in>\w+)\])[ \t]*$", re.M
)
"""An annotation of a method without a path."""
_BEHIND: Final = re.compile(rf"{_CALLED}\Z", re.IGNORECASE)
"""The same before its text."""
_AHEAD: Final = 80
"""Characters before a text in which the call begins."""
_BEGINS: Final = re.compile(
    r"(?:[gG]roup(?:ed)?|MapGroup|namespace|scope|prefix|[pP]athPrefix|[pP]ath|basePath|[rR]oute|Blueprint|APIRouter|nest"
    r"|nest_service|[uU]se|[mM]ount|register|[cC]ontroller|RequestMapping|RoutePrefix|resources?|apiResource)[!(\s]"
)
"""Calls that other routes begin with."""
_MOUNT: Final = re.compile(
    r"(?:include_router|register_blueprint|register|mount)\(\s*(?P<name>[\w.]+(?:\([^()\n]*\))?)\s*,"
    r"[^()]{0,200}?prefix['\"]?\s*(?:=>?|:)\s*[\"'](?P<path>[^\"'\n]*)[\"']"
)
"""Routes that are given a path by an argument's name."""
_PREFIX: Final = re.compile(r"prefix\s*[=:]\s*[\"'](?P<path>[^\"'\n]*)[\"']")
_GIVEN_TO: Final = re.compile(
    r"\s*(?:(?:let|const|var|val|auto|mut|static|final)\s+)*\$?(\w+)\s*(?::[^=\n]{1,60})?:?=(?![=>])"
)
_ALONE: Final = re.compile(r"\s*([\w$]+)\s*")
_RECEIVER: Final = re.compile(r"([\w$]+)(?:\([^()\n]*\))?\s*(?:\.|->|::)\s*\Z")
_METHODS: Final = re.compile(r"\bmethods?['\"]?\s*(?:=>?|:)\s*(?P<some>[^)\n]*)|\bvia:\s*(?P<via>[^)\n]*)")
_VERB: Final = re.compile(r"(?i)\b(get|post|put|patch|delete|head|options)\b")
_IN_ROUTE: Final = re.compile(r"\b(get|post|put|patch|delete|any)\(\s*(?:[\w]+,\s*)*([\w:.]+)\s*\)")
"""A verb with its handler, behind a route's path: ``.route("/users", get(list).post(add))``."""
_STATED: Final = re.compile(r"([A-Z]+) (?=/)")
_TARGET: Final = re.compile(
    r"\s*,\s*(?:[\w.]+(?:\(\))?\s*,\s*)*(?P<name>(?!(?:get|post|put|patch|delete|any)\()[\w.]+(?:\([^()\n]*\))?)\s*\Z"
)
_ANNOTATED: Final = re.compile(r"\s*(?:@|#?\[)")
_CLASS: Final = re.compile(r"\b(?:class|interface|record)\s+(\w+)")
_VERBS: Final = words("get post put patch delete del head options any all")
_GROUPS: Final = words("group namespace scope path prefix route")
_ROUTERS: Final = words("group grouped scope basepath pathprefix blueprint apirouter")
_NAMED: Final = words("blueprint apirouter")
"""Those of routers whose first text is a name."""
_ROUTES: Final = words("route api_route url_rule handle handlefunc request match methodfunc")
_MOUNTS: Final = words("use mount nest nest_service register route")
_OF_CLASSES: Final = words("controller request path route routeprefix")
_RESOURCES: Final = words("resources resource apiresource")
_ACTIONS: Final = (
    *(("GET", "", "index"), ("POST", "", "create"), ("POST", "", "store"), ("GET", ":id", "show")),
    *(("PUT", ":id", "update"), ("PATCH", ":id", "update"), ("DELETE", ":id", "destroy"), ("DELETE", ":id", "delete")),
)
"""The routes of a resource, and the methods of its controller that serve them."""
_REST: Final = 400
"""Characters behind the path of a call that are looked at."""
_MOST: Final = 2000
"""Calls of a file that are looked at."""
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Declared:
    """A route of a file."""

    verb: str  # in capitals; "": any
    parts: Parts
    line: int  # 1-based
    given: str  # what the call is given behind the path
    annotated: bool = False  # whether it serves what follows
    action: str = ""  # of a resource: its name and that of the controller's method


@dataclass(slots=True)
class Routes:
    """What the text of a file declares."""

    declared: list[Declared] = field(default_factory=list)
    mounted: list[tuple[Parts, str]] = field(default_factory=list)  # paths, and whose routes begin so, as written there


def parts_of(path: str) -> Parts:
    """The parts of a path."""
    return tuple(filter(None, path.split("/")))


def routes_of(text: str, asked: Parts) -> Routes:
    """What the text of a file declares that may be like the route that is ``asked`` for."""
    return _Reading(text, asked).found


def _calls(text: str, asked: Parts) -> list[re.Match[str]]:
    """The calls of a text that routes begin with, or whose text is that of a part of the route, or any value."""
    parts = "|".join(re.escape(part) for part in asked if part != ":") or r"\Z"
    like = rf"(?:[\w:{{}}<>./*-]{{0,80}}?/)?(?:{parts})(?!\w)|/?[:{{<\[*(]|/[\"'`]"
    strings = re.compile(rf"[\"'`](?:[A-Z]+ )?(?:{like})|:(?:{parts})(?!\w)", re.IGNORECASE)
    starts = (found.start() for found in islice(strings.finditer(text), _MOST))
    behind = (_BEHIND.search(text, max(0, start - _AHEAD), start) for start in starts)
    places = {
        *(each.start() for each in behind if each),
        *(each.start() for each in islice(_BEGINS.finditer(text), _MOST)),
    }
    calls = (_CALL.match(text, place) for place in sorted(places))
    return [*{call.start("called"): call for call in calls if call}.values()]


class _Reading:
    """What is known while a text is read."""

    def __init__(self, text: str, asked: Parts) -> None:
        self._text, self._lines, self.found = text, text.split("\n"), Routes()
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._routers: dict[str, tuple[str, Parts]] = {}  # name -> that of which it is a part, and its path there
        self._groups: list[tuple[int, Parts]] = []  # where each ends, and what is in it begins with
        calls = _calls(text, asked)
        for call in calls:
            self._named(call)
        for mount in _MOUNT.finditer(text):
            self._mount(mount["name"], self._receiver(mount), parts_of(mount["path"]))
        for call in calls:  # what a router is mounted at stands behind its routes
            self._mount_of(call)
        for call in sorted([*calls, *_BARE.finditer(text)], key=lambda each: each.start()):
            self._read(call, self._line(call))

    def _line(self, call: re.Match[str]) -> int:
        """The line of a call, from 0."""
        return self._line_at(call.start("called") if call.re is _CALL else call.start())

    def _named(self, call: re.Match[str]) -> None:
        """Note a router that is given a name."""
        found = _GIVEN_TO.match(self._lines[self._line(call)])
        if found and call["called"].lower() in _ROUTERS:
            named = _PREFIX.search(call[0] + self._rest(call))
            path = named["path"] if named else "" if call["called"].lower() in _NAMED else self._path(call)
            of = self._receiver(call)
            self._routers.setdefault(found[1], (of if of != found[1] else "", parts_of(path)))

    def _mount_of(self, call: re.Match[str]) -> None:
        found = _TARGET.match(self._rest(call)) if call["called"].lower() in _MOUNTS and call["path"] else None
        if found and found["name"]:
            self._mount(found["name"], self._receiver(call), parts_of(call["path"]))

    def _mount(self, name: str, of: str, parts: Parts) -> None:
        """Note that the routes of a router begin so, which is of this file or of another one."""
        first = re.match(r"\w*", name)
        given = rf"(?<![\w.]){first[0] if first else ''}\s*(?::[^=\n]+)?:?=(?![=>])(?!.*(?:require|import))"
        own = re.search(given, self._text) if first and first[0] else None
        if own and first:
            above, path = self._routers.get(first[0], ("", ()))
            self._routers[first[0]] = (of, parts + path) if above != of or not path else (above, path)
        else:
            self.found.mounted.append((self._prefix(of) + parts, name))

    @staticmethod
    def _path(call: re.Match[str]) -> str:
        """The path that a call is given, in one text or in several."""
        more = call["more"] if call["path"] and not call["path"].startswith("/") else ""
        return (call["path"] or call["symbol"] or "") + re.sub(r'"?,\s*"', "/", more or "").rstrip('"')

    def _prefix(self, router: str) -> Parts:
        """What the routes of a router begin with."""
        found: Parts = ()
        for _ in range(_DEEPEST):
            router, parts = self._routers.get(router, ("", ()))
            found = parts + found
        return found

    def _receiver(self, call: re.Match[str]) -> str:
        """The name of what a call is a method of: of several lines that of the first."""
        found = _RECEIVER.search(self._text, max(0, call.start() - 200), call.start())
        line = self._line(call)
        if found and (line == self._line_at(found.start(1))):
            return found[1]
        while line and self._lines[line].lstrip().startswith((".", ")", "}")):
            line -= 1
        named = _GIVEN_TO.match(self._lines[line]) or _ALONE.fullmatch(self._lines[line])
        return named[1] if named else ""

    def _line_at(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _read(self, call: re.Match[str], line: int) -> None:
        while self._groups and self._groups[-1][0] <= line:
            self._groups.pop()
        around = self._groups[-1][1] if self._groups else ()
        is_annotated = _ANNOTATED.match(self._lines[line]) is not None
        if call.re is _BARE:
            self._add((call["at"] or call["in"]).upper(), around, line, "", is_annotated=True)
            return
        called, rest, path = call["called"].lower(), self._rest(call), self._path(call)
        parts = around + self._prefix(self._receiver(call))
        stated = _STATED.match(path)  # as Go has it
        whole = parts + parts_of(path[stated.end() :] if stated else path)
        if called in _RESOURCES:
            self._resource(whole, line, rest)
        elif is_annotated and called in _OF_CLASSES and (of := self._class_below(line)):
            own = parts_of(path.replace("[controller]", of[1].removesuffix("Controller")))
            self._groups.append((self._end(of[0]), around + own))
        elif called in _GROUPS and not is_annotated and (end := self._end(line)) > line + 1:
            self._chain(call, line, whole)
            self._groups.append((end, whole))
        elif call["path"] is not None and (stated or called in _VERBS):
            self._add(stated[1] if stated else called, whole, line, rest, is_annotated=is_annotated)
        elif called in _ROUTES:
            self._route(call, whole, line, rest, is_annotated=is_annotated)

    def _chain(self, call: re.Match[str], line: int, parts: Parts) -> bool:
        """Note the routes whose verbs stand in calls behind a path."""
        end = max(self._end(line), line + 1)
        while end < len(self._lines) and self._lines[end].lstrip().startswith("."):
            end += 1
        behind = self._text[call.end() : min(self._starts[end], call.end() + _REST)].split(".route(")[0]
        own = [*_IN_ROUTE.finditer(behind)] if call["called"].lower() == "route" else []
        for each in own:
            self._add(each[1], parts, line, each[2])
        return bool(own)

    def _route(self, call: re.Match[str], parts: Parts, line: int, rest: str, *, is_annotated: bool) -> None:
        if self._chain(call, line, parts):
            return
        stated = _METHODS.search(rest)
        verbs = _VERB.findall(stated["some"] or stated["via"]) if stated else []
        for verb in verbs or ["any"]:
            self._add(verb, parts, line, rest, is_annotated=is_annotated)

    def _resource(self, parts: Parts, line: int, rest: str) -> None:
        for verb, last, action in _ACTIONS:
            whole, name = (*parts, last) if last else parts, "".join(parts[-1:])
            self.found.declared.append(Declared(verb, whole, line + 1, rest, action=f"{name} {action}"))
        self._groups.append((self._end(line), (*parts, ":id")))

    def _add(self, verb: str, parts: Parts, line: int, given: str, *, is_annotated: bool = False) -> None:
        plain = {"ANY": "", "ALL": "", "DEL": "DELETE"}.get(verb.upper(), verb.upper())
        self.found.declared.append(Declared(plain, parts, line + 1, given, is_annotated))

    def _rest(self, call: re.Match[str]) -> str:
        """What a call is given behind its path, up to where it ends."""
        depth, text = 0, self._text[call.end() : call.end() + _REST]
        in_brackets = "(" in call[0]
        for place, sign in enumerate(text):
            depth += (sign in "([{") - (sign in ")]}")
            if (depth < 0 and (sign != "]" or "[" not in call[0])) or (sign == "\n" and not (depth or in_brackets)):
                return text[:place]
        return text

    def _class_below(self, line: int) -> tuple[int, str] | None:
        """The line and the name of the class that an annotation is of."""
        for number, text in self._below(line):
            if found := _CLASS.search(text):
                return number, found[1]
            if not _ANNOTATED.match(text):
                return None
        return None

    def _below(self, line: int) -> Iterator[tuple[int, str]]:
        """The lines below one that have something."""
        return (
            (number, self._lines[number]) for number in range(line + 1, len(self._lines)) if self._lines[number].strip()
        )

    def _end(self, line: int) -> int:
        """The line behind those that are indented below one."""
        own = _indent(self._lines[line])
        ends = (number for number, text in self._below(line) if _indent(text) <= own and text.strip() != "{")
        return next(ends, len(self._lines))


def _indent(line: str) -> int:
    plain = line.expandtabs(4)
    return len(plain) - len(plain.lstrip())
