"""What the tests of the Python package share: the models that they run, and how they are started."""
import os
import pathlib
import unittest
import warnings

import numpy as np

MODELS = pathlib.Path(os.environ["ORTOLAN_TEST_MODELS"])
DIGITS = pathlib.Path(os.environ["ORTOLAN_TEST_DIGITS"])
EXAMPLE_PROVIDER = pathlib.Path(os.environ["ORTOLAN_TEST_PLUGINS"]) / "libonnxruntime_ep_example.so"


def model(name):
    """The path of a model as text."""
    return str(MODELS / f"{name}.onnx")


def floats(*numbers):
    """A float array."""
    return np.array(numbers, np.float32)


def main():
    """Runs the tests of the file; warnings that no test expects are failures."""
    warnings.simplefilter("error")
    unittest.main()
