"""Upload of a release to a hub: checked, described, and put there in one commit.

Large files go first, each by its sha256, so that an interrupted upload goes on where it was; the
commit that shows them all comes last. A repository never shows half of a release.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow.parquet as pq

from assets.release import answers, licences
from assets.release.checksums import CHECKSUMS, hash_file
from assets.release.every_eval_ever import SAMPLES_SUFFIX

if TYPE_CHECKING:
    import huggingface_hub as hub

REQUIRED = ("README.md", licences.FILE, CHECKSUMS)
_FOLDERS = ("data/", "results/", "vlmevalkit/", "webdataset/")
"""Where a release has files that another one may lack."""
_PASSING = (408, 429, 500, 502, 503, 504)
_WAITS_S = (1, 2, 4, 8, 16)
_T = TypeVar("_T")


class UploadRefused(ValueError):
    """A folder or a repository that must not be uploaded to; the message names the remedy."""


class UploadFailed(Exception):
    """The hub did not take it; the message says what it answered."""


class ReleaseFile(NamedTuple):
    """A file to upload."""

    path: str
    sha256: str
    size: int
    rows: int | None
    """Rows of a Parquet file."""


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A data set's repository as the hub shows it; `head` is None where it is new."""

    name: str
    is_private: bool
    head: str | None = None
    paths: Sequence[str] = ()
    """Its files."""

    def find_outdated(self, files: Iterable[ReleaseFile]) -> list[str]:
        """Find files of an earlier release that this one lacks: loaders would take them for its."""
        released = {
            path for path in self.paths if path.startswith(_FOLDERS) or path == answers.FILE
        }
        return sorted(released - {file.path for file in files})


