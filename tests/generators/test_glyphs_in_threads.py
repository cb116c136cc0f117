"""Letters are written from several threads at once: the font is unpacked while it is read."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from generators import glyphs


def test_threads_that_begin_together_write_what_one_alone_does():
    texts = [f"penguin {number}" for number in range(8)]

    def write(text):
        begin.wait()
        return glyphs.outline(text, x=0, y=0, height=10), glyphs.ink_box(text)

    begin = Barrier(1)
    alone = [write(text) for text in texts]
    begin = Barrier(len(texts))
    for _ in range(3):
        for unpacked in (glyphs._font, glyphs._glyph_name, glyphs._ink):
            unpacked.cache_clear()
        with ThreadPoolExecutor(len(texts)) as threads:
            assert list(threads.map(write, texts)) == alone
