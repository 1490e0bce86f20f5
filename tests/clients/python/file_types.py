"""magika tells what is in files."""
import json
import zlib

import numpy as np
from magika import Magika

FILES = {
    "python": b"import os\n\n\ndef main():\n    for name in os.listdir('.'):\n        print(name)\n\n\nif __name__ == '__main__':\n"
              b"    main()\n",
    "c": b"#include <stdio.h>\n\nint main(int argc, char** argv) {\n  printf(\"%d arguments\\n\", argc);\n  return 0;\n}\n" * 3,
    "json": json.dumps({"name": "heron", "legs": 2, "places": ["lake", "river"], "sizes": {"wing": 1.75}}, indent=2).encode(),
    "html": b"<!DOCTYPE html>\n<html><head><title>Herons</title></head>\n<body><h1>Herons</h1><p>They wait.</p></body></html>\n",
    "gzip": zlib.compress(bytes(range(256)) * 8, 9, 31),
    "xml": b"<?xml version='1.0'?>\n<birds>\n  <bird legs='2'>heron</bird>\n  <bird legs='2'>stork</bird>\n</birds>\n",
}
# Probabilities of an fp32 network; the official tanh is an approximation that shows here, whatever kernels run on our side.
TOLERANCES = {"scores": {"atol": 1e-4}}


def results():
    found = [Magika().identify_bytes(content) for content in FILES.values()]
    return {"labels": [str(one.output.label) for one in found], "scores": np.array([one.score for one in found])}


def check(found):
    assert found["labels"] == list(FILES), found["labels"]
