"""Day and code of a report, and the version of its content."""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from resources.storage.atomic_writes import FilePath


class Publication(NamedTuple):
    """The first page of a site that was published, and the version of its content."""

    page: FilePath
    version: str


_CODE = Path(__file__).resolve().parents[2]
_WITHIN_S = 60


def revision_facts() -> dict[str, str]:
    """The lines of a report's footer about itself: the day in UTC, and the code."""
    return {"Written": datetime.now(UTC).date().isoformat(), "Code": revision()}


def content_version(folder: Path, facts: Mapping[str, str]) -> str:
    """Digest a site's pages without the values of `facts`: equal for equal content."""
    digest = sha256()
    for page in sorted(folder.rglob("*.html")):
        data = page.read_bytes()
        for value in facts.values():
            data = data.replace(value.encode(), b"")
        digest.update(data)
    return digest.hexdigest()


def revision(code: Path = _CODE) -> str:
    """The commit of the code in a folder, with "+ changes" where files differ from it.

    The installed version where the folder is no git checkout of its own, or there is no git.
    """
    if (code / ".git").exists():
        command = ["git", "-C", str(code), "describe", "--always", "--dirty= + changes"]
        command += ["--exclude=*", "--abbrev=12"]
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=_WITHIN_S
            )
        except (OSError, subprocess.SubprocessError):
            pass
        else:
            return f"commit {ran.stdout.strip()}"
    return f"counterfactory {version('counterfactory')}"
