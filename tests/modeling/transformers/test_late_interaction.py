import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from data_prep.errors import UserError
from data_prep.store.batching import Words
from galm.contextual import GalmContextual, GalmContextualConfig
from modeling.transformers.late_interaction import (
    LateInteraction,
    LateInteractionConfig,
    TokenVectors,
    block_sides,
    continuing_subwords,
    mean_by_unit,
)
from modeling.transformers.subword_pairs import subwords_of
from tests.tiny_models import library, tiny_bert, tiny_roberta

QUERIES, CODES, DIM = 5, 7, 16


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    library("transformers")
    return str(tiny_bert(tmp_path_factory.mktemp("tiny") / "base", dropout=0.0))


def sizes(base: str, **choices: object) -> dict[str, object]:
    return {"base": base, "query_length": 16, "code_length": 48, "token_dim": DIM, **choices}


def late(base: str, **choices: object) -> LateInteraction:
    torch.manual_seed(0)
    config = LateInteractionConfig(**sizes(base, **choices))  # type: ignore[arg-type]
    return LateInteraction(config, subwords_of(base)).eval()


def contextual(base: str, **choices: object) -> GalmContextual:
    torch.manual_seed(0)
    config = GalmContextualConfig(**sizes(base, num_blocks=4, gcn_dim=6, **choices))  # type: ignore[arg-type]
    return GalmContextual(config, subwords_of(base)).eval()


def side(rows: int, widest: int, seed: int) -> TokenVectors:
    """Unit vectors of texts of 1 to ``widest`` tokens, with pads behind."""
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, widest + 1, (rows, 1), generator=random)
    mask = torch.arange(widest) < lengths
    states = normalize(torch.randn(rows, widest, DIM, generator=random), dim=-1)
    vectors = normalize(torch.randn(rows, 8, generator=random), dim=-1)
    return TokenVectors(states, mask, vectors, torch.arange(widest).expand(rows, -1), mask)


def every_pair(queries: TokenVectors, codes: TokenVectors) -> tuple[TokenVectors, TokenVectors]:
    return (
        queries.rows(torch.arange(len(queries)).repeat_interleave(len(codes))),
        codes.rows(torch.arange(len(codes)).repeat(len(queries))),
    )


