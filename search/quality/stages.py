"""The stages of the search, to measure what each adds."""

from collections.abc import Mapping
from dataclasses import replace

from search.engine.engine import Engine
from search.engine.settings import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index


def stages(
    index: Index, rerankers: Mapping[str, Reranker], retriever: Retriever | None, ranking: RankingSettings
) -> dict[str, Engine]:
    """The whole search, then its stages and other models, by what they are called.

    Args:
        index: what is searched.
        rerankers: by their labels, that of the whole search first; none: there is no model.
        retriever: the vectors of the rows; None: there are none.
        ranking: the settings.
    """
    beside = ("vectors + " if retriever and rerankers else "") + ("files + bm25" if ranking.by_file else "bm25")
    alone = replace(ranking, files=0.0, by_file=0.0)
    if not rerankers:
        return {beside: Engine(index, None, ranking), "bm25": Engine(index, None, alone)}
    (label, reranker), *others = rerankers.items()
    engines = {f"{label} + {beside}": Engine(index, reranker, ranking, retriever)}
    if ranking.by_file:
        engines["without files"] = Engine(index, reranker, alone, retriever)
    if retriever:
        engines["without vectors"] = Engine(index, reranker, ranking)
    engines["without models"] = Engine(index, None, ranking)
    engines["bm25"] = Engine(index, None, alone)
    return engines | {f"{name} + {beside}": Engine(index, each, ranking, retriever) for name, each in others}
