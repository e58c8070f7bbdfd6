"""What models of texts read where pairs have no texts: the words of their fields."""

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from baselines.prompted_model import PromptedModel
from baselines.scotch_transformer import ScotchTokenizer
from cli.weights import _described
from data_prep.records import UNKNOWN, Method, Pair
from data_prep.store.split import Split
from modeling.read_texts import text_read, texts_read
from modeling.transformers.pretrained import SentenceEncoder, SentenceEncoderConfig
from modeling.transformers.subword_pairs import SubwordTokenizer, subwords_of
from tests.tiny_models import library, tiny_bert

FIELDS = (
    {
        "name": ("read", "file"),
        "tokens": ("path", "open"),
        "api": ("Files", UNKNOWN, "readAllLines"),
        "ast": ("Block",),
    },
    {"name": ("sum",), "tokens": (UNKNOWN, "list"), "api": ()},
    {"name": ("write",), "tokens": ("file", "close"), "api": ("Files",)},
)
WRITTEN = ("read file path open Files readAllLines", "sum list", "write file close Files")
QUERIES = (("read", "a", "file"), ("sum", UNKNOWN, "list"), ("write", "file"))
ASKED = ("read a file", "sum list", "write file")


def pairs(sources=("", "", ""), texts=("", "", ""), fields=FIELDS) -> Split:
    rows = zip(sources, texts, fields, QUERIES, strict=True)
    return Split.of("test", [
        Pair(Method("o", "p", row, row, "", "m", "method", source, "", words), text, query)
        for row, (source, text, words, query) in enumerate(rows, 1)
    ])  # fmt: skip


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> str:
    library("sentence_transformers")
    return str(tiny_bert(tmp_path_factory.mktemp("bert"), positions=128))


def test_a_code_without_a_source_is_its_name_tokens_and_api_words_and_a_query_its_words():
    found = texts_read(pairs())
    assert tuple(text.source for text in found) == WRITTEN
    assert tuple(text.query_text for text in found) == ASKED


def test_what_has_a_text_is_read_as_it_is():
    split = pairs(("int f();", " \n\t", ""), ("Says <unk>.", "  ", ""))
    assert text_read(split, 0) == split.text(0)
    assert [text.source for text in texts_read(split)] == ["int f();", *WRITTEN[1:]]
    assert [text.query_text for text in texts_read(split)] == ["Says <unk>.", *ASKED[1:]]


def test_without_words_a_text_stays_empty():
    split = pairs(fields=({}, {"ast": ("Block",)}, {"name": (UNKNOWN,)}))
    assert [text.source for text in texts_read(split)] == ["", "", ""]


def scored(ranker, split: Split) -> np.ndarray:
    return np.concatenate([*ranker.over(split, split).blocks()])


def of_encoder(split: Split, bert: str) -> list:
    return scored(SentenceEncoder(SentenceEncoderConfig(bert, 64)), split).round(5).tolist()


def of_bm25(split: Split, _: str) -> list:
    return scored(Bm25(Bm25Config(reads="text")), split).round(5).tolist()


def of_subwords(split: Split, bert: str) -> list:
    fields = SubwordTokenizer(subwords_of(bert), 32, 64).encode(split).fields
    return [fields[side][row].tolist() for side in ("query", "code") for row in range(len(split))]


def of_scotch(split: Split, bert: str) -> list:
    fields = ScotchTokenizer(subwords_of(bert), 96, 96, context=False).encode(split).fields
    return [fields[side][row].tolist() for side in ("query", "code") for row in range(len(split))]


def of_chat(split: Split, _: str) -> list:
    scores = PromptedModel.over(PromptedModel.__new__(PromptedModel), split, split)
    return [*scores._texts, *scores._codes]


def of_encoded_files(split: Split, _: str) -> list:
    return [row["text"] for side in ("query", "code") for row in _described(split, side)]


@pytest.mark.parametrize(
    "read", [of_encoder, of_bm25, of_subwords, of_scotch, of_chat, of_encoded_files], ids=lambda read: read.__name__
)
def test_every_reader_reads_them_as_if_they_were_written(read, bert):
    without, written = pairs(), pairs(WRITTEN, ASKED)
    found = read(without, bert)
    assert found == read(written, bert)
    assert found != read(pairs(fields=({}, {}, {})), bert)
