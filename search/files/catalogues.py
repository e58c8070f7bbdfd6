"""Catalogues of messages: what a program says stands in them, and code has the keys.

They are read as documents are, beside the sources, but answer only what has the words of a message. Of translations
those into English are read, which most projects are written in, or what has no language in its name.
"""

import re
from typing import Final

_ENDS: Final = (".properties", ".json", ".yml", ".yaml", ".xml", ".resx", ".po", ".arb", ".strings")
_CATALOGUE: Final = re.compile(
    r"(?:^|/)(?:(?:\w+[._-])?(?:messages|errors|labels|strings|i18n|translations?|validation)(?:_en(?:_[A-Z]{2})?)?"
    r"\.(?:properties|json|ya?ml)|(?:\w+[._-])?en(?:[-_][A-Za-z]{2})?\.(?:json|ya?ml|arb)"
    r"|(?<=/values/)strings\.xml|(?<=/en\.lproj/)\w+\.strings|(?<=/Base\.lproj/)\w+\.strings|[^/.]+\.resx|[^/]+\.po)$",
    re.IGNORECASE,
)


def is_catalogue(path: str) -> bool:
    """Whether a file is one, by its path."""
    return path.endswith(_ENDS) and _CATALOGUE.search(path) is not None
