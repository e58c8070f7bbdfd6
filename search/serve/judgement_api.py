"""The part of the JSON API that takes judgements: which hits answer which questions (docs/search-api.md)."""

from dataclasses import astuple, dataclass
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.bounds import shown
from data_prep.errors import UserError
from search.quality.query_file import Judgements
from search.serve.requests import check_query, error_answer, json_answer, parameters, posted_json
from search.serve.search_api import Turns

LARGEST: Final = 64 << 10
"""Maximum number of bytes of a judgement."""
_LAST_LINE: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class _Judgement:
    query: str
    path: str
    lines: tuple[int, int]
    relevant: bool | None

    @classmethod
    def checked(cls, body: object) -> "_Judgement":
        """A judgement from a request's body."""
        names = ("query", "path", "start_line", "end_line", "relevant")
        if not isinstance(body, dict) or body.keys() != {*names}:
            raise HTTPException(400, f"expected an object with {', '.join(names)}, got {shown(body)}")
        query, path, relevant, lines = (
            body["query"],
            body["path"],
            body["relevant"],
            (body["start_line"], body["end_line"]),
        )
        if not isinstance(query, str) or not isinstance(path, str):
            raise HTTPException(400, "query and path are texts")
        if any(type(line) is not int for line in lines) or not 1 <= lines[0] <= lines[1] < _LAST_LINE:
            raise HTTPException(400, "start_line and end_line count from 1, the first before the last")
        if relevant is not None and type(relevant) is not bool:
            raise HTTPException(400, f"relevant takes true, false or null, not {shown(relevant)}")
        check_query(query)
        return cls(query, path, (lines[0], lines[1]), relevant)


class JudgementApi:
    """Judgements of hits."""

    def __init__(self, turns: Turns, judgements: Judgements) -> None:
        self._turns, self._judgements = turns, judgements

    async def judgements(self, request: Request) -> Response:
        """All that is saved."""
        parameters(request, {})
        try:
            return await run_in_threadpool(self._all)
        except (UserError, OSError) as error:
            return error_answer(500, str(error))

    async def judge(self, request: Request) -> Response:
        """Save a judgement."""
        parameters(request, {})
        judged = _Judgement.checked(await posted_json(request, LARGEST))
        now = await self._turns.opened(request)
        if not any(file.path == judged.path for file in now.engine.index.files):
            raise HTTPException(400, f"there is no indexed file {shown(judged.path)}: take a path as hits have it")
        try:
            found = await run_in_threadpool(self._judgements.judge, *astuple(judged))
        except (ValueError, OSError) as error:
            return error_answer(500, str(error))
        return json_answer({"file": str(self._judgements.path), **_places(found)})

    def _all(self) -> Response:
        queries = [_places(each) for each in self._judgements.queries()]
        return json_answer({"file": str(self._judgements.path), "queries": queries})


def _places(query: dict[str, Any]) -> dict[str, Any]:
    """A question with all its lists."""
    return {"relevant": [], "secondary": [], "irrelevant": [], **query}
