"""Names of licences as SPDX has them (https://spdx.org/licenses/)."""

import re
from typing import Annotated

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import AfterValidator, Field

_OPERATOR = re.compile(r"\b(AND|OR|WITH)\b")
_SINGLE_NAME = re.compile(r"(?!LicenseRef-)[A-Za-z0-9.-]+")


def find_spdx_name(licence: str) -> str | None:
    """Find a licence's name, or expression of names, as SPDX writes it; None for others.

    >>> find_spdx_name("cc-by-4.0"), find_spdx_name("public domain")
    ('CC-BY-4.0', None)
    """
    try:
        return canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        return None


def is_listed(licence: str) -> bool:
    """Return whether a licence is one name of SPDX's list, which has a page about each."""
    return bool(_SINGLE_NAME.fullmatch(licence)) and find_spdx_name(licence) == licence


def require_licence(licence: str) -> str:
    """Return a licence by its SPDX name, or as it is where it has none and is put in words.

    Raises `ValueError` for what is neither.
    """
    name = find_spdx_name(licence)
    is_wording = " " in licence.strip() and not _OPERATOR.search(licence)
    if name is None and not is_wording:
        raise ValueError(
            f"is {licence!r}, which is not on SPDX's list (https://spdx.org/licenses/): write a "
            "name of the list, as in CC-BY-4.0. For a licence that is not on it, write its name in "
            "words, or LicenseRef- and a name of yours. While it is unknown, remove the field"
        )
    return name or licence


LicenceName = Annotated[str, Field(min_length=1), AfterValidator(require_licence)]
