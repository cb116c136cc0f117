"""Explanations of files and folders that cannot be loaded as a local model."""

from pathlib import Path

_GGUF_REMEDY = (
    "set `model` in models.yaml to the folder or the Hub's id with its safetensors, or serve the "
    "file and add the server with the backend openai_compatible"
)
_TOKENIZER_NAMES = ("token", "vocab", "spiece", "sentencepiece", "tekken")
"""Parts of the names of files that hold a tokenizer."""


def explain_file(path: str) -> str:
    """Explain why a single file is no model."""
    if path.endswith(".gguf"):
        return f"{path} is a GGUF file, which is not loaded: {_GGUF_REMEDY}"
    return f"{path} is a file: set `model` in models.yaml to the folder that holds it"


def explain_folder(path: str, error: Exception) -> str | None:
    """Explain a loading error by what a folder lacks; None where it lacks nothing known here."""
    names = [file.name for file in Path(path).glob("*")]
    if any(name.endswith(".gguf") for name in names) and "config.json" not in names:
        return f"{path} holds GGUF files, which are not loaded: {_GGUF_REMEDY}"
    has_tokenizer = any(part in name for name in names for part in _TOKENIZER_NAMES)
    if names and not has_tokenizer and "tokenizer" in str(error).lower():
        return (
            f"{path} has no tokenizer: copy tokenizer.json and tokenizer_config.json from the "
            "model that it was made of into the folder"
        )
    return None
