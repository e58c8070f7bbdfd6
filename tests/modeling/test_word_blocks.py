import torch

from modeling.layers import word_blocks


def test_blocks_hold_every_row_once_without_needless_pads() -> None:
    generator = torch.Generator().manual_seed(0)
    mask = torch.rand(23, 9, generator=generator) < torch.rand(23, 1, generator=generator)
    mask[5] = False
    states = torch.randn(23, 9, 4, generator=generator)
    blocks, places = word_blocks(states, mask, 6)
    assert [len(block) for block in blocks] == [6, 6, 6, 5]
    rows = [(block, row) for block in blocks for row in range(len(block))]
    for number in range(23):
        block, row = rows[int(places[number])]
        words = states[number][mask[number]]
        assert torch.equal(block.states[row][block.mask[row]], words)  # in their order
        assert block.mask[row].tolist() == [place < len(words) for place in range(block.mask.shape[1])]
    lengths = [block.mask.sum(1) for block in blocks]
    assert [block.mask.shape[1] for block in blocks] == [max(1, int(each.max())) for each in lengths]
    assert torch.equal(torch.cat(lengths), mask.sum(1).sort().values)


def test_rows_without_words_are_a_block_of_pads() -> None:
    blocks, places = word_blocks(torch.ones(3, 2, 1), torch.zeros(3, 2, dtype=torch.bool), 2)
    assert [block.mask.shape for block in blocks] == [(2, 1), (1, 1)]
    assert not any(block.mask.any() for block in blocks)
    assert sorted(places.tolist()) == [0, 1, 2]
