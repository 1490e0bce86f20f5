#!/usr/bin/python3
"""The kernels that the build made to PTX are machine code for NVIDIA's assembler: ptx_test.py TABLE PTXAS. Puts values in
for the constants of TABLE's texts (ready_texts.cc), as the library does, and assembles each for GPUs that run it, which
needs no GPU; registers that are spilled are held within limits. Exits 77, which skips the test, where there is no PTXAS (tests/gpu/cuda/fetch_nvrtc gets
it) or the build had no clang."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(sys.argv[1])
NEWEST = 90  # GPU; each text is assembled for the first that runs it too
MOST_SPILLED = 8  # bytes a thread
VALUES = [{}, {"FOLDED": 1, "HALF": 1, "A_HALF": 1, "BYTES": 8, "LONG": 1, "BIAS": 1, "STEP0": 22, "STEP1": 5}]


def texts():
    """Of each text its file, the GPU that it needs and the constants that are fixed in it."""
    row = r'{"(\w+)", (\d+), "([^"]*)", kPtx_(\w+)}'
    found = re.findall(row, TABLE.read_text()) if TABLE.is_file() else []
    for _, needed, fixed, name in found:
        yield TABLE.parent / "ptx" / f"{name}.ptx", int(needed), dict(re.findall(r"(\w+)=(\w+)", fixed))


def filled(ptx, values):
    """The text as the library gives it to the driver."""
    values = {"WGX": 64, "WGY": 1, "FOLDED": 0, **values}
    ptx = re.sub(r"<([A-Z]\w*)>", lambda hole: str(values.get(hole.group(1), 1)), ptx)
    bound = f".maxntid {values['WGX']}, {values['WGY']}, 1\n.minnctapersm 1\n"
    return re.sub(r"(\.entry [^{]*\n)\{", rf"\1{bound}{{", ptx, count=1)


class Ptx(unittest.TestCase):
    def complaint(self, path, machine, values):
        """Empty where the text assembles for the machine."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / path.name
            source.write_text(filled(path.read_text(), values))
            done = subprocess.run(
                [sys.argv[2], "-v", f"-arch=sm_{machine}", str(source), "-o", str(source.with_suffix(".cubin"))],
                capture_output=True, text=True, check=False)
        spilled = [int(bytes) for bytes in re.findall(r"(\d+) bytes spill stores", done.stderr)]
        if done.returncode == 0 and spilled and max(spilled) <= MOST_SPILLED:
            return ""
        return f"{path.name} for sm_{machine} with {values}: {done.stderr}"

    def test_every_text_assembles(self):
        cases = []
        for path, needed, fixed in texts():
            for machine in {needed, NEWEST}:
                cases += [(path, machine, {**values, **fixed}) for values in VALUES]
        self.assertGreater(len(cases), 200)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda case: self.complaint(*case), cases))
        self.assertFalse(any(found), "\n" + "\n".join(text for text in found if text))

    def test_a_text_that_is_wrong_is_told(self):
        path = TABLE.parent / "ptx" / "copy_0.ptx"
        self.assertEqual(self.complaint(path, 80, {}), "")
        self.assertIn("WRONG", self.complaint(path, 80, {"BYTES": "WRONG"}))


if __name__ == "__main__":
    if not pathlib.Path(sys.argv[2]).is_file() or not any(texts()):
        print(f"skipped: {sys.argv[2]} (tests/gpu/cuda/fetch_nvrtc gets it from PyPI) or PTX in {TABLE} is not there")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
