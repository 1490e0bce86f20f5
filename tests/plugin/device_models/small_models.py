#!/usr/bin/python3
"""Writes the benchmarks' architectures with all their operators, narrow and on small inputs: small_models.py FOLDER."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from model_parts import builder, convnets, transformers  # noqa: E402

transformers.WIDTH, transformers.HEADS, transformers.HEAD = 32, 2, 16
transformers.LAYERS, transformers.INNER = 2, 64
transformers.BERT_WORDS = transformers.GPT2_WORDS = 200
MODELS = {
    "resnet50": lambda: convnets.resnet50(side=64, thinner=16),
    "mobilenet_v2": lambda: convnets.mobilenet_v2(side=64, thinner=4),
    "yolo": lambda: convnets.yolo(side=64, thinner=8),
    "bert_base": transformers.bert_base,
    "gpt2": transformers.gpt2,
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        builder.save(make(), name, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
