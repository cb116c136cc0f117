"""Pictures by a painter without an API: how many a table lacks, and how to list them."""

from typing import Any

from assets.kit.step import Step, Work


def still_to_paint(step: Step[Any], work: Work[Any], failed: int) -> dict[str, str]:
    """What the metadata say of a folder's table in which pictures are missing; else nothing."""
    model = step.model(work.partition, work.config)
    if not failed or model is None or not model.may_lack_answers:
        return {}
    how = how_to_list(step.key.to_user_string(), work.partition)
    return {"still_to_paint": f"{failed:,} pictures. {how}"}


def how_to_list(asset: str, partition: str) -> str:
    """The command that lists what is still to be painted."""
    where = f" --partitions '{partition}'" if partition else ""
    command = f"counterfactory prompts {asset}{where} --missing --to prompts.csv"
    return f"To list what is to be painted: {command}"
