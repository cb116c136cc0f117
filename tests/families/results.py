"""What was found of each family, as `docs/local-models.md` has it and `test_families` holds it."""

from tests.families.checkpoints import FAMILIES

ABILITIES = (
    "answers, mixed batches",
    "several pictures",
    "conversations",
    "text, JSON",
    "P(yes)",
    "fine-tuning, adapter",
    "ProtoScore by GRPO",
    "attack",
)
WORKS, NO = "yes", "no"
WITHOUT_TORCHVISION = ("Gemma 3", "LLaVA-1.5", "LLaVA-NeXT", "PaliGemma", "Llama 3.2 Vision")
"""Families whose processors do without torchvision."""
REFUSALS = {
    ("PaliGemma", "conversations"): "it answers a single question",
    ("PaliGemma", "text, JSON"): "`images` are expected",
    ("Llama 4", "fine-tuning, adapter"): "TRL finds no network without a head",
    ("Llama 4", "ProtoScore by GRPO"): "TRL finds no network without a head",
    **{
        (name, "ProtoScore by GRPO"): "Materialize `margin_adapter`"
        for name in ("Llama 3.2 Vision", "Kimi K2.5", "MiniCPM-V 4.6", "Mistral 3", "PaliGemma")
    },
}
"""The message by which an ability is refused."""
ATTACKED = ("LLaVA-1.5", "LLaVA-NeXT", "Gemma 3", "PaliGemma")
REFUSALS |= {(name, "attack"): "has no encoder here" for name in FAMILIES if name not in ATTACKED}
TRAININGS = ("fine-tuning, adapter", "ProtoScore by GRPO")
EXPERTS = ("Qwen3-VL MoE", "Qwen3.5 MoE", "Kimi K2.5")
"""Mixtures of experts: an adapter leaves the experts as they are."""


def describe(name, ability):
    """A cell of the table."""
    if (name, ability) in REFUSALS:
        return NO
    return "not experts" if name in EXPERTS and ability in TRAININGS else WORKS


def format_table():
    """The table in Markdown; families with the same results share a row."""
    rows = {}
    for name in FAMILIES:
        cells = (
            *(describe(name, ability) for ability in ABILITIES),
            NO if name in WITHOUT_TORCHVISION else WORKS,
        )
        rows.setdefault(cells, []).append(name)
    head = ("family", *ABILITIES, "needs torchvision")
    lines = [head, ("---",) * len(head), *((", ".join(rows[cells]), *cells) for cells in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("| --- ", "|---")
