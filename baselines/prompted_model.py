"""A large language model prompted whether a text and a code match, through an OpenAI-compatible endpoint.

GenCodeSearchNet's zero-shot matching (Diera et al., GenBench 2023): the pair in a prompt, "True" or "False" as the
answer, at most 10 tokens, everything else at the endpoint's defaults; an input too long for the model goes to a second
one with a longer context. The wording of the prompts is our own.

Every answer is saved to a journal at once, so that a killed run does not request, and pay for, any answer twice.
"""

import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import Final, Literal

import numpy as np
from jaxtyping import Float32, Int64
from tqdm import tqdm

from baselines.chat_endpoint import ChatEndpoint, EndpointError, TooLongError
from data_prep.errors import UserError, one_line
from data_prep.files.access import append_regular
from data_prep.files.writing import naming, sole_user
from data_prep.store.split import Split
from modeling.ranker import Ranker, Scores
from modeling.read_texts import texts_read

TextKind = Literal["code comment", "search query"]

_SAYS: Final = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_SHORTEST: Final = 200
"""Minimum length in characters to which a code is truncated."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PromptedModelConfig(ChatEndpoint):
    """The model, its endpoint and the prompt."""

    journal: str = "answers.jsonl"
    """The file that answers are saved to."""
    language: str = "Python"
    """The programming language named in the prompt."""
    text_kind: TextKind = "code comment"
    """The kind of text: a comment, or for CoSQA a search query."""
    second_model: str = ""
    """The model for inputs that are too long for the first; empty: the code is truncated."""


@dataclass(frozen=True, slots=True)
class AnswerJournal:
    """Answers by key, in memory and in an append-only file of JSON Lines, one line per answer."""

    path: Path
    _answers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "AnswerJournal":
        """Read the journal if it exists; an incomplete last line, left by a killed process, is removed.

        Raises:
            UserError: another line is damaged.
            OSError: the file or its folder cannot be read or written, or it is not a regular file.
        """
        journal = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Locked: a line that another process is writing would look incomplete.
        with append_regular(path) as file, sole_user(file.fileno()):
            file.seek(0)
            whole = 0  # bytes
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(whole)
                    break
                journal._take(line, number)
                whole += len(line)
        return journal

    def add(self, key: str, record: Mapping[str, str | int]) -> None:
        """Save an answer: ``record["answer"]`` and its metadata.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps({"key": key, **record}, ensure_ascii=False) + "\n"
        with naming(self.path), append_regular(self.path) as file, sole_user(file.fileno()):
            whole = os.fstat(file.fileno()).st_size
            try:
                _write(file.raw, line.encode())
                os.fsync(file.fileno())
            except OSError:
                file.truncate(whole)
                raise
        self._answers[key] = str(record["answer"])

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> str:
        return self._answers[key]

    def __len__(self) -> int:
        return len(self._answers)

    def _take(self, line: bytes, number: int) -> None:
        try:
            record = json.loads(line)
            key, answer = record["key"], record["answer"]
        except (ValueError, LookupError, TypeError, RecursionError):
            key = answer = None
        if not isinstance(key, str) or not isinstance(answer, str):
            raise UserError(
                f"{self.path}, line {number}: expected a saved answer; fix the line or name another journal"
            )
        self._answers[key] = answer


def _write(file: RawIOBase, data: bytes) -> None:
    """Write all of ``data``: on a full disk, a partial write is not an error yet."""
    while data:
        data = data[file.write(data) or 0 :]


def matching_prompt(text: str, code: str, language: str, kind: TextKind = "code comment") -> str:
    """The prompt that asks whether ``text`` and ``code`` match."""
    asks = {
        "code comment": f"Does the comment describe what the {language} code does?",
        "search query": f"Does the {language} code answer the search query?",
    }
    return (
        f"The input is a {kind} and a piece of {language} code, in the form: {kind} [CODESPLIT] code. {asks[kind]} "
        f"Answer with one word, True or False.\n\nInput: {text.strip()} [CODESPLIT] {code.strip()}\nAnswer:"
    )


def read_answer(answer: str) -> bool | None:
    """Parse ``answer`` as True or False; None if it contains neither, or both."""
    said = {word.lower() for word in _SAYS.findall(answer)}
    return said == {"true"} if len(said) == 1 else None


class PromptedModel(Ranker):
    """Prompts a model for each pair of a text and a code."""

    def __init__(self, config: PromptedModelConfig) -> None:
        """Open the journal.

        Raises:
            UserError: the journal is damaged, or the configuration is invalid.
            OSError: it cannot be read or written.
        """
        config.check()
        self.config = config
        self._journal = AnswerJournal.open(Path(config.journal))

    @property
    def natural_threshold(self) -> float:
        """One half, since True is 1 and False is 0."""
        return 0.5

    def over(self, queries: Split, corpus: Split) -> "AnswerScores":
        """Scores for these splits; no request is sent yet."""
        texts = [text.query_text for text in texts_read(queries)]
        return AnswerScores(self, texts, [text.source for text in texts_read(corpus)])

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """The model's answer for each pair of a text and a code: True, False, or None if it is neither.

        Raises:
            EndpointError: the endpoint refuses, or fails repeatedly; all answers so far are saved.
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
        """The answer, the model that returned it, and the number of characters of the code in its prompt."""
        config, code, model = self.config, code.strip(), self.config.model
        while True:
            try:
                prompt = matching_prompt(text, code, config.language, config.text_kind)
                return config.answer(model, prompt), model, len(code)
            except TooLongError as error:
                if config.second_model and model != config.second_model:
                    model = config.second_model
                elif len(code) > _SHORTEST:
                    code = code[: len(code) // 2]
                else:
                    raise EndpointError(f"{config.url} finds even a short input too long: {error}") from error


class AnswerScores(Scores):
    """Answers as scores: 1 for True, 0 for False, NaN for no answer, which always counts as wrong."""

    def __init__(self, model: PromptedModel, texts: Sequence[str], codes: Sequence[str]) -> None:
        """The texts and codes that ``model`` is asked about."""
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
    """A hash of everything that an answer depends on, so that other models or prompts are requested again."""
    asked = [config.url, config.model, config.second_model, config.max_tokens, prompt]
    return sha256(json.dumps(asked).encode()).hexdigest()
