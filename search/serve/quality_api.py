"""The part of the JSON API that takes judgements, which hits answer which questions, and measures the search by them.

docs/search-api.md describes it.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import UserError, shown
from search.quality.query_file import FEWEST, Judgements, QueryFile, checked_queries
from search.quality.typed_queries import Answered, answered, as_record, stages
from search.serve.requests import LAST_LINE, Turns, check_query, json_answer, parameters, posted_fields, posted_json

LARGEST: Final = 4 << 20
"""Maximum number of bytes of a file of questions."""
LARGEST_JUDGEMENT: Final = 64 << 10
"""Maximum number of bytes of a judgement."""
MOST: Final = 500
"""Maximum number of questions that are measured at once."""
_JUDGEMENT: Final = {"query": "", "path": "", "start_line": 0, "end_line": 0, "relevant": None}


class QualityApi:
    """Questions with known answers."""

    def __init__(self, turns: Turns, judgements: Judgements | None, model: str) -> None:
        """``judgements``: the saved questions; None: there are none. ``model``: its name."""
        self._turns, self._saved, self._model = turns, judgements, model

    async def quality(self, request: Request) -> Response:
        """Measure the questions of a file that is the body, or for {} the saved ones."""
        body = await posted_json(request, LARGEST)
        if body == {} and self._saved is not None:
            saved = self._saved
            body = {"queries": await _stored(saved.queries, 400)}
        try:
            # its root is left out of account, since what is served is measured
            asked = QueryFile("", checked_queries(body, fewest=FEWEST).queries)
        except UserError as error:
            raise HTTPException(400, str(error)) from error
        if len(asked.queries) > MOST:
            line = f"at most {MOST:,} questions are measured here, not {len(asked.queries):,}"
            raise HTTPException(400, f"{line}: bash run.sh quality DIR --queries=FILE measures all")
        return json_answer(await self._measured(request, asked))

    async def _measured(self, request: Request, asked: QueryFile) -> dict[str, Any]:
        """The measure, a query at a time, so that other questions are answered meanwhile."""
        now = await self._turns.opened(request)
        engine = now.engine
        rerankers = {self._model: engine.reranker} if engine.reranker else {}
        engines = stages(engine.index, rerankers, engine.retriever, engine.ranking)
        answers: dict[str, list[Answered]] = defaultdict(list)
        for query in asked.queries:
            for name, stage in engines.items():
                answers[name].append(await self._turns.turn(request, lambda: answered(stage, query)))  # noqa: B023 - run at once
        record = await self._turns.turn(request, lambda: as_record(answers, asked, engine.index))
        return {"index": now.name, **record}

    async def judgements(self, request: Request) -> Response:
        """All judgements that are saved."""
        parameters(request, {})
        assert self._saved is not None
        queries = await _stored(self._saved.queries)
        return json_answer({"file": str(self._saved.path), "queries": [*map(_places, queries)]})

    async def judge(self, request: Request) -> Response:
        """Save a judgement."""
        assert self._saved is not None
        saved, judged = self._saved, await posted_fields(request, LARGEST_JUDGEMENT, _JUDGEMENT, _JUDGEMENT)
        query, path, *lines, relevant = judged.values()
        if any(type(line) is not int for line in lines) or not 1 <= lines[0] <= lines[1] < LAST_LINE:
            raise HTTPException(400, "start_line and end_line count from 1, the first before the last")
        if relevant is not None and type(relevant) is not bool:
            raise HTTPException(400, f"relevant takes true, false or null, not {shown(relevant)}")
        check_query(query)
        now = await self._turns.opened(request)
        if not any(file.path == path for file in now.engine.index.files):
            raise HTTPException(400, f"there is no indexed file {shown(path)}: take a path as hits have it")
        found = await _stored(lambda: saved.judge(query, path, (lines[0], lines[1]), relevant))
        return json_answer({"file": str(saved.path), **_places(found)})


async def _stored(work: Callable[[], Any], status: int = 500) -> Any:
    """What ``work`` gives of the saved judgements; ``status`` if their file cannot be used."""
    try:
        return await run_in_threadpool(work)
    except (UserError, OSError) as error:
        raise HTTPException(status, str(error)) from error


def _places(query: dict[str, Any]) -> dict[str, Any]:
    """A question with all its lists."""
    return {"relevant": [], "secondary": [], "irrelevant": [], **query}
