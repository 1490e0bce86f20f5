#!/usr/bin/python3
"""Writes the benchmark models: common architectures at real sizes, random weights from a fixed seed.

    bench/generate_models.py [--out FOLDER] [NAME...]      default: every model, into bench/cache/models
    bench/generate_models.py --list

Weights are scaled so that activations keep a sensible size through the whole network. A file that exists is kept.
Names marked "on demand" are written only when named: they are large.
"""
import argparse
import pathlib
import sys

from model_parts import builder
from model_parts import convnets, kernels, quantized, recurrent, transformers

MODELS = {**convnets.MODELS, **transformers.MODELS, **recurrent.MODELS, **quantized.MODELS, **kernels.MODELS}
CACHE = pathlib.Path(__file__).resolve().parent / "cache" / "models"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to write")
    parser.add_argument("--out", type=pathlib.Path, default=CACHE, help="folder to write to (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="list the names and stop")
    parser.add_argument("--force", action="store_true", help="write files that exist again")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in MODELS]
    if unknown:
        parser.error(f"no model is called {', '.join(unknown)}; --list shows the names")
    return chosen


def main():
    chosen = arguments()
    if chosen.list:
        for name, (make, on_demand) in MODELS.items():
            print(f"{name:18s} {make.__doc__}{' (on demand)' if on_demand else ''}")
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.names or [name for name, (_, on_demand) in MODELS.items() if not on_demand]:
        path = chosen.out / f"{name}.onnx"
        if path.exists() and not chosen.force:
            print(f"{path}: kept", file=sys.stderr)
            continue
        size = builder.save(MODELS[name][0](), name, path)
        print(f"{path}: {size / 1e6:.1f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
