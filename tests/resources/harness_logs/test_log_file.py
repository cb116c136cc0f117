"""Logs that are broken, hostile or of no harness, and what a log says of single replies."""

import json
import zipfile

import pytest
from upath import UPath

from resources.harness_logs import read_harness_log
from resources.harness_logs.workbooks import MAX_UNPACKED
from resources.user_files.rows import UserFileError

SAMPLE = {
    "id": "a",
    "target": "5",
    "messages": [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "How many?"}]}
    ],
    "metadata": {"sha256": "0" * 64},
    "output": {
        "choices": [{"message": {"content": "{5}"}, "stop_reason": "stop"}],
        "usage": {"output_tokens": 3},
    },
}
HEADER = {"eval": {"model": "openai/gpt-4.1", "model_generate_config": {"max_tokens": 32}}}
_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    "{}</sheetData></worksheet>"
)
WORKBOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/'
    '2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def write_archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return UPath(path)


def write_workbook(path, *lines):
    rows = "".join(f"<row>{line}</row>" for line in lines)
    return write_archive(path, WORKBOOK | {"xl/worksheets/sheet1.xml": _SHEET.format(rows)})


def write_inspect(path, *samples):
    members = {f"samples/{n}.json": json.dumps(sample) for n, sample in enumerate(samples)}
    return write_archive(path, {"header.json": json.dumps(HEADER), **members})


def cell(text):
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>'


def with_stop(reason, content="{5}"):
    choice = {"message": {"content": content}, "stop_reason": reason}
    return SAMPLE | {"output": {"choices": [choice]}}


def test_a_log_of_inspect_says_of_each_reply_how_it_ended(tmp_path):
    samples = [
        SAMPLE,
        with_stop("max_tokens"),
        with_stop("content_filter", ""),
        SAMPLE | {"error": {"message": "timeout"}},
    ]
    log = read_harness_log(write_inspect(tmp_path / "log.eval", *samples))
    assert (log.harness, log.model, log.max_tokens) == ("inspect_ai", "openai/gpt-4.1", 32)
    whole, cut, filtered, failed = log.answers
    assert (whole.row_id, whole.reply, whole.prompt) == ("a", "{5}", "How many?")
    assert (whole.ground_truth, whole.sha256, whole.output_tokens) == ("5", "0" * 64, 3)
    assert [answer.is_cut for answer in log.answers] == [False, True, False, False]
    assert filtered.is_filtered
    assert failed.reply is None
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": samples}))
    answers = read_harness_log(UPath(path)).answers
    assert [answer.reply for answer in answers] == [answer.reply for answer in log.answers]
    assert cut.reply == "{5}"


def test_a_system_message_is_a_part_of_the_prompt(tmp_path):
    system = {"role": "system", "content": "attachment://1"}
    sample = SAMPLE | {
        "messages": [system, *SAMPLE["messages"]],
        "attachments": {"1": "Look twice."},
    }
    (answer,) = read_harness_log(write_inspect(tmp_path / "log.eval", sample)).answers
    assert answer.prompt == "Look twice.\nHow many?"


def test_formulas_of_a_workbook_are_not_run(tmp_path):
    formula = '<c><f>HYPERLINK("http://example.com")</f><v>7</v></c>'
    path = write_workbook(
        tmp_path / "log.xlsx",
        cell("index") + cell("prediction"),
        cell("a") + formula,
        cell("b") + cell("Failed to obtain answer via API."),
        "<c><v>3</v></c>" + cell("=1+1"),
    )
    log = read_harness_log(path)
    assert [(answer.row_id, answer.reply) for answer in log.answers] == [
        ("a", "7"),
        ("b", None),
        ("3", "=1+1"),
    ]


def test_limits_of_lmms_eval_are_read_beside_its_samples(tmp_path):
    line = {"doc_id": 0, "filtered_resps": "Let me", "token_counts": [{"output_tokens": 64}]}
    line["row"] = {"id": "a"}
    samples = tmp_path / "1_samples_x.jsonl"
    samples.write_text(json.dumps(line))
    assert not read_harness_log(UPath(samples)).answers[0].is_cut
    results = {"model_name": "m", "configs": {"x": {"generation_kwargs": {"max_new_tokens": 64}}}}
    (tmp_path / "1_results.json").write_text(json.dumps(results))
    log = read_harness_log(UPath(samples))
    assert (log.model, log.max_tokens, log.answers[0].is_cut) == ("m", 64, True)


BAD = {
    "empty.jsonl": (b"", "has no answers"),
    "broken.jsonl": (b'{"filtered_resps": "{5}"', "no JSON object on one line"),
    "broken.json": (b'{"eval": ', "no JSON"),
    "web page.eval": (b"<html>", "is no log of inspect_ai"),
    "web page.xlsx": (b"<html>", "is no workbook"),
    "pickle.pkl": (b"\x80\x04.", "is no log. Name one of"),
    "other.jsonl": (b'{"a": 1}\n{"a": 2}', "neither `resps` nor `prediction`. Name a log"),
    "by position.jsonl": (b'{"doc_id": 0, "resps": [["{5}"]]}', "integrations/lmms_eval"),
    "no index.tsv": (b"question\tprediction\n1\t2\n", "no column 'index'"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_log_is_said(tmp_path, name):
    data, message = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserFileError, match=message):
        read_harness_log(UPath(tmp_path / name))


def test_a_log_that_was_cut_short_is_said(tmp_path):
    path = write_inspect(tmp_path / "log.eval", SAMPLE)
    (tmp_path / "part.eval").write_bytes(path.read_bytes()[:-60])
    with pytest.raises(UserFileError, match="or a part of one"):
        read_harness_log(UPath(tmp_path / "part.eval"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.tsv", "index\tquestion\tprediction\na\tHow many?\t{5}\nb\tHow"),
        ("quoted.tsv", 'index\tprediction\na\t{5}\nb\t"I cou'),
        ("log.jsonl", '{"filtered_resps": "{5}", "row": {"id": "a"}}\n{"filtered_resps": "{5'),
    ],
)
def test_a_last_line_that_was_cut_short_is_said(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserFileError, match=r"The file may be cut short: copy it again\.$"):
        read_harness_log(UPath(tmp_path / name))


def test_another_line_is_not_said_to_be_cut_short(tmp_path):
    (tmp_path / "log.tsv").write_text("index\tprediction\na\nb\t{5}")
    with pytest.raises(UserFileError, match=r'quotes in "quotes"\.$'):
        read_harness_log(UPath(tmp_path / "log.tsv"))


@pytest.mark.parametrize("name", ["bomb.eval", "bomb.xlsx"])
def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path, name):
    with (
        zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.json", "w") as member,
    ):
        for _ in range(MAX_UNPACKED // 10_000_000 + 1):
            member.write(bytes(10_000_000))
    with pytest.raises(UserFileError, match="at most 200 are taken"):
        read_harness_log(UPath(tmp_path / name))
