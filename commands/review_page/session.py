"""A review as it goes on: decisions and their undoing, and how far it is."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from upath import UPath

from assets.kit.review_forms import REASON, ReviewItem, list_parts, read_part
from commands.review_page.answer_files import Answer, AnswerBook, fold_name
from commands.review_page.windows import ReviewWindows, Window, measure_speed
from resources.storage.atomic_writes import is_remote
from resources.user_files.rows import UserFileError

AHEAD = 4
"""Items that a page gets ahead of those that are decided: it loads their pictures."""
_MOST_LISTED = 5


class NothingToReview(ValueError):
    """No part of an asset is left to review."""


class Decision(NamedTuple):
    """What a page sends of one item."""

    annotator: str
    window: str
    """Name of the page's window, by chance: two windows are not shown the same item."""
    item: str
    value: str
    reason: str = ""
    replaces: str | None = None
    """Answer that the page has shown, and that this one is to replace."""


class _Entry(NamedTuple):
    """An item in the order of the review."""

    key: str
    book: AnswerBook
    item: ReviewItem


class _Done(NamedTuple):
    """A decision that can be undone, and the answer that it replaced."""

    key: str
    answer: Answer
    replaced: Answer | None


class ReviewSession:
    """The review of some parts of an asset, for all windows of one server."""

    def __init__(self, reviews: UPath, asset: str, parts: Sequence[str], seed: int) -> None:
        self._reviews, self.asset, self.parts, self._seed = reviews, asset, parts, seed
        self._lock = Lock()
        self._windows = ReviewWindows()
        self._history: dict[str, list[_Done]] = {}
        self._states: object = None
        self._load()

    def _load(self) -> None:
        """Read the parts, and order their items by the seed: those that are last stay last.

        Raises `NothingToReview`, and `UserFileError` for a damaged file; then all stays as it was.
        """
        stored_paths = list_parts(self._reviews, self.asset)
        paths = [stored_paths[name] for name in self.parts if name in stored_paths]
        if not paths:
            raise NothingToReview(
                f"{self.asset}: {', '.join(self.parts)} cannot be reviewed any more, as nothing "
                f"of it is left in {self._reviews}. Materialize it again: counterfactory run "
                f"{self.asset}"
            )
        states = self._find_states(paths)
        books = [AnswerBook(self._reviews, read_part(path)) for path in paths]
        for book in books:
            book.refresh()
        self._paths, self._states, self.books = paths, states, books
        self.form = books[0].part.form
        self.pictures = {
            digest for book in self.books for item in book.part.items for digest, _ in item.pictures
        }
        self.entries = {
            entry.key: entry for book in self.books for entry in _order(book, self._seed)
        }

    def _find_states(self, paths: Sequence[UPath]) -> object:
        if is_remote(self._reviews):
            return None
        states = [path.stat() for path in paths if path.exists()]
        return [(state.st_ino, state.st_size, state.st_mtime_ns) for state in states]

    def _refresh(self) -> str:
        """Read what has changed meanwhile; return a sentence where other items are reviewed now."""
        if self._find_states(self._paths) == self._states:
            for book in self.books:
                book.refresh()
            return ""
        before = self.entries
        self._load()
        new, gone = (
            len(first.keys() - second.keys())
            for first, second in ((self.entries, before), (before, self.entries))
        )
        return f"{self.asset} was materialized meanwhile. New items: {new}; gone: {gone}."

    def describe_review(self) -> dict[str, Any]:
        """Describe which review this is, by which a page tells it from another one."""
        return {"asset": self.asset, "parts": [*self.parts]}

    def show(self, annotator: str, window: str) -> dict[str, Any]:
        """Describe what a window shows: the next items, and how far the review is."""
        with self._lock:
            if is_remote(self._reviews):
                self._load()
            return self._describe(annotator, window, message=self._refresh())

    def decide(self, decision: Decision) -> dict[str, Any]:
        """Write a decision to disk, and describe what comes next.

        One that somebody has decided otherwise meanwhile is not written: the answer says so, and
        the next decision may replace it. The annotator's answer to an earlier text of the item is
        set aside. Raises `UserFileError`, `NothingToReview` and `StoreError`.
        """
        with self._lock:
            message = self._refresh()
            entry = self.entries.get(decision.item)
            annotator, window = decision.annotator, decision.window
            if entry is None:
                text = "This item is not under review any more: your decision was not written."
                return self._describe(annotator, window, message=f"{text} {message}".strip())
            self._check_answer(decision)
            with entry.book.writing():
                existing = self._find_answer(entry, annotator)
                if existing is None:
                    message = f"{self._set_item_aside(entry, annotator)} {message}".strip()
                    self._write(entry, decision, None)
                elif existing.value == decision.value and existing.reason == decision.reason:
                    pass  # It was written, and the page did not hear of it.
                elif existing.value == decision.replaces:
                    self._write(entry, decision, existing)
                else:
                    return self._describe(annotator, window, conflict=(entry, existing))
            self._windows.find(annotator, window).count_decision(decision.item)
            return self._describe(annotator, window, message=message, last=entry)

    def _check_answer(self, decision: Decision) -> None:
        """Raise `UserFileError` for an answer that the form does not have."""
        value, reason, choices = decision.value, decision.reason, [*self.form.choices]
        if value not in choices:
            raise UserFileError(f"{value!r}: no answer. Choose from {', '.join(choices)}.")
        if reason and not self.form.reasons:
            raise UserFileError(f"{reason!r}: this form takes no reasons. Send {value!r} alone.")
        if reason and value != choices[-1]:
            raise UserFileError(
                f"{reason!r}: a reason goes with {choices[-1]!r}, not with {value!r}. "
                f"Send {value!r} without a reason."
            )

    def _set_item_aside(self, entry: _Entry, annotator: str) -> str:
        """Move an answer to an earlier text of an item to a file beside; return a sentence on it.

        Beside a second answer to the item, the file could not be read.
        """
        name = entry.item.name
        answer = entry.book.list_outdated(annotator).get(name)
        if answer is None:
            return ""
        file = entry.book.set_aside(annotator, {name: answer})
        return f"Your answer to its earlier text ({answer.value}) is in {file.name} now."

    def _write(self, entry: _Entry, decision: Decision, existing: Answer | None) -> None:
        answer = Answer(
            value=decision.value,
            reason=decision.reason,
            annotator=decision.annotator,
            place=str(entry.book.find_file(decision.annotator)),
            text=entry.item.cells.get("text"),
        )
        if existing is None:
            entry.book.add(entry.item, answer)
        else:
            entry.book.replace(entry.item, existing, answer)
        history = self._history.setdefault(fold_name(decision.annotator), [])
        history.append(_Done(entry.key, answer, existing))

    def undo(self, annotator: str, window: str) -> dict[str, Any]:
        """Take back an annotator's last decision of this server's time, and show its item again."""
        with self._lock:
            message = self._refresh()
            history = self._history.get(fold_name(annotator), [])
            if not history:
                return self._describe(annotator, window, message="There is nothing to undo.")
            done = history[-1]
            entry = self.entries.get(done.key)
            if entry is None:
                history.pop()
                text = "The last decision was on an item that is gone; it stays in the file."
                return self._describe(annotator, window, message=text)
            with entry.book.writing():
                existing = self._find_answer(entry, annotator)
                if existing is None or existing[:3] != done.answer[:3]:
                    history.pop()
                    text = "Your last decision was changed meanwhile: it is not undone."
                    return self._describe(annotator, window, message=text)
                entry.book.replace(entry.item, existing, done.replaced)
            history.pop()
            self._windows.find(annotator, window).item = entry.key
            text = f"Undone: {done.answer.value}."
            return self._describe(annotator, window, message=f"{text} {message}".strip())

    def skip(self, annotator: str, window: str, key: str) -> dict[str, Any]:
        """Show an item again after all others of this window."""
        with self._lock:
            self._windows.find(annotator, window).postpone(key)
            return self._describe(annotator, window, message=self._refresh())

    def set_aside(self, annotator: str, window: str) -> dict[str, Any]:
        """Move answers to what is not under review now to a file beside.

        Raises `UserFileError` where none can be moved, as all are in files of other names.
        """
        with self._lock:
            self._refresh()
            files, problems = [], []
            for book in self.books:
                with book.writing():
                    outdated = book.list_outdated(annotator)
                    try:
                        files += [book.set_aside(annotator, outdated).name] if outdated else []
                    except UserFileError as error:
                        problems.append(str(error))
            if problems and not files:
                raise UserFileError("\n".join(problems))
            text = f"Set aside: {', '.join(files)} in {self._reviews}." if files else ""
            return self._describe(annotator, window, message=" ".join([text, *problems]))

    def leave(self, window: str) -> dict[str, Any]:
        """Let others see at once what was on the screen of a window that was closed."""
        with self._lock:
            self._windows.close(window)
            return {}

    def _find_answer(self, entry: _Entry, annotator: str) -> Answer | None:
        """Find the answer to an item as it is now; None for one to its earlier text."""
        answer = entry.book.find(annotator).get(entry.item.name)
        is_current = answer is not None and answer.text in (None, entry.item.cells.get("text"))
        return answer if is_current else None

    def _iterate_open(self, window: Window) -> Iterator[_Entry]:
        """The items that a window's annotator has not decided, in the order of the window."""
        keys = self._windows.iterate_keys(
            self.entries.keys(), window, is_shared=self.form.is_shared
        )
        for key in keys:
            if self._find_answer(self.entries[key], window.annotator) is None:
                yield self.entries[key]

    def _describe(
        self,
        annotator: str,
        name: str,
        *,
        message: str = "",
        last: _Entry | None = None,
        conflict: tuple[_Entry, Answer] | None = None,
    ) -> dict[str, Any]:
        window = self._windows.find(annotator, name)
        upcoming = [*islice(self._iterate_open(window), 1 + AHEAD)]
        if conflict is not None:
            upcoming.insert(0, conflict[0])
        window.show(upcoming[0].key if upcoming else None)
        answered = sum(
            self._find_answer(entry, annotator) is not None for entry in self.entries.values()
        )
        total = len(self.entries)
        return {
            **self.describe_review(),
            "items": [_to_json(entry) for entry in upcoming],
            "done": answered,
            "total": total,
            **measure_speed(window.times, total - answered),
            "message": message,
            "last": None if last is None else self._describe_last(last, annotator),
            "conflict": None if conflict is None else self._describe_answer(conflict[1]),
            "outdated": self._describe_outdated(annotator),
        }

    def _describe_last(self, entry: _Entry, annotator: str) -> dict[str, Any]:
        answer, item = self._find_answer(entry, annotator), entry.item
        check = [f"A model's check says {item.check}."] if item.check else []
        return {
            "title": item.title or item.sentence or item.lines[0][1],
            "notes": [*item.check_notes] or check,
            **({} if answer is None else self._describe_answer(answer)),
        }

    def _describe_answer(self, answer: Answer) -> dict[str, str]:
        return {"value": answer.value, REASON: answer.reason, "annotator": answer.annotator}

    def _describe_outdated(self, annotator: str) -> dict[str, Any]:
        outdated = [
            f"{name[:12]} ({answer.value}, {answer.place.rpartition('/')[2]})"
            for book in self.books
            for name, answer in book.list_outdated(annotator).items()
        ]
        return {"count": len(outdated), "names": outdated[:_MOST_LISTED]}

    def list_answers(self) -> list[tuple[ReviewItem, Mapping[str, Answer]]]:
        """List each item with the answers to it by annotator, as they were last read."""
        with self._lock:
            return [
                (
                    entry.item,
                    {
                        scope: answers[entry.item.name]
                        for scope, answers in entry.book.answers.items()
                        if entry.item.name in answers
                    },
                )
                for entry in self.entries.values()
            ]


def _order(book: AnswerBook, seed: int) -> list[_Entry]:
    entries = [_Entry(f"{book.part.name}/{item.name}", book, item) for item in book.part.items]
    return sorted(
        entries,
        key=lambda entry: (
            entry.item.is_last,
            sha256(f"{seed}/{entry.item.name}".encode()).digest(),
        ),
    )


def _to_json(entry: _Entry) -> dict[str, Any]:
    """What a page may show of an item before it is decided: no check of a model."""
    item = entry.item
    return {
        "key": entry.key,
        "part": entry.book.part.title,
        "title": item.title,
        "sentence": item.sentence,
        "lines": item.lines,
        "pictures": item.pictures,
        "notes": item.notes,
    }
