"""The licences under which code is used for training and shown with attribution: the five of Scotch's data set."""

from typing import Final

PERMITTED: Final = ("MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "ISC")
"""Their SPDX identifiers."""


def permitted(expression: str) -> str:
    """The part of an SPDX expression that may be chosen and consists of :data:`PERMITTED`; "" if there is none.

    ``GPL-2.0-only OR MIT`` gives MIT, ``MIT AND ISC`` itself, ``MIT AND GPL-2.0-only`` nothing. Parentheses and
    exceptions are not interpreted.
    """
    choices = [
        choice for choice in expression.split(" OR ") if all(each in PERMITTED for each in choice.split(" AND "))
    ]
    return " OR ".join(choices) if "(" not in expression else ""
