"""Logs of inspect_ai: `.eval`, a ZIP archive with a member per sample, or `.json`."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow as pa
from upath import UPath

from resources.harness_logs.log_answer import HarnessLog, LogAnswer, require_text, to_count, to_text
from resources.harness_logs.workbooks import require_bounded
from resources.storage.files import open_file
from resources.untrusted_input.json_text import BadJson, parse_untrusted
from resources.user_files.rows import BadRow, Row, TableFormat, UserFileError, build_all
from resources.user_files.text_rows import read_json

_ZSTD, _LOCAL_HEADER = 93, 30
_ATTACHMENT = "attachment://"


def read_inspect(path: UPath) -> HarnessLog:
    """Read the samples of a log. Raises `UserFileError`."""
    if path.suffix.lower() == ".eval":
        with open_file(path) as file:
            try:
                with ZipFile(file) as archive:
                    require_bounded(path, archive)
                    return _build_log(path, *_read_archive(archive, file))
            except (BadZipFile, BadJson, OSError, zlib.error, KeyError) as error:
                raise UserFileError(
                    f"{path} is no log of inspect_ai, or a part of one ({error}). Copy it again."
                ) from None
    log = read_json(path, TableFormat())
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if not isinstance(samples, list):
        raise UserFileError(f"{path} has no samples. Name the log of a run that logged them.")
    return _build_log(path, log, (("item", sample) for sample in samples))


def _read_archive(archive: ZipFile, file: IO[bytes]) -> tuple[Any, list[tuple[str, Any]]]:
    members = {member.filename: member for member in archive.infolist()}
    # A run that was broken off has no header yet.
    name = "header.json" if "header.json" in members else "_journal/start.json"
    header = parse_untrusted(_read_member(archive, file, members[name]))
    samples = [
        (name, parse_untrusted(_read_member(archive, file, member)))
        for name, member in members.items()
        if name.startswith("samples/") and name.endswith(".json")
    ]
    return header, samples


def _read_member(archive: ZipFile, file: IO[bytes], member: ZipInfo) -> bytes:
    """The bytes of a member; Python 3.11 knows no zstd, by which inspect_ai packs."""
    if member.compress_type in (ZIP_STORED, ZIP_DEFLATED):
        return archive.read(member)
    if member.compress_type != _ZSTD:
        raise BadZipFile(f"compression {member.compress_type} of {member.filename}")
    file.seek(member.header_offset)
    head = file.read(_LOCAL_HEADER)
    file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
    packed = pa.BufferReader(file.read(member.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        data: bytes = stream.read(member.file_size)
    return data


def _build_log(path: UPath, header: Any, samples: Iterable[tuple[str, Any]]) -> HarnessLog:
    run = header.get("eval") if isinstance(header, Mapping) else None
    if not isinstance(run, Mapping):
        raise UserFileError(f"{path} is no log of inspect_ai: it has no `eval`. Name another file.")
    generation = run.get("model_generate_config")
    plan = header.get("plan")
    limits = [generation, plan.get("config") if isinstance(plan, Mapping) else None]
    counts = [to_count(limit.get("max_tokens")) for limit in limits if isinstance(limit, Mapping)]
    return HarnessLog(
        path=str(path),
        harness="inspect_ai",
        model=to_text(run.get("model")),
        max_tokens=next(filter(None, counts), None),
        answers=build_all(path, _number(samples), _build_answer),
    )


def _number(samples: Iterable[tuple[str, Any]]) -> Iterator[Row]:
    for number, (name, sample) in enumerate(samples, 1):
        place = name if "/" in name else f"{name} {number:,}"
        problem = None if isinstance(sample, Mapping) else "it is no JSON object"
        yield Row(number, place, sample if problem is None else {}, problem)


def _build_answer(row: Row) -> LogAnswer:
    if row.problem is not None:
        raise BadRow(row.problem)
    sample = row.cells
    choice, usage = _find_choice(sample), None
    output = sample.get("output")
    if isinstance(output, Mapping) and isinstance(output.get("usage"), Mapping):
        usage = output["usage"]
    stop = choice.get("stop_reason") if choice else None
    message = choice.get("message") if choice else None
    reply = _join_texts(sample, message.get("content")) if isinstance(message, Mapping) else None
    metadata = sample.get("metadata")
    return LogAnswer(
        place=row.place,
        row_id=require_text(sample.get("id"), "id"),
        reply=None if sample.get("error") else reply,
        prompt=_find_prompt(sample),
        ground_truth=to_text(sample.get("target")),
        sha256=to_text(metadata.get("sha256")) if isinstance(metadata, Mapping) else None,
        is_filtered=stop == "content_filter",
        is_cut=stop in ("max_tokens", "model_length"),
        output_tokens=to_count(usage.get("output_tokens")) if usage else None,
    )


def _find_choice(sample: Mapping[str, Any]) -> Mapping[str, Any] | None:
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else None


def _find_prompt(sample: Mapping[str, Any]) -> str | None:
    """All text that was sent before the reply, whoever's: a system message changes the prompt."""
    messages = sample.get("messages")
    sent = [
        _join_texts(sample, message.get("content"))
        for message in messages or ()
        if isinstance(message, Mapping) and message.get("role") in ("system", "user")
    ]
    return "\n".join(text for text in sent if text) or None


def _join_texts(sample: Mapping[str, Any], content: Any) -> str | None:
    """The text of a message, whose parts may lie among the sample's attachments."""
    if isinstance(content, str):
        attachments = sample.get("attachments")
        if content.startswith(_ATTACHMENT) and isinstance(attachments, Mapping):
            return to_text(attachments.get(content.removeprefix(_ATTACHMENT)))
        return content
    if not isinstance(content, list):
        return None
    parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    return "".join(_join_texts(sample, part.get("text")) or "" for part in parts)
