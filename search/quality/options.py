"""Options of ``quality``. Light to import, for the help."""

from dataclasses import dataclass, fields, replace
from typing import Literal

from data_prep.errors import COUNT, SEED, UserError, check_bounds, shown
from experiments.terminal.options import named_options, parse
from search.engine.question import RankingSettings


@dataclass(frozen=True, slots=True)
class QualityOptions(RankingSettings):
    """Options of ``quality``: those of the ranking, the models and the queries."""

    model: str = ""
    """Folder of a run or of a packed model; empty: the shipped model."""
    against: str = ""
    """Another model to compare with; also a sentence-transformers model (search/models/torch_models.py)."""
    queries: str = "1000"
    """A file NAME.json of typed queries and the files that answer them (docs/search-quality.md); or the maximum number
    of queries made from comments, sampled at random; 0: all."""
    project: str = ""
    """Which project of a file of queries about several."""
    change: str = ""
    """Settings of the ranking to compare with by a paired test, such as weight=.5,test=0; for typed queries."""
    json: bool = False
    """Print one JSON object, with the result of every query; for typed queries."""
    fit: Literal["", "files", "search", "certainty"] = ""
    """Measure the weights, each without its effect, and fitted with each project left out in turn: files: those of
    whole files alone; search: those of the whole search where files are asked for; certainty: those that say whether
    an answer was found; for typed queries about several projects, each a folder of DIR by its name."""
    seed: int = 0
    """Seed of the sampling."""
    vectors: str = ""
    """Folder of a run of a bi-encoder whose vectors extend the shortlist; empty: the shipped one; none: no vectors."""
    ask: Literal["comment", "return", "member", "name", "snippet", "namesake", "trace"] = "comment"
    """Queries: comment: first sentences of comments; member: the same after the type's name (comments hidden for both);
    return: the texts of @return; name: names (comments searchable for both); code as the query: snippet: the first
    half of a function's body; namesake: a body, that functions of this name in other files are to answer; trace: stack
    traces through functions that call each other, whose lines have moved."""
    under: Literal["", "file", "call"] = ""
    """Ask each query under the text above a cursor: file: that above the function; call: that above its first call in
    another file; empty: without."""

    def __post_init__(self) -> None:
        RankingSettings.__post_init__(self)
        check_bounds(self, {"seed": SEED})
        if not self.query_file and not (self.queries.isascii() and self.queries.isdigit() and COUNT.hold(self.most)):
            raise UserError(f"--queries takes a file NAME.json or {COUNT}, not {shown(self.queries)}")
        for name in ("project", "change", "json", "fit"):
            if getattr(self, name) and not self.query_file:
                raise UserError(f"--{name} is for typed queries: --queries=FILE.json")
        if self.fit:
            self._check_fit()
        if self.query_file and (self.ask != "comment" or self.under):
            which = f"ask={self.ask}" if self.ask != "comment" else "under"
            raise UserError(f"--{which} is for queries made from the code: leave out --queries=FILE.json")
        if self.vectors == "none" and (self.vector_weight is not None or self.changed.vector_weight is not None):
            raise UserError("--vector_weight is the weight of vectors, and --vectors=none asks for none: leave one out")
        self._check_code()

    def _check_code(self) -> None:
        """Neither a model nor the ranking of words has a part where code is the query."""
        names = ["model", "against", "under", *(each.name for each in fields(RankingSettings))]
        defaults = {each.name: each.default for each in fields(self)}
        for name in names if self.code_asked else ():
            if getattr(self, name) != defaults[name]:
                raise UserError(f"--{name} has no part where code is the query: leave it out for --ask={self.ask}")

    def _check_fit(self) -> None:
        """Whatever else could be changed has no part in a fit."""
        part = {"queries", "json", "fit"} | ({"model", "vectors"} if self.fit == "search" else set())
        what = "ranks whole files alone" if self.fit == "files" else "fits the weights itself"
        for each in fields(self):
            if each.name not in part and getattr(self, each.name) != each.default:
                raise UserError(f"--fit={self.fit} {what}, of all projects: leave out --{each.name}")

    @property
    def words_asked(self) -> Literal["comment", "return", "member", "name"]:
        """``ask``, where words are the query."""
        return self.ask if self.ask in ("return", "member", "name") else "comment"

    @property
    def code_asked(self) -> Literal["", "snippet", "namesake", "trace"]:
        """``ask``, where code is the query; "": words are."""
        return self.ask if self.ask in ("snippet", "namesake", "trace") else ""

    @property
    def query_file(self) -> str:
        """The file of typed queries; "": queries are made from comments."""
        return self.queries if self.queries.endswith(".json") else ""

    @property
    def most(self) -> int:
        """Maximum number of queries made from comments; 0: all."""
        return int(self.queries[:12])

    @property
    def ranking(self) -> RankingSettings:
        """The ranking settings alone."""
        return RankingSettings(**{each.name: getattr(self, each.name) for each in fields(RankingSettings)})

    @property
    def changed(self) -> RankingSettings:
        """The ranking settings with those of ``--change``.

        Raises:
            UserError: there is no such setting, or its value is not accepted.
        """
        known = named_options(RankingSettings)
        values = {}
        for part in filter(None, self.change.split(",")):
            name, equals, text = part.partition("=")
            if name not in known or not equals:
                raise UserError(
                    f"--change takes settings such as weight=.5,test=0, of {', '.join(known)}, not {shown(part)}"
                )
            values[name] = parse(text, known[name])
        return replace(self.ranking, **values)
