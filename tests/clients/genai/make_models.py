#!/usr/bin/python3
"""Writes small language models of every layout that the tests run into a folder: make_models.py FOLDER."""
import pathlib
import sys

from decoder import Gpt2, Llama, Sizes

MODELS = {
    "gpt2": lambda folder: Gpt2(folder, Sizes(bits=32)),
    "gpt2_4bit_bytes": lambda folder: Gpt2(folder, Sizes(accuracy=4)),
    "llama": lambda folder: Llama(folder, Sizes(bits=32)),
    "llama_rounded": lambda folder: Llama(folder, Sizes(bits=32, rounded=True, seed=4)),
    "llama_4bit": lambda folder: Llama(folder, Sizes(zeros=True)),
    "llama_4bit_bytes": lambda folder: Llama(folder, Sizes(accuracy=4, packed=True)),
    "llama_rotary_node_bytes": lambda folder: Llama(folder, Sizes(accuracy=4, rotary_node=True, zeros=True, seed=2)),
    "llama_moving": lambda folder: Llama(folder, Sizes(packed=True, seed=3), shared=False),
}


def main():
    for name, make in MODELS.items():
        make(pathlib.Path(sys.argv[1]) / name)


if __name__ == "__main__":
    main()
