"""python -m ortolan_onnxruntime: the wheel that claims the name, and files of another package put into the module."""
import email
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import onnxruntime
import ortolan

PACKAGE = pathlib.Path(onnxruntime.__file__).parent
VERSION = f"{ortolan.__version__}+ortolan"


def command(*arguments, path=""):
    variables = {**os.environ, "PYTHONPATH": f"{path}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-B", "-m", "ortolan_onnxruntime", *map(str, arguments)], env=variables, cwd="/",
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Claims(InFolder):
    def wheel(self, *options):
        status, said, error = command("wheel", self.folder / "links", *options)
        self.assertEqual((status, error), (0, ""))
        path, advice = said.splitlines()
        return pathlib.Path(path), advice

    def test_the_wheel_holds_nothing_but_says_what_it_is(self):
        path, advice = self.wheel()
        self.assertEqual(path, self.folder / f"links/onnxruntime-{VERSION}-py3-none-any.whl")
        self.assertIn(f"onnxruntime=={VERSION}", advice)
        with zipfile.ZipFile(path) as wheel:
            inner = f"onnxruntime-{VERSION}.dist-info"
            self.assertEqual(sorted(wheel.namelist()), [f"{inner}/{name}" for name in ("METADATA", "RECORD", "WHEEL")])
            about = email.message_from_bytes(wheel.read(f"{inner}/METADATA"))
        self.assertEqual((about["Name"], about["Version"]), ("onnxruntime", VERSION))
        self.assertIn("ortolan-onnxruntime", about["Summary"])
        self.assertEqual(about["Requires-Dist"], f"ortolan-onnxruntime=={ortolan.__version__}")

    def test_another_version(self):
        self.assertIn("onnxruntime-1.32.0+ortolan-", self.wheel("--version", "1.32.0")[0].name)
        status, _, error = command("wheel", self.folder, "--version", "newest")
        self.assertEqual((status, error), (1, "ortolan_onnxruntime: 'newest' is not a version such as 1.31.0"))

    def test_another_package_must_go_first(self):
        about = self.folder / "onnxruntime-1.32.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: onnxruntime\nVersion: 1.32.0\n")
        status, _, error = command("claim", path=self.folder)
        self.assertEqual(status, 1)
        self.assertRegex(error, "^ortolan_onnxruntime: onnxruntime 1.32.0 is installed; .* pip uninstall -y onnxruntime && ")

    def test_whose_the_module_is(self):
        self.assertEqual(command("check"), (0, f"onnxruntime {ortolan.__version__} runs on ortolan", ""))
        other = self.folder / "onnxruntime"
        other.mkdir()
        (other / "__init__.py").write_text("class InferenceSession: pass\n")
        status, _, error = command("check", path=self.folder)
        self.assertEqual(status, 1)
        self.assertRegex(error, f"^ortolan_onnxruntime: the module onnxruntime in {other}/__init__.py is another package's; put ")

    def test_pip_installs_it(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
            self.skipTest("pip is missing; install the package python3-pip")
        path, _ = self.wheel()
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
                        self.folder / "site", path], check=True, capture_output=True)
        ask = "import importlib.metadata; print(importlib.metadata.version('onnxruntime'))"
        said = subprocess.run([sys.executable, "-c", ask], env={**os.environ, "PYTHONPATH": str(self.folder / "site")},
                              capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout.strip(), VERSION)


class Files(InFolder):
    """Of a made-up package, into a copy of the module."""

    def setUp(self):
        super().setUp()
        self.module = shutil.copytree(PACKAGE, self.folder / "site/onnxruntime")
        self.source = self.folder / "other/onnxruntime"
        for name, text in (("quantization/__init__.py", "from . import deep\nanswer = 42\n"), ("quantization/deep/__init__.py", ""),
                           ("quantization/deep/data.bin", "x"), ("tools/__init__.py", ""), ("__init__.py", "raise SystemExit(9)"),
                           ("transformers/__init__.py", "")):
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def added(self, source, *names):
        status, said, error = command("add", source, *names, path=self.folder / "site")
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(said, f"added to {self.module}")

    def test_from_a_folder(self):
        self.added(self.source.parent, "quantization")
        self.assertTrue((self.module / "quantization/deep/__init__.py").exists())
        self.assertFalse((self.module / "quantization/deep/data.bin").exists())
        self.assertFalse((self.module / "tools").exists())
        ask = "import onnxruntime.quantization as q, onnxruntime; print(q.answer, hasattr(onnxruntime, 'InferenceSession'))"
        said = subprocess.run([sys.executable, "-B", "-c", ask], cwd="/", capture_output=True, text=True, check=True, env={
            **os.environ, "PYTHONPATH": f"{self.folder / 'site'}:{os.environ.get('PYTHONPATH', '')}"})
        self.assertEqual(said.stdout.strip(), "42 True")

    def test_from_a_wheel(self):
        wheel = self.folder / "onnxruntime-1.32.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path in self.source.rglob("*.py"):
                archive.write(path, path.relative_to(self.source.parent))
        before = (self.module / "__init__.py").read_text()
        self.added(wheel)
        self.assertTrue(all((self.module / name / "__init__.py").exists() for name in ("quantization", "tools", "transformers")))
        self.assertEqual((self.module / "__init__.py").read_text(), before)

    def test_what_cannot_be_added(self):
        for arguments, pattern in (((self.source.parent, "capi"), "capi: only these can be added: quantization, tools"),
                                   ((self.folder,), f"there is no folder quantization in {self.folder}"),
                                   ((PACKAGE / "__init__.py",), "is neither a folder nor a wheel"),
                                   ((self.folder / "nowhere",), "is neither a folder nor a wheel")):
            status, _, error = command("add", *arguments, path=self.folder / "site")
            self.assertEqual(status, 1)
            self.assertRegex(error, f"^ortolan_onnxruntime: .*{pattern}")


if __name__ == "__main__":
    unittest.main()
