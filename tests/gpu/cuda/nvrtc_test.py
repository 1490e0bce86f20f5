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


def expanded(path, seen):
    """The text with each part that it includes in its place, once."""

    def part(match):
        if match.group(1) in seen:
            return ""
        seen.add(match.group(1))
        return expanded(KERNELS / match.group(1), seen)

    return re.sub(r'#include "(\w+\.k)"\n', part, path.read_text())


def constants_of(text):
    """The -D options for a text with its own values, and a group as kernels have them."""
    declared = re.findall(r"^[ \t]*K_CONST\(\s*\d+\s*,\s*(\w+)\s*,\s*(-?\w+)\s*\)", text, re.M)
    values = {"WGX": "64", "WGY": "1", "FOLDED": "0", **dict(declared)}
    return [f"-D{name}={value}" for name, value in values.items()]


class Compiler:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def compile(self, name, text, options):
        """Whether it compiles, and what the compiler says."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        self.library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        code = self.library.nvrtcCompileProgram(program, len(options), given)
        self.library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.library.nvrtcGetProgramLog(program, log)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return code == 0, log.value.decode()


def kernels():
    for path in sorted(KERNELS.glob("*.k")):
        if re.search(r"^K_KERNEL\(", path.read_text(), re.M):
            yield path.name, expanded(path, set())


class Nvrtc(unittest.TestCase):
    def setUp(self):
        self.dialect = (KERNELS / "dialect" / "cuda.dialect").read_text()
        self.compiler = Compiler(sys.argv[2])

    def complaint(self, name, text, options):
        """Empty where the text compiles for that without a word, but for those on its registers."""
        source = f'{self.dialect}#line 1 "{name}"\n{text}'
        compiles, log = self.compiler.compile(name, source, ["-std=c++17", *options, *constants_of(text)])
        warnings = [line for line in re.findall(r".*(?:warning|error).*", log) if "Architectures prior to" not in line]
        spilled = [int(bytes) for bytes in re.findall(r"(\d+) bytes spill stores", log)]
        if compiles and not warnings and max(spilled, default=0) <= MOST_SPILLED:
            return ""
        return f"{name} {' '.join(options)}: {log}"

    def test_every_kernel_compiles_for_every_gpu(self):
        options = [[f"-arch={target}", f"-DK_VW={width}"] for target in TARGETS for width in (1, 4)]
        options += [[f"-arch={target}", "-DK_VW=4", "--ptxas-options=-v"] for target in MACHINES]
        options += [["-arch=compute_70", "-DK_VW=4", "-UFOLDED", "-DFOLDED=1"]]
        cases = [(name, text, option) for name, text in kernels() for option in options]
        self.assertGreater(len(cases), 20 * len(options))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda case: self.complaint(*case), cases))
        self.assertFalse(any(found), "\n" + "\n".join(text for text in found if text))

    def test_a_text_that_is_wrong_is_told(self):
        name, text = next(kernels())
        wrong = text.replace("K_MAIN", "K_MAIN int wrong = nothing;")
        self.assertIn("error", self.complaint(name, wrong, ["-arch=sm_80", "-DK_VW=4"]))


if __name__ == "__main__":
    if not pathlib.Path(sys.argv[2]).is_file():
        print(f"skipped: {sys.argv[2]} is not there; tests/gpu/cuda/fetch_nvrtc gets it from PyPI, as ./dev gpu does")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
