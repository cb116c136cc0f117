"""Answers of people in their files, which the page, its other processes and people write.

A new answer is appended and flushed to disk. To undo or to replace one, its file is written anew,
whole. Processes take turns by a lock on the folder, and read what others have written meanwhile.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from typing import NamedTuple
from unicodedata import normalize

from upath import UPath

from assets.kit.review_forms import ANNOTATOR, REASON, SCORE, ReviewItem, ReviewPart
from assets.kit.score_files import read_score_files
from assets.kit.score_sheets import CHANCE, SHEET, ScoreForm
from assets.kit.verdicts import PANEL_SHEET, Verdicts, read_panel, read_verdicts
from commands.review_page import sheet_edits
from commands.review_page.sheet_edits import Cells
from resources.faults import StoreBusy, write_errors
from resources.storage.atomic_writes import is_remote, to_local_path, write_atomically
from resources.storage.files import is_stored, list_folder, make_folder, read_file, update_file
from resources.user_files.rows import UserFileError
from resources.user_files.spreadsheets import format_csv

EVERYBODY = ""
"""Takes the place of the annotator where all share one answer."""
_SUFFIXES = (".csv", ".json")
_MOST_NAMED = 60
_TURN_S, _RETRY_S = 5.0, 0.02
"""Time for which another process may have the turn, and the pause between tries to take it."""


class Answer(NamedTuple):
    """A person's answer to an item."""

    value: str
    reason: str
    annotator: str
    place: str
    """Its place, as in "line 8", or with its file."""
    text: str | None = None
    """Text of the picture that was scored; None where there is none."""


def parse_annotator(name: str) -> str:
    """A person's name as files are named by it; raises `ValueError` for one that names no file."""
    name = normalize("NFC", " ".join(name.split()))
    if f"{name}.csv".casefold() == SHEET or name.casefold().startswith(f"{PANEL_SHEET}-"):
        raise ValueError(
            f"Annotator {name!r}: the sheets to fill in have this name. Write another, such as "
            "your first name."
        )
    if not name or len(name) > _MOST_NAMED or not set(name) <= _find_letters(name):
        raise ValueError(
            f"Annotator {name!r}: a file is named by it. Write 1 to {_MOST_NAMED} letters, digits, "
            "spaces, dots, hyphens or underscores, the first a letter or a digit."
        )
    return name


def _find_letters(name: str) -> set[str]:
    return {letter for letter in name if letter.isalnum()} | (
        set(" .-_@") if name[:1].isalnum() else set()
    )


def fold_name(name: str) -> str:
    """The name by which people are told apart: in no matter what capitals."""
    return normalize("NFC", name).casefold()


