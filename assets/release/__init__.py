"""Releases: a benchmark's tables and pictures in one folder, which others load unchanged."""

from assets.release.asset import GROUP, build_release_assets
from assets.release.contents import Release, ReleasedSplit, ReleasedTable, ReleaseSources
from assets.release.folder import write_release
from assets.release.options import ReleaseOptions
from assets.release.refusals import ReleaseRefused
from assets.release.verification import ReleaseMismatch, verify_release

__all__ = [
    "GROUP",
    "Release",
    "ReleaseMismatch",
    "ReleaseOptions",
    "ReleaseRefused",
    "ReleaseSources",
    "ReleasedSplit",
    "ReleasedTable",
    "build_release_assets",
    "verify_release",
    "write_release",
]
