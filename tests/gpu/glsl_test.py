#!/usr/bin/python3
"""Every kernel text is GLSL too, but for those of matrix units: glsl_test.py REPOSITORY MATRIX_TYPES. Compiles each to
SPIR-V for both widths and validates it; the program MATRIX_TYPES completes those whose units take matrices whole."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KERNELS = pathlib.Path(sys.argv[1]).resolve() / "providers" / "gpu" / "kernels"
SWITCHES = ["-DK_INT64=1", "-DK_SMALL_TYPES=1", "-DK_HALF_ARITHMETIC=1"]


def expanded(path, seen):
    """The text with each part that it includes in its place, once."""

    def part(match):
        name = match.group(1)
        if name in seen:
            return ""
        seen.add(name)
        return expanded(KERNELS / name, seen)

    return re.sub(r'#include "(\w+\.k)"\n', part, path.read_text())


def complaints(name, width, has_matrices=False):
    """What the compiler or the validator says of a kernel; empty where it is right."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "kernel.comp", pathlib.Path(folder) / "kernel.spv"
        dialect = (KERNELS / "dialect" / "glsl.dialect").read_text()
        source.write_text(dialect + expanded(KERNELS / f"{name}.k", set()))
        switches = [f"-DK_VW={width}", *SWITCHES, *(["-DK_UNIT_MATRICES=1"] if has_matrices else [])]
        for command in (
                ["glslangValidator", "-V", "--target-env", "vulkan1.1", *switches, source, "-o", binary],
                *([[sys.argv[2], binary, binary]] if has_matrices else []),
                ["spirv-val", "--target-env", "vulkan1.1", binary]):
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                return f"{name}.k, K_VW {width}: {result.stdout}{result.stderr}"
    return ""


class Glsl(unittest.TestCase):
    def test_every_kernel_compiles_and_is_valid(self):
        texts = {path.stem: path.read_text() for path in sorted(KERNELS.glob("*.k"))}
        kernels = {name: text for name, text in texts.items() if re.search(r"^K_KERNEL\(", text, re.M)}
        names = [name for name, text in kernels.items() if not re.search("K_UNIT_MULTIPLY|K_MATRIX_MULTIPLY", text)]
        self.assertGreater(len(names), 20)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(complaints, [n for n in names for _ in (1, 4)], [1, 4] * len(names)))
        self.assertEqual([text for text in found if text], [])

    def test_matrices_are_completed_and_valid(self):
        found = complaints("product_cooperative", 4, has_matrices=True)
        if "Invalid capability operand: 6022" in found:
            self.skipTest("spirv-val is older than SPV_KHR_cooperative_matrix")
        self.assertEqual(found, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
