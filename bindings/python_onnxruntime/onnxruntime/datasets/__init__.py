"""Small models for examples: mul_1.onnx, sigmoid.onnx and logreg_iris.onnx."""
import os


def get_example(name):
    """The path of the model of that name; FileNotFoundError where there is none."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no example '{name}' in {os.path.dirname(path)}")
    return path