class AnswerBook:
    """The answers to one part of an asset: by annotator, or those that all share."""

    def __init__(self, reviews: UPath, part: ReviewPart) -> None:
        self.part, self.path = part, reviews.joinpath(*part.answers.split("/"))
        self.answers: dict[str, dict[str, Answer]] = {}
        self._state: object = None
        self._folder = self.path.parent if part.form.is_shared else self.path

    def find(self, annotator: str) -> Mapping[str, Answer]:
        """The answers of an annotator, or those that all share, by name of the item."""
        return self.answers.get(self._scope(annotator), {})

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Take the turn among all processes, with the answers as they are now.

        Raises `StoreBusy` where another process keeps it.
        """
        if is_remote(self._folder):
            self.refresh()
            yield
            return
        make_folder(self._folder)
        descriptor = os.open(to_local_path(self._folder), os.O_RDONLY)
        try:
            self._lock(descriptor)
            self.refresh()
            yield
            self._state = self._find_state()
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        end = monotonic() + _TURN_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if monotonic() >= end:
                    raise StoreBusy(
                        f"{self._folder}: another process has locked this folder for {_TURN_S:.0f} "
                        "s, and nothing was written. Try again; if that fails, end the process "
                        f"(lsof {self._folder} lists it)."
                    ) from None
            sleep(_RETRY_S)

    def refresh(self) -> None:
        """Read the files that somebody has changed. Raises `UserFileError`."""
        state = self._find_state()
        if state is None or state != self._state:
            self.answers = self._read()
            self._state = state

    def _find_state(self) -> object:
        """Find what changes whenever a local file does; None for an object store."""
        if is_remote(self._folder):
            return None
        paths = [self.path] if self.part.form.is_shared else list_folder(self._folder)
        return [
            (path.name, status.st_ino, status.st_size, status.st_mtime_ns)
            for path in paths
            if path.suffix.lower() in _SUFFIXES and path.exists()
            for status in [path.stat()]
        ]

    def _read(self) -> dict[str, dict[str, Answer]]:
        form = self.part.form
        if form.answer_column == SCORE:
            return self._read_scores()
        if form.is_shared:
            return {EVERYBODY: _to_answers(read_verdicts(self.path, form.subject_column))}
        panel = read_panel(self.path, form.subject_column)
        return {
            fold_name(name): {
                subject: answer._replace(annotator=name)
                for subject, answer in _to_answers(verdicts).items()
            }
            for name, verdicts in panel.items()
        }

    def _read_scores(self) -> dict[str, dict[str, Answer]]:
        form, problems = self.part.form, []
        score_form = ScoreForm(
            task=form.task,
            guide={int(score): words for score, words in form.choices.items()},
            guidelines=form.guidelines,
            asset=form.asset,
            source=form.asset,
        )
        answers: dict[str, dict[str, Answer]] = {}
        for score in read_score_files(self.path, score_form):
            scores = answers.setdefault(fold_name(score.annotator), {})
            if score.image in scores:
                problems.append(
                    f"{score.place}: {score.annotator} has scored the picture {score.image} "
                    f"already ({scores[score.image].place}). Keep one of the two."
                )
            scores[score.image] = Answer(
                value=str(score.score),
                reason="",
                annotator=score.annotator,
                place=score.place,
                text=score.text,
            )
        if problems:
            raise UserFileError("\n".join(problems))
        return answers

    def _scope(self, annotator: str) -> str:
        return EVERYBODY if self.part.form.is_shared else fold_name(annotator)

    def find_file(self, annotator: str) -> UPath:
        """The file that an annotator's answers are written to."""
        if self.part.form.is_shared:
            return self.path
        files = list_folder(self.path)
        matches = (
            path
            for path in files
            if path.suffix.lower() == ".csv" and fold_name(path.stem) == fold_name(annotator)
        )
        return next(matches, self.path / f"{annotator}.csv")

    def add(self, item: ReviewItem, answer: Answer) -> None:
        """Append an answer, and flush it. Call it while `writing`."""
        file = self.find_file(answer.annotator)
        if is_remote(file):
            update_file(file, lambda content: self._extend(content or b"", file, item, answer))
        else:
            content = read_file(file) if is_stored(file) else b""
            extended = self._extend(content, file, item, answer)
            if content and extended.startswith(content):
                _append(file, extended[len(content) :])
            else:
                _write(file, extended)
        self._remember(item, answer)

    def _extend(self, content: bytes, file: UPath, item: ReviewItem, answer: Answer) -> bytes:
        """The content of a file with a line for an answer."""
        form = self.part.form
        if not content.strip():
            content = format_csv(self.part.columns, []).encode()
        elif form.is_shared:
            content = sheet_edits.add_column(content, ANNOTATOR)
        elif CHANCE in item.cells:
            content = sheet_edits.add_column(content, CHANCE)
        cells = {name: "" if cell is None else str(cell) for name, cell in item.cells.items()}
        cells[form.subject_column] = item.name
        cells |= self._to_cells(answer)
        if form.answer_column == SCORE and self._names_annotators(answer.annotator, file, content):
            cells[ANNOTATOR] = answer.annotator
        line = sheet_edits.format_line(sheet_edits.read_columns(content), cells)
        return sheet_edits.append_line(content, line)

    def _names_annotators(self, annotator: str, file: UPath, content: bytes) -> bool:
        """Return False for a file with scores that leave it to its own name whose they are."""
        answers = [answer for answer in self.find(annotator).values() if str(file) in answer.place]
        return not answers or sheet_edits.has_row(content, {ANNOTATOR: answers[0].annotator})

    def replace(self, item: ReviewItem, old: Answer, new: Answer | None) -> None:
        """Replace an answer, or remove it. Call it while `writing`. Raises `UserFileError`."""
        form, file = self.part.form, self.find_file(old.annotator)
        key = {form.subject_column: item.name, form.answer_column: old.value}
        content = read_file(file) if is_stored(file) else b""
        if not content or not sheet_edits.has_row(content, key):
            raise UserFileError(
                f"{self.path}, {old.place}: the answer to {item.name} is not in {file.name}. "
                "Change it where it is."
            )
        cells = None if new is None else self._to_cells(new)
        _write(file, sheet_edits.update_row(content, key, cells))
        if new is None:
            self.answers.get(self._scope(old.annotator), {}).pop(item.name, None)
        else:
            self._remember(item, new)

    def _to_cells(self, answer: Answer) -> Cells:
        form = self.part.form
        if form.answer_column == SCORE:
            return {SCORE: answer.value}
        return {form.answer_column: answer.value, REASON: answer.reason} | (
            {ANNOTATOR: answer.annotator} if form.is_shared else {}
        )

    def _remember(self, item: ReviewItem, answer: Answer) -> None:
        self.answers.setdefault(self._scope(answer.annotator), {})[item.name] = answer

    def list_outdated(self, annotator: str) -> dict[str, Answer]:
        """The answers to what is not under review now, or to a picture with another text."""
        texts = {item.name: item.cells.get("text") for item in self.part.items}
        return {
            name: answer
            for name, answer in self.find(annotator).items()
            if name not in texts or (answer.text is not None and answer.text != texts[name])
        }

    def set_aside(self, annotator: str, outdated: Mapping[str, Answer]) -> UPath:
        """Move outdated answers of an annotator to a file beside. Call it while `writing`.

        Raises `UserFileError` where none of them is in the file that the page writes.
        """
        form, file = self.part.form, self.find_file(annotator)
        keys = [
            {form.subject_column: name, form.answer_column: answer.value}
            for name, answer in outdated.items()
        ]
        content = read_file(file) if is_stored(file) else b""
        rest, moved = sheet_edits.split_rows(content, keys) if content else (b"", b"")
        if not moved:
            name, answer = next(iter(outdated.items()))
            place = f"{file}, {answer.place}" if form.answer_column != SCORE else answer.place
            raise UserFileError(
                f"{place}: the outdated answer to {name} cannot be moved from there. Remove it "
                "there yourself, or move its file out of this folder."
            )
        aside = file.with_name(f"{file.name}.outdated")
        _write(aside, (read_file(aside) if is_stored(aside) else b"") + moved)
        _write(file, rest)
        self.answers = self._read()
        return aside


def _to_answers(verdicts: Verdicts) -> dict[str, Answer]:
    return {
        name: Answer(
            value=verdict.decision,
            reason=verdict.reason,
            annotator=verdict.annotator,
            place=verdict.place,
        )
        for name, verdict in verdicts.items()
    }


def _append(file: UPath, data: bytes) -> None:
    """Append to a local file and flush it to disk; what cannot be written whole leaves no trace.

    A buffered stream would write the rest once more when it is closed.
    """
    with write_errors(file), to_local_path(file).open("ab", buffering=0) as stream:
        size, rest = stream.tell(), memoryview(data)
        try:
            while rest:
                rest = rest[stream.write(rest) :]
            os.fsync(stream.fileno())
        except OSError:
            os.ftruncate(stream.fileno(), size)
            raise


def _write(file: UPath, content: bytes) -> None:
    write_atomically(file, content)
    _flush_folder(file)


def _flush_folder(file: UPath) -> None:
    """Flush the name of a new file to disk."""
    if not is_remote(file):
        descriptor = os.open(to_local_path(file).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
