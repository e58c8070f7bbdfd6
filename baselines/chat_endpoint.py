"""Client of an OpenAI-compatible endpoint: one request at a time, with retries of transient failures.

Only the host of the address is contacted, directly; redirects are not followed. The key is sent in one header and is
removed from all messages.
"""

import http.client
import json
import logging
import os
import re
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from data_prep.errors import UserError

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_TRY_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LARGEST: Final = 1 << 20  # bytes of an answer
_LONGEST_WAIT: Final = 60.0  # seconds
_TOO_LONG: Final = re.compile(r"context[_ ](length|window|size)|too (long|many tokens)", re.IGNORECASE)
_log = logging.getLogger(__name__)


class EndpointError(UserError):
    """Why no answer is available, in one line."""


class TooLongError(Exception):
    """The input has more tokens than the model accepts."""


class _TryAgainError(Exception):
    """A transient failure."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait  # requested by the endpoint, in seconds


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Model, address and retry settings of an endpoint."""

    model: str
    """The model's name at the endpoint."""
    url: str = "http://127.0.0.1:8000/v1"
    """The address, without /chat/completions."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that contains the key, if the endpoint needs one."""
    max_tokens: int = 10
    """Maximum tokens of an answer."""
    tries: int = 6
    """Maximum number of tries per request."""
    timeout: float = 60.0
    """Timeout of a request in seconds."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled before each further one, at most 60."""

    def check(self) -> None:
        """Check the settings before any request.

        Raises:
            UserError: one is invalid, or the key would be sent without encryption.
        """
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError:  # its text may contain a password
            raise UserError("url takes an address such as https://HOST/v1, with a port of up to 65535") from None
        if not self.model:
            raise UserError("model takes the name of a model at the endpoint, and got none")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or port == 0:
            raise UserError(f"url takes an address such as https://HOST/v1, not one of {parts.hostname or 'no host'}")
        if min(self.max_tokens, self.tries, self.timeout) < 1:
            raise UserError("max_tokens, tries and timeout take numbers of 1 or more")
        if self._key() and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise UserError(f"{self.key_variable} is not sent without encryption: write https://{parts.hostname}")

    def answer(self, model: str, prompt: str) -> str:
        """The answer of ``model`` to ``prompt``; empty if it has no content.

        Raises:
            TooLongError: the prompt is too long for the model.
            EndpointError: the endpoint refuses, or fails repeatedly.
        """
        problem = ""
        for number in range(self.tries):
            try:
                return self._asked_once(model, prompt)
            except _TryAgainError as error:
                problem = str(error)
                wait = min(max(self.first_wait * 2**number, error.wait), _LONGEST_WAIT)
            if number + 1 < self.tries:
                _log.info("%s: %s; retrying in %.0f s", self.url, problem, wait)
                time.sleep(wait)
        raise EndpointError(f"{self.url} gave no answer in {self.tries} tries: {problem}; run again to continue")

    def _asked_once(self, model: str, prompt: str) -> str:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], "max_tokens": self.max_tokens}
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "galm"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        connection = self._connection()
        try:
            connection.request(
                "POST", f"{urlsplit(self.url).path.rstrip('/')}/chat/completions", json.dumps(body), headers
            )
            response = connection.getresponse()
            content = response.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            raise _TryAgainError(str(error) or type(error).__name__) from error
        finally:
            connection.close()
        return self._said(response.status, response.headers.get("Retry-After", ""), content)

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self.timeout)

    def _said(self, status: int, retry_after: str, content: bytes) -> str:
        if status == http.client.OK:
            return self._message(content)
        said = self._one_line(content)
        if status in _TRY_AGAIN:
            raise _TryAgainError(f"it answers {status} {said}", _seconds(retry_after))
        if status in (400, 413) and _TOO_LONG.search(said):
            raise TooLongError(said)
        if 300 <= status < 400:
            raise EndpointError(f"{self.url} redirects elsewhere, which is not followed: give its own address")
        raise EndpointError(f"{self.url} answers {status} {said}")

    def _message(self, content: bytes) -> str:
        if len(content) > _LARGEST:
            raise _TryAgainError(f"its answer has more than {_LARGEST:,} bytes")
        try:
            message: Any = json.loads(content)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise _TryAgainError(f"its answer is no chat completion: {self._one_line(content)}") from None
        return message if isinstance(message, str) else ""

    def _one_line(self, content: bytes) -> str:
        """The start of a response for use in messages, with the key masked in case the server echoes it."""
        said = re.sub(r"[^ -~]+", " ", content[:1000].decode("utf-8", "replace"))
        key = self._key()
        return " ".join((said.replace(key, "***") if key else said).split())[:200]

    def _key(self) -> str:
        key = os.environ.get(self.key_variable, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UserError(f"{self.key_variable} contains characters that are invalid in a key: set it again")
        return key


def _seconds(retry_after: str) -> float:
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0
