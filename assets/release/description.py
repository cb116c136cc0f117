"""What describes a release's tables: licences, data card, leaderboards' files, Croissant."""

import json
import os
from pathlib import Path

from assets.release import card, croissant, licences
from assets.release.checksums import hash_files
from assets.release.contents import Release, ReleaseSources
from assets.release.leaderboards import build_leaderboard_files
from assets.release.provenance import find_origins
from assets.release.refusals import ReleaseRefused
from assets.release.secrets import SecretFinder


def describe_release(
    folder: Path, release: Release, sources: ReleaseSources, digests: dict[str, str]
) -> None:
    """Write what describes a folder, before its checksums; Croissant last: it lists all files.

    `digests` has the sha256 of some files by path, and gets those of the others. Raises
    `ReleaseRefused` where a description, which quotes prompts, holds a secret.
    """
    origins = find_origins(sources, release.parts, release.partitions)
    secrets = SecretFinder(sources.catalog, os.environ)

    def write(name: str, text: str) -> None:
        if secret := secrets.find([text]):
            raise ReleaseRefused(
                f"{release.title}: nothing was released, as {name} would hold {secret}, from a "
                "prompt, answer or description. Hold the key for leaked, and make the tables "
                "without it."
            )
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write(licences.FILE, licences.build_licences(release.title, release.licences))
    write(card.FILE, card.build_card(release, origins))
    for name, text in build_leaderboard_files(release).items():
        write(name, text)
    digests |= hash_files(folder, digests)
    document = croissant.build_croissant(folder, release, origins, digests)
    write(croissant.FILE, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
