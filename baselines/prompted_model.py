"""A large language model asked in words whether a text and a code match, through an OpenAI-compatible endpoint.

GenCodeSearchNet's zero-shot matching (Diera et al., GenBench 2023): the pair in a prompt, "True" or "False" as the
answer, 10 tokens at most, everything else at the endpoint's defaults; an input too long for the model goes to a second
one that reads more. The prompts are in our words.

Every answer is kept in a journal at once, so that a run that was killed asks, and pays, for none of them twice.
"""

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import numpy as np
from jaxtyping import Float32, Int64
from tqdm import tqdm

from baselines.answer_journal import AnswerJournal
from baselines.chat_endpoint import ChatEndpoint, EndpointError, TooLongError
from data_prep.files.printable import one_line
from data_prep.store.prepared_data import Split
from modeling.ranker import Ranker, Scores

TextKind = Literal["code comment", "search query"]

_SAYS: Final = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_SHORTEST: Final = 200
"""Characters of a code below which it is not cut any more."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PromptedModelConfig:
    """Which model is asked, where, and how patiently."""

    model: str
    """The model's name at the endpoint."""
    url: str = "http://127.0.0.1:8000/v1"
    """The endpoint, up to what stands before /chat/completions."""
    journal: str = "answers.jsonl"
    """The file that keeps the answers."""
    language: str = "Python"
    """The programming language, as the prompt names it."""
    text_kind: TextKind = "code comment"
    """What the text is: a comment, or for CoSQA a search query."""
    second_model: str = ""
    """The model that gets what is too long for the first; empty: the code is cut."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the key, if the endpoint wants one."""
    max_tokens: int = 10
    """Most tokens of an answer."""
    tries: int = 6
    """How often a question is asked before the run stops."""
    timeout: float = 60.0
    """Seconds until an answer has to come."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled at each further one, 60 at most."""

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("model takes the name of a model at the endpoint, and got none")

    @property
    def endpoint(self) -> ChatEndpoint:
        """Where to ask.

        Raises:
            ValueError: the address or a number is of no use, or a key would be sent without encryption.
        """
        return ChatEndpoint(self.url, self.key_variable, self.max_tokens, self.tries, self.timeout, self.first_wait)


def matching_prompt(text: str, code: str, language: str, kind: TextKind = "code comment") -> str:
    """The question whether ``text`` and ``code`` match."""
    asks = {
        "code comment": f"Does the comment describe what the {language} code does?",
        "search query": f"Does the {language} code answer the search query?",
    }
    return (
        f"The input is a {kind} and a piece of {language} code, in the form: {kind} [CODESPLIT] code. {asks[kind]} "
        f"Answer with one word, True or False.\n\nInput: {text.strip()} [CODESPLIT] {code.strip()}\nAnswer:"
    )


def read_answer(answer: str) -> bool | None:
    """Whether ``answer`` says True or False; None where it says neither, or both."""
    said = {word.lower() for word in _SAYS.findall(answer)}
    return said == {"true"} if len(said) == 1 else None


class PromptedModel(Ranker):
    """Asks a model about pairs of a text and a code."""

    def __init__(self, config: PromptedModelConfig) -> None:
        """Open the journal.

        Raises:
            ValueError: the journal is damaged, or the configuration of no use.
            OSError: it cannot be read or written.
        """
        self.config = config
        self._endpoint = config.endpoint
        self._journal = AnswerJournal.open(Path(config.journal))

    @property
    def natural_threshold(self) -> float:
        """One half: True is 1."""
        return 0.5

    def over(self, queries: Split, corpus: Split) -> "AnswerScores":
        """Nothing is asked yet."""
        texts = [queries.text(row).query_text for row in range(len(queries))]
        return AnswerScores(self, texts, [corpus.text(row).source for row in range(len(corpus))])

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """What the model says of each pair of a text and a code: True, False or, None, neither.

        Raises:
            EndpointError: the endpoint refuses, or fails again and again; all answers so far are kept.
        """
        shown = tqdm(pairs, desc=one_line(f"ask {self.config.model}"), disable=None)
        found = [self._answer(text, code) for text, code in shown]
        if missing := sum(answer is None for answer in found):
            _log.info("%d of %d answers say neither True nor False, which counts as wrong", missing, len(found))
        return found

    def _answer(self, text: str, code: str) -> bool | None:
        config = self.config
        prompt = matching_prompt(text, code, config.language, config.text_kind)
        key = _key(config, prompt)
        if key not in self._journal:
            answer, model, cut = self._ask(text, code)
            self._journal.add(key, {"answer": answer, "model": model, "code_characters": cut})
        return read_answer(self._journal[key])

    def _ask(self, text: str, code: str) -> tuple[str, str, int]:
        """The answer, the model that gave it, and how many characters of the code it read."""
        config, code, model = self.config, code.strip(), self.config.model
        while True:
            try:
                prompt = matching_prompt(text, code, config.language, config.text_kind)
                return self._endpoint.answer(model, prompt), model, len(code)
            except TooLongError as error:
                if config.second_model and model != config.second_model:
                    model = config.second_model
                elif len(code) > _SHORTEST:
                    code = code[: len(code) // 2]
                else:
                    raise EndpointError(f"{config.url} finds even a short input too long: {error}") from error


class AnswerScores(Scores):
    """Answers as scores: 1 for True, 0 for False, NaN for no answer, which is wrong whatever the truth is."""

    def __init__(self, model: PromptedModel, texts: Sequence[str], codes: Sequence[str]) -> None:
        """What ``model`` is asked about."""
        super().__init__(len(texts), len(codes))
        self._model, self._texts, self._codes = model, texts, codes

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """Ask about every candidate of each query."""
        rows = zip(queries.tolist(), candidates.tolist(), strict=True)
        pairs = [(self._texts[query], self._codes[code]) for query, codes in rows for code in codes]
        scores = [np.nan if answer is None else float(answer) for answer in self._model.answers(pairs)]
        return np.array(scores, np.float32).reshape(candidates.shape)


def _key(config: PromptedModelConfig, prompt: str) -> str:
    """What an answer depends on, so that another model or prompt is asked anew."""
    asked = [config.url, config.model, config.second_model, config.max_tokens, prompt]
    return sha256(json.dumps(asked).encode()).hexdigest()
