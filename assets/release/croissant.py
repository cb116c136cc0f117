"""Croissant 1.1, with RAI 1.0 and PROV: what a release holds, and which assets made it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from dagster import AssetKey

from assets.release.contents import Release, ReleasedTable
from assets.release.parquet import IMAGE, build_schema
from assets.release.provenance import AssetOrigin, ModelUse
from assets.release.statements import build_statements
from resources.spdx_licences import is_listed

FILE = "croissant.json"
Json: TypeAlias = dict[str, Any]

_OWN_TERMS = (
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field"),
    *("fileProperty", "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset"),
    *("jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _OWN_TERMS},
}
_CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_TYPES: Mapping[pa.DataType, str] = {
    pa.string(): "sc:Text",
    pa.bool_(): "sc:Boolean",
    pa.int64(): "cr:Int64",
    pa.float64(): "cr:Float64",
    IMAGE: "sc:ImageObject",
}
_FORMATS = {
    ".parquet": "application/x-parquet",
    ".tar": "application/x-tar",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
}
_SPLIT_NAME = r"(?:.*/)?(.+?)(?:-\d+-of-\d+\.parquet)?$"
"""The split in a file's path, and in itself: mlcroissant applies it to both where it joins."""
_RELEASE = "release"
"""The activity that made the columns without an asset."""


def build_croissant(
    folder: Path, release: Release, origins: Sequence[AssetOrigin], digests: Mapping[str, str]
) -> Json:
    """Describe a folder; `digests` has the sha256 of its files, by path."""
    statements = build_statements(release, origins)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": f"counterfactory-{release.benchmark}",
        "description": f"{release.title}: {release.question} {release.card.summary}".strip(),
        "conformsTo": _CONFORMS_TO,
        "license": list(dict.fromkeys(_to_url(part.licence) for part in release.licences)),
        "version": release.version,
        **_drop_empty({"keywords": list(release.card.tags), "citeAs": release.card.citation}),
        "isLiveDataset": False,
        "rai:dataLimitations": list(statements.limitations),
        "rai:dataBiases": list(statements.biases),
        "rai:personalSensitiveInformation": list(statements.personal_information),
        "rai:dataUseCases": list(statements.use_cases),
        "rai:dataSocialImpact": " ".join(statements.social_impact),
        # Code writes the questions even where all pictures are photographs.
        "rai:hasSyntheticData": True,
        "prov:wasDerivedFrom": [
            {
                "@type": "prov:Entity",
                "@id": f"part/{part.part.replace(' ', '-')}",
                "prov:label": part.part,
                "description": part.source,
                "license": _to_url(part.licence),
            }
            for part in release.licences
        ],
        "prov:wasGeneratedBy": [
            *(_build_activity(origin) for origin in origins),
            {
                "@type": "prov:Activity",
                "@id": _RELEASE,
                "prov:label": "counterfactory release",
                "description": "Lays out the rows, and makes the columns that no asset has.",
                "softwareVersion": release.version,
            },
        ],
        "distribution": [
            *_build_file_objects(folder, digests),
            *(_build_file_set(table) for table in release.tables),
        ],
        "recordSet": [
            record_set
            for table in release.tables
            for record_set in (_build_splits(table), _build_record_set(table))
        ],
    }


def _build_activity(origin: AssetOrigin) -> Json:
    """Describe an asset as the activity that made its table."""
    return {
        "@type": "prov:Activity",
        "@id": _to_id(origin.key),
        "prov:label": origin.key.to_user_string(),
        "description": origin.description,
        "softwareVersion": origin.code_version,
        **_drop_empty(
            {
                "prov:wasInformedBy": [{"@id": _to_id(parent)} for parent in origin.parents],
                "prov:wasAssociatedWith": [_build_agent(origin, use) for use in origin.models],
            }
        ),
    }


