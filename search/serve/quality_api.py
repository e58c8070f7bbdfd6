"""The part of the JSON API that measures the search by questions with known answers (docs/search-api.md)."""

from collections import defaultdict
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import UserError
from data_prep.store.prepared_data import DamagedStore
from search.quality.query_file import FEWEST, Judgements, QueryFile, checked_queries
from search.quality.typed_queries import Answered, answered, as_record, stages
from search.serve.live_index import Opened
from search.serve.requests import error_answer, json_answer, parameters, posted_json
from search.serve.search_api import Turns

LARGEST: Final = 4 << 20
"""Maximum number of bytes of a file of questions."""
MOST: Final = 500
"""Maximum number of questions that are measured at once."""


class QualityApi:
    """The practitioner measure."""

    def __init__(self, turns: Turns, judgements: Judgements | None, model: str) -> None:
        """``judgements``: the saved questions; None: there are none. ``model``: its name."""
        self._turns, self._judgements, self._model = turns, judgements, model

    async def quality(self, request: Request) -> Response:
        """Measure the questions of a file that is the body, or for {} the saved ones."""
        parameters(request, {})
        body = await posted_json(request, LARGEST)
        asked = await run_in_threadpool(self._asked, body)
        if len(asked.queries) > MOST:
            line = f"at most {MOST:,} questions are measured here, not {len(asked.queries):,}"
            raise HTTPException(400, f"{line}: bash run.sh quality DIR --queries=FILE measures all")
        now = await self._turns.opened(request)
        try:
            return json_answer({"index": now.name, **await self._measured(request, now, asked)})
        except DamagedStore as damage:
            return error_answer(500, str(damage))

    def _asked(self, body: object) -> QueryFile:
        """The questions; ``root`` is left out of account, since what is served is measured."""
        try:
            if body == {} and self._judgements is not None:
                body = {"queries": self._judgements.queries()}
            return QueryFile("", checked_queries(body, fewest=FEWEST).queries)
        except UserError as error:
            raise HTTPException(400, str(error)) from error

    async def _measured(self, request: Request, now: Opened, asked: QueryFile) -> dict[str, Any]:
        """The measure, a query at a time, so that other questions are answered meanwhile."""
        engine = now.engine
        rerankers = {self._model: engine.reranker} if engine.reranker else {}
        engines = stages(engine.index, rerankers, engine.retriever, engine.ranking)
        answers: dict[str, list[Answered]] = defaultdict(list)
        for query in asked.queries:
            for name, stage in engines.items():
                answers[name].append(await self._turns.turn(request, lambda: answered(stage, query)))  # noqa: B023 - run at once
        return await self._turns.turn(request, lambda: as_record(answers, asked, engine.index))
