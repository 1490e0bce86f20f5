"""Compares what onnxruntime-genai generates on two libraries, each in processes of its own:

    check.py PACKAGES MODELS [MODULE|LIBRARY]

PACKAGES is the folder that `client prepare genai` fills. MODULE is a folder with the module `onnxruntime` over ours, or
LIBRARY a file libonnxruntime.so.1, for which one is made up; without them the official library is compared with itself. Tokens must be the same, also for one and two threads."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# How far logits, of deviation 4, may be from the official library's. Where activations become bytes, a difference in
# the last bit of one moves it to the next byte now and then.
NEAR_FLOATS, NEAR_BYTES = 2e-5, 0.1


def module_of(packages, own):
    """A folder with a module `onnxruntime`: `own`, or one that brings that library, as the package has it."""
    if own.is_dir():
        return own
    folder = packages / "stand_in" / "onnxruntime" / "capi"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "__init__.py").touch()
    link = folder / "libonnxruntime.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(own)
    return folder.parent.parent


def generated(packages, models, module, threads):
    """What generate.py writes with the module `onnxruntime` of a folder."""
    result = packages / f"{module.name}_{threads}.json"
    result.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": f"{module}:{packages / 'packages'}"}
    command = [sys.executable, "-B", HERE / "generate.py", models, str(threads), result]
    done = subprocess.run(command, env=environment, check=False, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"generate.py on {module} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(result.read_text(encoding="utf-8"))


class Generation(unittest.TestCase):
    packages = models = own = None

    @classmethod
    def setUpClass(cls):
        official = cls.packages / "official"
        cls.module = module_of(cls.packages, cls.own) if cls.own else official
        cls.expected = generated(cls.packages, cls.models, official, 1)
        cls.found = {threads: generated(cls.packages, cls.models, cls.module, threads) for threads in (1, 2)}

    def test_library(self):
        official = self.packages / "official"
        for run in self.found.values():
            files = [pathlib.Path(file).resolve() for file in run["libraries"]]
            self.assertEqual([official in file.parents for file in files], [self.own is None] * len(files))
            brought, = (self.module / "onnxruntime" / "capi").glob("libonnxruntime.so*")
            self.assertIn(brought.resolve(), files)

    def test_tokens(self):
        for name, expected in self.expected["models"].items():
            for case, tokens in expected.items():
                if case == "logits":
                    continue
                for threads, run in self.found.items():
                    with self.subTest(model=name, case=case, threads=threads):
                        self.compare(tokens, run["models"][name][case])

    def compare(self, expected, found):
        if isinstance(expected, list):
            self.assertEqual(expected, found)
        else:  # what the package cannot do; the words are the libraries' own
            self.assertIsInstance(found, str, f"only the official library fails: {expected}")

    def test_logits(self):
        for name, expected in self.expected["models"].items():
            near = NEAR_BYTES if name.endswith("bytes") else NEAR_FLOATS
            for case in ("whole", "pieces"):
                one, two = (np.array(self.found[threads]["models"][name]["logits"][case]) for threads in (1, 2))
                with self.subTest(model=name, case=case):
                    np.testing.assert_array_equal(one, two)
                    np.testing.assert_allclose(one, expected["logits"][case], rtol=0, atol=near)

    def test_words_differ(self):
        """Cases compare something: sequences are neither one word again and again nor the same in all models."""
        seen = set()
        for name, cases in self.expected["models"].items():
            new = cases["greedy"][0][7:]
            self.assertGreater(len(set(new)), 5, name)
            seen.add(tuple(new))
        self.assertEqual(len(seen), len(self.expected["models"]))


def main():
    Generation.packages, Generation.models = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])
    Generation.own = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