def _build_agent(origin: AssetOrigin, use: ModelUse) -> Json:
    return {
        "@type": "prov:SoftwareAgent",
        "@id": f"{_to_id(origin.key)}/{use.name}",
        "prov:label": use.name,
        "identifier": use.model,
        "provider": use.backend,
        "softwareVersion": use.entry_version,
        "description": f"{use.calls:,} answers to {use.prompts:,} prompts.",
        "prov:hadPlan": {
            "@type": "prov:Plan",
            "@id": f"{_to_id(origin.key)}/{use.name}/prompts",
            "prov:value": use.example,
            "size": use.prompts,
            "sha256": use.prompts_sha256,
        },
    }


def _build_file_objects(folder: Path, digests: Mapping[str, str]) -> Iterator[Json]:
    for name, digest in sorted(digests.items()):
        if name != FILE:
            path = folder / name
            yield {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
                "sha256": digest,
            }


def _build_file_set(table: ReleasedTable) -> Json:
    config = table.declaration.config
    return {
        "@type": "cr:FileSet",
        "@id": f"{config}-files",
        "name": f"{config}-files",
        "description": f"Parquet files of {config}.",
        "encodingFormat": "application/x-parquet",
        "includes": f"data/{config}/*.parquet",
    }


def _build_splits(table: ReleasedTable) -> Json:
    """Describe the splits of a table, which its field `split` refers to."""
    config = table.declaration.config
    return {
        "@type": "cr:RecordSet",
        "@id": f"{config}-splits",
        "name": f"{config}-splits",
        "description": f"Splits of {config}.",
        "dataType": "cr:Split",
        "key": {"@id": f"{config}-splits/name"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{config}-splits/{name}",
                "name": name,
                "dataType": kind,
            }
            for name, kind in (("name", "sc:Text"), ("rows", "cr:Int64"))
        ],
        "data": [
            {f"{config}-splits/name": split.name, f"{config}-splits/rows": split.rows}
            for split in table.splits
        ],
    }


def _build_record_set(table: ReleasedTable) -> Json:
    declaration, schema = table.declaration, build_schema(table.declaration)
    source = {"fileSet": {"@id": f"{declaration.config}-files"}}
    return {
        "@type": "cr:RecordSet",
        "@id": declaration.config,
        "name": declaration.config,
        "description": declaration.description,
        "key": [
            {"@id": f"{declaration.config}/{name}"} for name in ("split", declaration.id_column)
        ],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{declaration.config}/split",
                "name": "split",
                "description": "Split, as the file's name has it.",
                "dataType": "sc:Text",
                "source": {
                    **source,
                    "extract": {"fileProperty": "fullpath"},
                    "transform": {"regex": _SPLIT_NAME},
                },
                "references": {"field": {"@id": f"{declaration.config}-splits/name"}},
            },
            *(_build_field(table, column, source) for column in schema),
        ],
    }


def _build_field(table: ReleasedTable, column: pa.Field, source: Json) -> Json:
    declaration = table.declaration
    is_list = pa.types.is_list(column.type)
    extract: Json = {**source, "extract": {"column": column.name}}
    if column.type == IMAGE:
        extract["transform"] = {"jsonPath": "bytes"}
    maker = declaration.sources.get(column.name)
    return {
        "@type": "cr:Field",
        "@id": f"{declaration.config}/{column.name}",
        "name": column.name,
        "description": declaration.columns.columns[column.name][1],
        "dataType": _TYPES[column.type.value_type if is_list else column.type],
        **({"isArray": True, "arrayShape": "-1"} if is_list else {}),
        "source": extract,
        "prov:wasGeneratedBy": {"@id": _to_id(maker) if maker else _RELEASE},
    }


def _drop_empty(properties: Json) -> Json:
    return {name: value for name, value in properties.items() if value}


def _to_id(key: AssetKey) -> str:
    return f"asset/{key.to_user_string()}"


def _to_url(licence: str) -> str:
    """The address of a licence on SPDX's list; any other is left as it is."""
    return f"https://spdx.org/licenses/{licence}" if is_listed(licence) else licence
