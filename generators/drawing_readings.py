"""Reading of an image that is drawn for it, in worker processes."""

from generators.worker_jobs import DrawJob, ImageReadings, ReadJob, draw_png, read_png


def read_drawing(drawing: DrawJob) -> ImageReadings:
    """Draw one scene, and read every target from its pixels."""
    targets = tuple(drawing.scene.truths)
    return read_png(ReadJob(drawing.topic, draw_png(drawing), targets, is_legibility_read=False))
