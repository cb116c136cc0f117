"""Common perturbations: the pictures with noise, brighter, out of focus, and compressed."""

from assets.kit.columns import BOOLEAN, TEXT, WHOLE, Columns

PERTURBED = Columns(
    dataset=(TEXT, "The dataset"),
    image_id=(TEXT, "The original picture, as cases name it"),
    original=(TEXT, "Name of the original picture in the image store"),
    perturbation=(TEXT, "noise, hsv_brightness, defocus or jpeg"),
    parameters=(TEXT, "The perturbation with its parameters, as JSON"),
    sha256=(TEXT, "Name of the perturbed picture in the image store; empty where there is none"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    readable=(BOOLEAN, "Whether code still reads the truth in it; empty where none can"),
    seed=(WHOLE, "Of the noise"),
    rehearsal=(BOOLEAN, "Whether something offline stood in for a model: it is no result then"),
    outcome=(TEXT, "perturbed, or inapplicable"),
    reason=(TEXT, "Why it cannot be made; else empty"),
)