def test_each_query_token_takes_its_most_similar_code_token(base):
    model, queries, codes = late(base), side(QUERIES, 4, 0), side(CODES, 9, 1)
    found = model.score_matrix(queries, codes)
    for i in range(QUERIES):
        for j in range(CODES):
            own, other = queries.states[i][queries.mask[i]], codes.states[j][codes.mask[j]]
            largest = [max(float(token @ each) for each in other) for token in own]
            expected = float(queries.vectors[i] @ codes.vectors[j]) + sum(largest) / len(largest)
            assert float(found[i, j].detach()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("choices", [{}, {"learned_weights": True}, {"pooled": False}])
def test_blocks_of_late_interaction_equal_pairs(base, choices):
    model, queries, codes = late(base, **choices), side(QUERIES, 4, 0), side(CODES, 9, 1)
    if choices.get("learned_weights"):
        torch.nn.init.normal_(model.importance.weight)
    pairs = model.score_pairs(*every_pair(queries, codes)).view(QUERIES, CODES)
    for block in (1, 14, 4096):
        torch.testing.assert_close(model.score_matrix(queries, codes, pairs_per_block=block), pairs)


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("graph", ["alignment", "uniform"])
def test_blocks_of_the_contextual_graph_equal_pairs(base, layers, graph):
    model, queries, codes = contextual(base, layers=layers, graph=graph), side(QUERIES, 4, 0), side(CODES, 9, 1)
    torch.nn.init.normal_(model.alignment_graph.head_out.weight)
    pairs = model.score_pairs(*every_pair(queries, codes)).view(QUERIES, CODES)
    for block in (1, 14, 4096):
        torch.testing.assert_close(model.score_matrix(queries, codes, pairs_per_block=block), pairs)


def test_the_contextual_score_starts_as_a_mean_of_block_cosines(base):
    model, query, code = contextual(base), side(1, 3, 0), side(1, 5, 1)
    own, other = query.states[0][query.mask[0]], code.states[0][code.mask[0]]
    cosines = []
    for token in own:
        weights = torch.softmax(20.0 * (other @ token), dim=0)
        aligned = weights @ other
        for block in range(4):
            part = slice(4 * block, 4 * block + 4)
            cosines.append(torch.cosine_similarity(aligned[part], token[part], dim=0))
    expected = torch.stack(cosines).mean() + query.vectors[0] @ code.vectors[0]
    torch.testing.assert_close(model.score_pairs(query, code)[0], expected)


def test_the_papers_head_alone_does_not_start_as_cosines(base):
    query, code = side(1, 3, 0), side(1, 5, 1)
    plain = contextual(base, starts_as_cosines=False).score_pairs(query, code)
    assert not torch.allclose(plain, contextual(base).score_pairs(query, code))


def test_a_word_is_the_mean_of_its_subwords(base):
    subwords = subwords_of(base)
    continues = continuing_subwords(subwords)
    reader = library("tokenizers").Tokenizer.from_str(subwords.tokenizer)
    ids = torch.tensor([reader.token_to_id(each) for each in ("[CLS]", "read", "##s", "file", "[SEP]")])
    assert continues[ids].tolist() == [False, False, True, False, False]
    states, mask = torch.randn(1, 6, 3), torch.tensor([[True] * 5 + [False]])
    means, units = mean_by_unit(states, mask, torch.tensor([[0, 1, 1, 2, 3, 4]]))
    assert units.tolist() == [[True, True, True, True, False]]
    torch.testing.assert_close(means[0, 1], states[0, 1:3].mean(0))
    torch.testing.assert_close(means[0, 3], states[0, 4])


@pytest.mark.parametrize("make", [late, contextual])
def test_words_are_aligned_and_shown_by_subword(base, make):
    model = make(base, units="words")
    ids = torch.from_numpy(np.array([[2, 5, 20, 6, 3]]))
    words = Words(ids, torch.ones_like(ids, dtype=torch.bool))
    asked, read = model.encode_query({"query": words}), model.encode_code({"code": words})
    assert asked.states.shape[1] == 1 + int(asked.unit_of.max())
    assert model.alignment(asked, read).shape == (1, 5, 5)
    assert asked.shown.shape == ids.shape


def test_words_need_a_tokenizer_that_marks_their_parts(tmp_path):
    with pytest.raises(UserError, match=r"units=words needs a WordPiece tokenizer"):
        continuing_subwords(subwords_of(str(tiny_roberta(tmp_path / "roberta"))))


def test_the_width_has_to_have_such_blocks(base):
    with pytest.raises(UserError, match=r"model\.dim must be a multiple of --model\.num_blocks"):
        contextual(base, token_dim=10)


@pytest.mark.parametrize("make", [late, contextual])
def test_all_but_the_transformer_is_new(base, make):
    model = make(base)
    names = {id(weight): name for name, weight in model.named_parameters()}
    new = [names[id(weight)] for weight in model.new_weights()]
    assert "projection.weight" in new
    assert not [name for name in new if name.startswith("transformer.")]


@pytest.mark.parametrize(
    ("device", "pairs", "sides"),
    [("cpu", 4096, (16, 32)), ("cpu", 1, (16, 1)), ("cuda", 4096, (64, 64)), ("cuda", 1, (1, 1))],
)
def test_a_block_is_small_on_a_cpu_and_a_square_on_a_gpu(device, pairs, sides):
    assert block_sides(device, pairs) == sides


def some_words(rows: int, widest: int, seed: int) -> Words:
    random = torch.Generator().manual_seed(seed)
    mask = torch.arange(widest + 2) < torch.randint(1, widest + 1, (rows, 1), generator=random)
    return Words(torch.randint(5, 40, mask.shape, generator=random) * mask, mask)


@pytest.mark.parametrize("make", [late, contextual])
def test_a_frozen_transformer_reads_a_text_once_and_keeps_its_weights_while_the_rest_learns(base, make):
    model, plain = make(base, frozen=True), make(base)
    model.load_state_dict(plain.state_dict())
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    read: list[int] = []
    model.transformer.register_forward_hook(lambda *_: read.append(1))
    queries, codes = {"query": some_words(QUERIES, 6, 0)}, {"code": some_words(QUERIES, 9, 1)}
    optimiser = torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=0.01)
    model.train()
    for step in range(3):
        scores = model.score_matrix(model.encode_query(queries), model.encode_code(codes))
        if not step:
            expected = plain.score_matrix(plain.encode_query(queries), plain.encode_code(codes))
            torch.testing.assert_close(scores, expected, atol=2e-3, rtol=0)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(scores, torch.arange(QUERIES)).backward()
        optimiser.step()
    assert len(read) == 2  # the queries once, and the codes
    changed = {name for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])}
    assert changed
    assert not any(name.startswith("transformer.") for name in changed)


def test_a_frozen_transformer_encodes_anew_what_does_not_fit(base, monkeypatch):
    monkeypatch.setattr("modeling.transformers.late_interaction._MOST_KEPT", 0)
    model, words = late(base, frozen=True), some_words(QUERIES, 6, 0)
    torch.testing.assert_close(model.token_states(words), model.token_states(words))
