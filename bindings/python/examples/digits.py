#!/usr/bin/python3
"""Reads handwritten digits: digits.py MODEL PICTURE... prints each picture's file and the digit that it shows.

The pictures are plain PGM files of the size that the model wants; brighter is ink.
"""
import pathlib
import sys

import numpy as np
import ortolan as ort


def read_picture(path):
    """The ink of a plain PGM picture, 0..1, as an array [1, 1, height, width]."""
    words = [word for line in pathlib.Path(path).read_text("ascii").splitlines() for word in line.split("#")[0].split()]
    if words[:1] != ["P2"]:
        raise ValueError(f"{path}: not a plain PGM picture")
    width, height, brightest = map(int, words[1:4])
    return np.array(words[4:], np.float32).reshape(1, 1, height, width) / brightest


def main():
    """Classifies the pictures of the command line."""
    if len(sys.argv) < 3:
        sys.exit("usage: digits.py MODEL PICTURE...")
    session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
    image = session.get_inputs()[0].name
    for path in sys.argv[2:]:
        probabilities, = session.run(None, {image: read_picture(path)})
        print(f"{path}: {probabilities.argmax()}")


if __name__ == "__main__":
    main()
