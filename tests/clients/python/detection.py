"""nudenet's detector: what it finds in a picture of nobody, and all the numbers that its network gives."""
import cv2
import numpy as np
from nudenet import NudeDetector

SIZE = 320
# The network is fp32; its boxes are in pixels, up to 320.
TOLERANCES = {"network": {"atol": 5e-3}, "batch": {"atol": 5e-3}}


def picture(seed):
    """Ellipses in skin colours on a sky."""
    random = np.random.default_rng(seed)
    image = np.full((SIZE, SIZE, 3), (200, 160, 120), np.uint8)
    for _ in range(12):
        centre, axes = random.integers(40, 280, 2).tolist(), random.integers(10, 70, 2).tolist()
        colour = (random.integers(60, 140, 3) + (40, 70, 110)).tolist()
        cv2.ellipse(image, centre, axes, int(random.integers(0, 180)), 0, 360, colour, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(image, (5, 5), 0)


def results():
    detector = NudeDetector()
    network, name = detector.onnx_session, detector.input_name
    blob = cv2.dnn.blobFromImages([picture(seed) for seed in (3, 4)], 1 / 255, (SIZE, SIZE), swapRB=True)
    alone, = network.run(None, {name: blob[:1]})
    batch, = network.run(None, {name: blob})
    found = detector.detect(picture(3))
    return {"found": [one["class"] for one in found], "network": alone, "batch": batch}


def check(found):
    assert found["network"].shape == (1, 22, 2100) and found["batch"].shape == (2, 22, 2100), found["batch"].shape
    assert found["network"][0, 4:].max() <= 1 and found["network"][0, :4].max() > SIZE / 2