def check_folder(folder: Path) -> list[ReleaseFile]:
    """List a release's files; raises `UploadRefused` where they are not those of its checksums."""
    for name in REQUIRED:
        if not (folder / name).is_file():
            raise UploadRefused(
                f"{folder}: no release, it lacks {name}. Make one with counterfactory release."
            )
    lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
    digests = {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
    entries = [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
    present = {path.relative_to(folder).as_posix(): path for path in entries}
    present.pop(CHECKSUMS)
    problems = {
        "missing": sorted(digests.keys() - present.keys()),
        f"not in {CHECKSUMS}": sorted(present.keys() - digests.keys()),
        "links": sorted(name for name, path in present.items() if path.is_symlink()),
    }
    if not any(problems.values()):
        problems["changed"] = [p for p in digests if hash_file(folder / p) != digests[p]]
    descriptions = [f"{kind}: {', '.join(paths[:5])}" for kind, paths in problems.items() if paths]
    if descriptions:
        raise UploadRefused(
            f"{folder}: not what was released ({'; '.join(descriptions)}). Release it again."
        )
    digests[CHECKSUMS] = hash_file(folder / CHECKSUMS)
    return [
        ReleaseFile(path, digests[path], (folder / path).stat().st_size, _count_rows(folder / path))
        for path in sorted(digests)
    ]


def _count_rows(path: Path) -> int | None:
    return int(pq.read_metadata(path).num_rows) if path.suffix == ".parquet" else None


def find_repository(api: "hub.HfApi", name: str, *, is_public: bool) -> Repository:
    """Find a repository, or describe the one that would be made; raises `UploadFailed`."""
    from huggingface_hub.errors import RepositoryNotFoundError  # noqa: PLC0415 - of the extra `hub`

    try:
        info = _call(lambda: api.dataset_info(name), f"{name}: not reached")
    except RepositoryNotFoundError:
        return Repository(name=name, is_private=not is_public)
    sizes = _call(lambda: _list_sizes(api, name), f"{name}: not reached")
    return Repository(name=name, is_private=bool(info.private), head=info.sha, paths=sorted(sizes))


def describe_upload(folder: Path, files: list[ReleaseFile], repository: Repository) -> str:
    """Say what will be seen, by whom, under which licences."""
    state = "private" if repository.is_private else "public"
    age = "new" if repository.head is None else "existing"
    readers = "those with access to it" if repository.is_private else "everybody"
    lines = [f"{repository.name}: {age} {state} data set; {readers} will see:"]
    for file in files:
        rows = "" if file.rows is None else f", {file.rows:,} rows"
        note = ", the stored answers of models" if _has_answers(file) else ""
        lines.append(f"  {file.path}: {file.size / 1e6:,.3f} MB{rows}{note}")
    total = sum(file.size for file in files)
    lines.append(f"{len(files)} files, {total / 1e6:,.1f} MB.")
    if not any(map(_has_answers, files)):
        lines.append("No answers of models are among them.")
    if outdated := repository.find_outdated(files):
        lines.append("Removed, as this release lacks them (earlier commits keep them):")
        lines += [f"  {path}" for path in outdated]
    table = (folder / licences.FILE).read_text("utf-8").splitlines()
    return "\n".join([*lines, *(line for line in table if line.startswith("|"))])


def _has_answers(file: ReleaseFile) -> bool:
    return file.path == answers.FILE or file.path.endswith(SAMPLES_SUFFIX)


def upload_release(
    api: "hub.HfApi", folder: Path, files: list[ReleaseFile], repository: Repository
) -> str:
    """Upload checked files; return the commit. What the hub has already is not sent again.

    The same commit removes what an earlier release left. Raises `UploadFailed`, also where somebody
    else has changed the repository meanwhile.
    """
    from huggingface_hub import (  # noqa: PLC0415 - of the extra `hub`
        CommitOperationAdd,
        CommitOperationDelete,
    )

    name, head = repository.name, repository.head
    failure = f"{name}: not uploaded"
    if head is None:
        _call(
            lambda: api.create_repo(
                name, repo_type="dataset", private=repository.is_private, exist_ok=True
            ),
            failure,
        )
        head = _call(lambda: api.dataset_info(name), failure).sha

    def commit() -> str:
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationDelete(path) for path in repository.find_outdated(files)
        ]
        for file in files:
            operation = CommitOperationAdd(file.path, folder / file.path)
            operation.upload_info.sha256 = bytes.fromhex(file.sha256)
            operations.append(operation)
        current = api.dataset_info(name).sha
        parent = head if current == head else None
        # A commit whose reply was lost is found by what it has put there.
        if parent is None and not _holds(api, name, files):
            raise UploadFailed(
                f"{failure}: somebody else has changed it meanwhile. Look at it, then upload again."
            )
        done = api.create_commit(
            name,
            operations,
            commit_message="Upload a release",
            repo_type="dataset",
            parent_commit=parent,
        )
        return str(done.oid)

    return _call(commit, failure)


def _holds(api: "hub.HfApi", name: str, files: list[ReleaseFile]) -> bool:
    """True where the repository has files of the same names and sizes."""
    sizes = _list_sizes(api, name)
    return all(sizes.get(file.path) == file.size for file in files)


def _list_sizes(api: "hub.HfApi", name: str) -> Mapping[str, int]:
    """The files of a repository, with their sizes in bytes."""
    tree = api.list_repo_tree(name, recursive=True, repo_type="dataset")
    return {entry.path: entry.size for entry in tree if hasattr(entry, "size")}


def _call(request: Callable[[], _T], failure: str) -> _T:
    """Ask the hub, again where it is busy; raises `UploadFailed`."""
    from httpx2 import TransportError  # noqa: PLC0415 - of the extra `hub`
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError  # noqa: PLC0415 - of the extra `hub`

    for wait_s in (*_WAITS_S, None):
        try:
            return request()
        except RepositoryNotFoundError:
            raise
        except (HfHubHTTPError, TransportError, RuntimeError) as error:
            cause = error.__cause__ if isinstance(error, RuntimeError) else error
            if not isinstance(cause, (HfHubHTTPError, TransportError)):
                raise
            status = getattr(getattr(cause, "response", None), "status_code", None)
            if wait_s is None or (status is not None and status not in _PASSING):
                raise UploadFailed(f"{failure}: {_explain(status, cause)}") from None
            time.sleep(wait_s)
    raise AssertionError


def _explain(status: int | None, error: BaseException | None) -> str:
    remedies = {
        401: "the hub does not know the token (401). Run hf auth login, or set HF_TOKEN.",
        403: "the token may not write there (403). Use one with write access.",
        409: "the repository is being changed (409). Upload again.",
        412: "somebody else has changed it meanwhile (412). Look at it, then upload again.",
    }
    if status is None:
        return f"the connection failed ({type(error).__name__}). Upload again: it goes on."
    return remedies.get(status, f"the hub answered {status}. Upload again: it goes on.")
