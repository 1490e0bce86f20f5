"""rapidocr reads the lines of a picture."""
import cv2
import numpy as np
from rapidocr import RapidOCR

LINES = ("Wheels and paths 2026", "seventeen grey herons", "ISBN 978-3-16-148410-0", "turn left, then right")
# The networks compute in fp32; a probability or a corner differs by the order of sums.
TOLERANCES = {"boxes": {"atol": 1.0}, "scores": {"atol": 2e-4}}


def picture():
    """A page with the lines; one of them is upside down, for the classifier of directions."""
    page = np.full((440, 720, 3), 250, np.uint8)
    for i, line in enumerate(LINES):
        strip = np.full((70, 680, 3), 250, np.uint8)
        cv2.putText(strip, line, (10, 48), cv2.FONT_HERSHEY_DUPLEX, 1.4, (20, 20, 40), 2, cv2.LINE_AA)
        page[20 + 100 * i:90 + 100 * i, 20:700] = strip[::-1, ::-1] if i == 2 else strip
    return page


def results():
    read = RapidOCR(params={"Global.log_level": "error"})(picture())
    return {"texts": list(read.txts), "boxes": np.array(read.boxes), "scores": np.array(read.scores)}


def check(found):
    """The texts are those of the picture, so that both libraries cannot be wrong alike."""
    assert [text.replace(" ", "") for text in found["texts"]] == [line.replace(" ", "") for line in LINES], found["texts"]
