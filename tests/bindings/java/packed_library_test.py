#!/usr/bin/python3
"""The jar that carries the native libraries: packed_library_test.py JAVA JAR INSTALLED_JAR CLASSES.

CLASSES has the programs Shortest, of the project's page, and TwoLoaders; they run in the project's folder.
"""
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

JAVA, JAR, INSTALLED_JAR, CLASSES = sys.argv[1:]
with zipfile.ZipFile(JAR) as packed:
    LIBRARIES = sorted(name.rpartition("/")[2] for name in packed.namelist() if re.search(r"native/.*\.so[.0-9]*$", name))
OPENS_REGEX = """
import ctypes, sys
ctypes.CDLL(sys.argv[1] + "/libortolan_regex.so").ortolan_get_regex
print({line.split()[-1].rpartition("/")[0] for line in open("/proc/self/maps") if "libre2" in line})
"""


class PackedLibrary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        self.places = self.cache / "ortolan/native"

    def start(self, *options, jar=JAR, program=("Shortest",), cache=None):
        variables = {**os.environ, "XDG_CACHE_HOME": str(cache or self.cache)}
        variables.pop("LD_LIBRARY_PATH", None)
        return subprocess.Popen([JAVA, *options, "-cp", f"{jar}:{CLASSES}", *program], env=variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_program(self, *options, **how):
        process = self.start(*options, **how)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def expect_digits(self, *options, **how):
        status, out, err = self.run_program(*options, **how)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"(?m)^3: 0\.361$")

    def expect_refusal(self, text, *options, **how):
        status, out, err = self.run_program(*options, **how)
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, text)
        self.assertIn("-Dortolan.native.path", err)

    def unpacked(self, places=None):
        """The one folder of unpacked files."""
        folder, = (places or self.places).iterdir()
        return folder

    def expect_whole(self, folder):
        self.assertEqual(sorted(path.name for path in folder.iterdir()), LIBRARIES)
        with zipfile.ZipFile(JAR) as jar:
            for name in LIBRARIES:
                inside, = (entry for entry in jar.namelist() if entry.endswith("/" + name))
                self.assertEqual(hashlib.sha256((folder / name).read_bytes()).digest(),
                                 hashlib.sha256(jar.read(inside)).digest())

    def test_is_unpacked_once(self):
        self.expect_digits()
        folder = self.unpacked()
        self.expect_whole(folder)
        for path in (self.places, folder):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)
        before = [(folder / name).stat() for name in LIBRARIES]
        self.expect_digits()
        self.assertEqual(self.unpacked(), folder)
        self.assertEqual([(s.st_ino, s.st_mtime_ns) for s in before],
                         [(s.st_ino, s.st_mtime_ns) for s in map(os.stat, map(folder.joinpath, LIBRARIES))])

    def test_holds_the_library_first_and_modules_behind_it(self):
        self.assertEqual(LIBRARIES[:2], ["libortolan.so.1", "libortolan_java.so"])

    @unittest.skipUnless("libortolan_regex.so" in LIBRARIES, "built without libre2-dev")
    def test_regular_expressions_need_nothing_else(self):
        self.expect_digits()
        folder = str(self.unpacked())
        done = subprocess.run([sys.executable, "-c", OPENS_REGEX, folder], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{{'{folder}'}}\n")

    def test_as_a_module(self):
        variables = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        done = subprocess.run([JAVA, "-p", JAR, "--add-modules", "org.ortolan", "-cp", CLASSES, "Shortest"], env=variables,
                              capture_output=True, text=True, check=True)
        self.assertIn("3: 0.361\n", done.stdout)

    def test_carried_libraries_find_each_other_and_are_stripped(self):
        self.expect_digits()
        shown = subprocess.run(["readelf", "-d", self.unpacked() / LIBRARIES[1]], capture_output=True, text=True, check=True)
        paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", shown.stdout)
        self.assertIn(paths, ([], ["$ORIGIN"]))  # a distribution's build has none
        for name in LIBRARIES:
            shown = subprocess.run(["readelf", "-SW", self.unpacked() / name], capture_output=True, text=True, check=True)
            self.assertNotIn(".symtab", shown.stdout)

    def test_installed_jar_carries_none(self):
        self.assertFalse([name for name in zipfile.ZipFile(INSTALLED_JAR).namelist() if "native/" in name])

    def test_several_processes_at_once(self):
        processes = [self.start() for _ in range(4)]
        for process in processes:
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("3: 0.361\n", out)
        self.expect_whole(self.unpacked())

    def test_damaged_copies_are_replaced(self):
        self.expect_digits()
        folder = self.unpacked()
        whole = (folder / LIBRARIES[0]).read_bytes()
        for damaged in (whole[:1 << 20], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
            (folder / LIBRARIES[0]).write_bytes(damaged)
            (folder / LIBRARIES[1]).unlink()
            self.expect_digits()
            self.expect_whole(folder)

    def test_links_are_not_followed(self):
        self.expect_digits()
        library, elsewhere = self.unpacked() / LIBRARIES[0], self.folder / "elsewhere"
        library.rename(elsewhere)
        library.symlink_to(elsewhere)
        self.expect_digits()
        self.assertFalse(library.is_symlink())

    def test_temporary_folder_where_there_is_no_cache(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        self.expect_digits(f"-Djava.io.tmpdir={temporary}", cache="/proc/none")
        self.expect_whole(self.unpacked(temporary / f"ortolan-{os.getuid()}"))

    def test_given_cache(self):
        self.expect_digits(f"-Dortolan.native.cache={self.folder / 'given'}")
        self.expect_whole(self.unpacked(self.folder / "given"))
        self.assertFalse(self.cache.exists())

    def test_nowhere_to_write(self):
        self.expect_refusal(r"cannot load libortolan_java\.so from the jar: /proc/none/ortolan/native will not do .*; "
                            r"/proc/ortolan-\d+ will not do .*set -Dortolan\.native\.cache to a folder",
                            "-Djava.io.tmpdir=/proc", cache="/proc/none")

    def test_folder_that_others_may_write(self):
        self.places.mkdir(parents=True)
        self.places.chmod(0o777)
        self.expect_refusal(f"{self.places} will not do .*others may write there", "-Djava.io.tmpdir=/proc")
        self.assertEqual([list(path.iterdir()) for path in self.places.iterdir()], [[]])

    def test_other_architecture(self):
        self.expect_refusal(r"libortolan_java\.so is neither in the jar, which has none for linux-sparc, nor in java\.library",
                            "-Dos.arch=sparc", f"-Djava.library.path={self.folder}")

    def test_damaged_jar(self):
        jar = self.folder / "damaged.jar"
        with zipfile.ZipFile(JAR) as whole, zipfile.ZipFile(jar, "w") as damaged:
            for name in whole.namelist():
                content = whole.read(name)
                damaged.writestr(name, content[:-1] + b"x" if name.endswith(LIBRARIES[0]) else content)
        self.expect_refusal(r"libortolan\.so\.1: has another content than sha256sums of the jar says", jar=jar)
        self.assertEqual(list(self.unpacked().iterdir()), [])

    def test_two_class_loaders(self):
        status, out, err = self.run_program(program=("TwoLoaders", "tests/models/digits.onnx"))
        self.assertEqual((status, out), (0, "inputs: 1 1\n"), err)
        self.expect_whole(self.unpacked())


if __name__ == "__main__":
    if not shutil.which("readelf"):
        sys.exit("packed_library_test: readelf is missing")
    unittest.main(argv=sys.argv[:1])
