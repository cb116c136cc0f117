"""The pages of ProtoBias's report."""

from assets.protobias.pages.figures import SummarisedPainter
from assets.protobias.pages.report import build

__all__ = ["SummarisedPainter", "build"]
