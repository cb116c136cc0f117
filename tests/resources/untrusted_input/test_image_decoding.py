import io
import struct
import warnings
import zlib
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event, Lock

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from resources.models.replies import ImageFile
from resources.untrusted_input.image_decoding import BadImage, decode_image

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (40, 60, 3), dtype=np.uint8)


def file(image, kind="PNG", **options):
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def chunks(png):
    at, names = 8, []
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        names.append(png[at + 4 : at + 8])
        at += length + 12
    return names


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def test_a_png_keeps_its_pixels_and_loses_everything_else():
    text = PngImagePlugin.PngInfo()
    text.add_text("prompt", "a dog with five legs")
    sent = file(Image.fromarray(PIXELS), pnginfo=text, exif=Image.Exif(), dpi=(72, 72))
    assert b"five legs" in sent
    kept = decode_image(ImageFile(sent, "image/png"))
    assert set(chunks(kept)) == {b"IHDR", b"IDAT", b"IEND"}
    assert (pixels(kept) == PIXELS).all()
    assert decode_image(ImageFile(kept)) == kept


def test_a_png_that_is_plain_already_is_kept_byte_for_byte():
    for level in (0, 9):
        sent = file(Image.fromarray(PIXELS), compress_level=level)
        assert decode_image(ImageFile(sent, "image/png")) == decode_image(ImageFile(sent)) == sent
    assert decode_image(ImageFile(sent + b"hidden")) == file(Image.fromarray(PIXELS))


@pytest.mark.parametrize("claimed", ["image/png; charset=utf-8", "IMAGE/PNG ;q=1", "", None])
def test_a_media_type_may_have_parameters(claimed):
    sent = file(Image.fromarray(PIXELS))
    assert decode_image(ImageFile(sent, claimed)) == sent


def test_a_jpeg_with_a_preview_after_it_is_a_jpeg():
    large, preview = Image.fromarray(PIXELS), Image.fromarray(PIXELS[::2, ::2])
    sent = file(large, "MPO", save_all=True, append_images=[preview], quality=95)
    assert Image.open(io.BytesIO(sent)).format == "MPO"
    for claimed in ("image/jpeg", "image/jpg", None):
        kept = decode_image(ImageFile(sent, claimed))
        assert (pixels(kept) == pixels(file(large, "JPEG", quality=95))).all()
    with pytest.raises(BadImage, match="came as image/png but is JPEG"):
        decode_image(ImageFile(sent, "image/png"))


def test_a_jpeg_is_turned_as_its_exif_says():
    exif = Image.Exif()
    exif[0x0112] = 6
    half_red = np.zeros((40, 60, 3), np.uint8)
    half_red[:20, :, 0] = 255
    kept = decode_image(ImageFile(file(Image.fromarray(half_red), "JPEG", exif=exif), "image/jpeg"))
    assert pixels(kept).shape == (60, 40, 3)
    assert (pixels(kept)[:, 21:, 0] > 200).all()
    assert (pixels(kept)[:, :19, 0] < 50).all()


def test_transparency_is_laid_on_white():
    clear = np.dstack([PIXELS, np.zeros((40, 60), np.uint8)])
    clear[:, 30:, 3] = 255
    kept = pixels(decode_image(ImageFile(file(Image.fromarray(clear)))))
    assert kept.shape == (40, 60, 3)
    assert (kept[:, :30] == 255).all()
    assert (kept[:, 30:] == PIXELS[:, 30:]).all()


def test_sixteen_bits_become_eight():
    deep = (np.arange(2400, dtype=np.uint16) * 27).reshape(40, 60)
    kept = pixels(decode_image(ImageFile(file(Image.fromarray(deep)))))
    assert kept.dtype == np.uint8
    assert (kept[..., 0] == deep >> 8).all()


def test_a_palette_with_a_clear_colour_is_opaque_afterwards():
    image = Image.fromarray(PIXELS).quantize(8)
    kept = pixels(decode_image(ImageFile(file(image, transparency=0))))
    assert (kept[np.asarray(image) == 0] == 255).all()


def wide_png(width, height, packed=b""):
    def chunk(name, data):
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "claimed", "says"),
    [
        (b"not an image", None, "no image"),
        (b"", "image/png", "no image"),
        (file(Image.fromarray(PIXELS))[:-30], "image/png", "cannot be decoded whole"),
        (file(Image.fromarray(PIXELS), "JPEG")[:-200], "image/jpeg", "cannot be decoded whole"),
        (file(Image.fromarray(PIXELS), "JPEG"), "image/png", "came as image/png but is JPEG"),
        (file(Image.fromarray(PIXELS), "BMP"), "image/bmp", "no image"),
        (wide_png(30_000, 100), "image/png", "30000 × 100 px"),
        (wide_png(8_000, 8_000), "image/png", "30 megapixels"),
        (wide_png(0, 4, zlib.compress(bytes(4))), "image/png", "no image"),
        (wide_png(2_000_000, 2_000_000), "image/png", "30 megapixels"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "no image"),
    ],
)
def test_what_is_not_an_image_of_a_sane_size_is_refused(data, claimed, says):
    with pytest.raises(BadImage, match=says):
        decode_image(ImageFile(data, claimed))


def test_what_its_decoder_stumbles_over_is_refused():
    """A width in words in the EXIF data, which Pillow reads, and fails to write again."""
    entries = struct.pack("<HHHI4s", 2, 0x0100, 2, 4, b"six\0")
    entries += struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0)
    exif = b"Exif\0\0" + struct.pack("<2sHI", b"II", 42, 8) + entries + bytes(4)
    data = file(Image.fromarray(PIXELS), "JPEG", exif=exif)
    with pytest.raises(BadImage, match="cannot be decoded whole"):
        decode_image(ImageFile(data, "image/jpeg"))


def test_an_animation_is_refused():
    frames = [Image.fromarray(np.roll(PIXELS, shift, 0)) for shift in range(3)]
    data = file(frames[0], "WEBP", save_all=True, append_images=frames[1:])
    with pytest.raises(BadImage, match="animated"):
        decode_image(ImageFile(data, "image/webp"))


def test_two_at_once_leave_no_filter_of_warnings_behind(monkeypatch):
    """The first waits a moment for the other to come in, which then stays until it is over."""
    came, over, opened, first = Event(), Event(), Image.open, Lock()

    def meeting(*file, **options):
        if first.acquire(blocking=False):
            came.wait(0.3)
        else:
            came.set()
            over.wait(60)
        return opened(*file, **options)

    monkeypatch.setattr(Image, "open", meeting)
    picture, before = (
        ImageFile(file(Image.fromarray(PIXELS), "JPEG"), "image/jpeg"),
        warnings.filters,
    )
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(decode_image, picture) for _ in range(2)]
        wait(both, return_when=FIRST_COMPLETED)
        over.set()
        assert both[0].result() == both[1].result()
    assert warnings.filters is before
