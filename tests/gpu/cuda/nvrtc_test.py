#!/usr/bin/python3
"""Every kernel text is CUDA C++ too: nvrtc_test.py REPOSITORY LIBRARY. Compiles each with NVIDIA's real compiler for both
widths and all GPUs that are supported, which needs no GPU, and holds registers and spilled bytes of machine code within
limits. Exits 77, which skips the test, where LIBRARY is not there: tests/gpu/cuda/fetch_nvrtc gets it."""
import concurrent.futures
import ctypes
import pathlib
import re
import sys
import unittest

FOLDER = pathlib.Path(sys.argv[1]).resolve() / "providers"
KERNELS = FOLDER / "gpu" / "kernels"
TARGETS = ["compute_70", "compute_75", "compute_80", "compute_86", "compute_89", "compute_90"]
MACHINES = ["sm_70", "sm_80", "sm_90"]
MOST_SPILLED = 8  # bytes a thread
FIRST_WITH_UNITS = {"K_UNIT_MULTIPLY_BYTES": 80, "K_UNIT_MULTIPLY": 75, "K_MATRIX_MULTIPLY": 1000}  # the last: none
UNIT_TILE = {"WGX": 32, "WGY": 8, "DOWN": 2, "TM": 4, "TN": 4, "BK": 16}  # the largest
UNIT_HALVES = {"HALF": 1, "A_HALF": 1, "B_HALF": 1}
UNIT_PRODUCTS = [
    {**UNIT_TILE, **UNIT_HALVES},
    {**UNIT_TILE, **UNIT_HALVES, "A_QUADS": 1, "B_QUADS": 1, "ADDEND": 1, "RESIDUAL": 1, "STEP0": 22},
    {**UNIT_TILE, **UNIT_HALVES, "A_LINES": 1, "B_LINES": 0, "A_QUADS": 1, "B_QUADS": 1, "BK": 32},
    {**UNIT_TILE, **UNIT_HALVES, "A_QUADS": 1, "B_FORM": 2, "GRID": 1},
    {**UNIT_TILE, "FACTORS": 1, "A_QUADS": 1, "B_QUADS": 1},
    {**UNIT_TILE, "FACTORS": 1, "B_FORM": 2, "GRID": 1},
    {**UNIT_TILE, "FACTORS": 3, "A_QUADS": 1, "B_QUADS": 1},
    {**UNIT_TILE, "FACTORS": 3, "A_LINES": 1, "B_LINES": 0, "A_QUADS": 1, "B_QUADS": 1},
]


def expanded(path, seen):
    """The text with each part that it includes in its place, once."""

    def part(match):
        if match.group(1) in seen:
            return ""
        seen.add(match.group(1))
        return expanded(KERNELS / match.group(1), seen)

    return re.sub(r'#include "(\w+\.k)"\n', part, path.read_text())


def constants_of(text, given):
    """The -D options for a text with the values given or its own, and a group as kernels have them."""
    declared = re.findall(r"^[ \t]*K_CONST\(\s*\d+\s*,\s*(\w+)\s*,\s*(-?\w+)\s*\)", text, re.M)
    values = {"WGX": "64", "WGY": "1", "FOLDED": "0", **dict(declared), **given}
    return [f"-D{name}={value}" for name, value in values.items()]


