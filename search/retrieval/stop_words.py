"""Common English words that BM25 leaves out of queries: Lucene's list, as bm25s has it, whose import takes long."""

from typing import Final

_LIST: Final = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS: Final = frozenset(_LIST.split())
