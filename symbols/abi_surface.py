#!/usr/bin/python3
"""The binary interface of libortolan.so.1 as libabigail sees it.

usage: symbols/abi_surface.py --describe OUTPUT.xml   describe the interface of this tree
       symbols/abi_surface.py --renew                 make it the baseline, symbols/abi_baseline.xml.xz

The interface is that of a library whose functions are the declarations of the public headers, with empty bodies, compiled
with debug information; the runtime's own sources would give the same types, and take minutes. That the real library
exports the same names is the test exported_names, that its functions have these parameters the compiler's business.
"""
import argparse
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
BASELINE = REPOSITORY / "symbols" / "abi_baseline.xml.xz"
LISTS = ("symbols/exports.txt", "providers/cpu/symbols.txt")
ABIDW = ("abidw", "--load-all-types", "--drop-undefined-syms", "--no-architecture", "--no-elf-needed", "--no-corpus-path",
         "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names", "--no-write-default-sizes")


def exported_names():
    lines = (line for path in LISTS for line in (REPOSITORY / path).read_text().splitlines())
    return [line.split()[0] for line in lines if re.match("[A-Za-z]", line)]


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise SystemExit(f"{command[0]}: {result.stderr}")
    return result.stdout


def surface(headers, names):
    """The text of the headers, with a body for each declaration of an exported function."""
    text = run("c++", "-std=c++20", "-E", "-P", "-x", "c++", "-I", headers, "-include", "ortolan.h", "-", input="")
    for name in names:
        declaration = rf"(\b{name}\s*\([^;{{}}]*?\)\s*noexcept\b)[^;{{}}]*;"
        text, count = re.subn(declaration, r"\1 { __builtin_trap(); }", text)
        if count != 1:
            raise SystemExit(f"{name}: the headers declare it {count} times")
    return text


def describe(output, headers=REPOSITORY / "include_c", names=None):
    """Writes the description of the interface that the headers in a folder declare."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder, "surface.cc"), pathlib.Path(folder, "libortolan.so.1")
        source.write_text(surface(headers, names or exported_names()))
        run("c++", "-std=c++20", "-g", "-w", "-fPIC", "-shared", "-nostdlib", "-Wl,-soname,libortolan.so.1", source, "-o",
            library)
        run(*ABIDW, "--out-file", output, library)


def renew():
    with tempfile.TemporaryDirectory() as folder:
        described = pathlib.Path(folder, "abi.xml")
        describe(described)
        BASELINE.write_bytes(lzma.compress(described.read_bytes(), preset=9))
    print(f"{BASELINE.relative_to(REPOSITORY)}: {len(exported_names())} functions")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--describe", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    arguments = parser.parse_args()
    if arguments.describe:
        describe(arguments.describe)
    elif arguments.renew:
        renew()
    else:
        parser.error("say what to do")


if __name__ == "__main__":
    sys.exit(main())