class Compiler:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def compile(self, name, text, options):
        """Whether it compiles, what the compiler says, and the PTX."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        self.library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        code = self.library.nvrtcCompileProgram(program, len(options), given)
        self.library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.library.nvrtcGetProgramLog(program, log)
        self.library.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value + 1)
        self.library.nvrtcGetPTX(program, ptx)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return code == 0, log.value.decode(), ptx.value.decode()


def runs_on(text, option):
    """Whether the text is for that GPU: what needs matrix units is not for those without."""
    needed = next((first for word, first in FIRST_WITH_UNITS.items() if f"{word}(" in text), 0)
    return int(option[0].rpartition("_")[2]) >= needed


def kernels():
    for path in sorted(KERNELS.glob("*.k")):
        if re.search(r"^K_KERNEL\(", path.read_text(), re.M):
            yield path.name, expanded(path, set())


class Nvrtc(unittest.TestCase):
    def setUp(self):
        self.dialect = (KERNELS / "dialect" / "cuda.dialect").read_text()
        self.compiler = Compiler(sys.argv[2])

    def complaint(self, name, text, options, constants=None, instruction=""):
        """Empty where the text compiles for that without a word, but for those on its registers, and its PTX has the
        instruction."""
        source = f'{self.dialect}#line 1 "{name}"\n{text}'
        given = constants_of(text, constants or {})
        compiles, log, ptx = self.compiler.compile(name, source, ["-std=c++17", *options, *given])
        warnings = [line for line in re.findall(r".*(?:warning|error).*", log) if "Architectures prior to" not in line]
        spilled = [int(bytes) for bytes in re.findall(r"(\d+) bytes spill stores", log)]
        if compiles and not warnings and max(spilled, default=0) <= MOST_SPILLED and instruction in ptx:
            return ""
        return f"{name} {' '.join(options)} {constants or ''}: {log}"

    def test_every_kernel_compiles_for_every_gpu(self):
        options = [[f"-arch={target}", f"-DK_VW={width}"] for target in TARGETS for width in (1, 4)]
        options += [[f"-arch={target}", "-DK_VW=4", "--ptxas-options=-v"] for target in MACHINES]
        options += [["-arch=compute_70", "-DK_VW=4", "-UFOLDED", "-DFOLDED=1"]]
        cases = [(name, text, option) for name, text in kernels() for option in options if runs_on(text, option)]
        self.assertGreater(len(cases), 20 * len(options))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda case: self.complaint(*case), cases))
        self.assertFalse(any(found), "\n" + "\n".join(text for text in found if text))

    def test_products_use_the_matrix_units(self):
        name, text = "product_matrix_units.k", expanded(KERNELS / "product_matrix_units.k", set())
        for machine in ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90"):
            for constants in UNIT_PRODUCTS:
                factors = {1: "tf32.tf32", 3: "bf16.bf16"}.get(constants.get("FACTORS"), "f16.f16")
                if factors == "f16.f16" or machine != "sm_75":
                    depth = {"sm_75": "8"}.get(machine, "8" if factors == "tf32.tf32" else "16")
                    instruction = f"mma.sync.aligned.m16n8k{depth}.row.col.f32.{factors}.f32"
                    option = [f"-arch={machine}", "-DK_VW=4", "--ptxas-options=-v"]
                    self.assertEqual(self.complaint(name, text, option, constants, instruction), "")

    def test_products_of_integers_use_the_matrix_units(self):
        name, text = "product_integer_units.k", expanded(KERNELS / "product_integer_units.k", set())
        constants = {"WGX": 32, "WGY": 4, "DOWN": 2, "TM": 2, "TN": 4, "BK": 16}
        for machine in ("sm_80", "sm_90"):
            for forms in ({"A_SIGNED": 1, "B_SIGNED": 1, "A_WORDS": 1}, {"A_STEP": 1, "B_STEP": 1}):
                option = [f"-arch={machine}", "-DK_VW=4", "--ptxas-options=-v"]
                instruction = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
                self.assertEqual(self.complaint(name, text, option, {**constants, **forms}, instruction), "")

    def test_a_text_that_is_wrong_is_told(self):
        name, text = next(kernels())
        wrong = text.replace("K_MAIN", "K_MAIN int wrong = nothing;")
        self.assertIn("error", self.complaint(name, wrong, ["-arch=sm_80", "-DK_VW=4"]))


if __name__ == "__main__":
    if not pathlib.Path(sys.argv[2]).is_file():
        print(f"skipped: {sys.argv[2]} is not there; tests/gpu/cuda/fetch_nvrtc gets it from PyPI, as ./dev gpu does")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
