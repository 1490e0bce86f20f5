#!/usr/bin/python3
"""Tests of Debian packages that were built for another processor: cross_test.py PACKAGES SOURCE ARCHITECTURE."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import unittest

PACKAGES, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
ARCHITECTURE = sys.argv[3]
MACHINES = {"arm64": 183}  # e_machine of ELF


def for_architecture(*command):
    environment = {**os.environ, "PATH": "/usr/bin:/bin", "DEB_BUILD_PROFILES": "cross nocheck"}
    command = ["dpkg-architecture", f"-a{ARCHITECTURE}", "-f", "-c", " ".join(command)]
    return subprocess.run(command, cwd=SOURCE, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def expression(pattern, triplet):
    """What dh_install takes for a pattern, all below a folder too, where libraries are of the triplet."""
    pattern = re.escape(pattern.replace("usr/lib/*/", f"usr/lib/{triplet}/"))
    return re.compile(pattern.replace(r"\*", "[^/]*") + "(/.*)?")


class Cross(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.triplet, = for_architecture("printenv", "DEB_HOST_MULTIARCH")
        cls.names = for_architecture("dh_listpackages")
        cls.files = {name: dict(files_of(name)) for name in cls.names}

    def test_languages_are_left_out(self):
        self.assertIn("libortolan1", self.names)
        made = {path.name.split("_")[0] for path in PACKAGES.glob("*.deb")}
        self.assertEqual({name for name in made if not name.endswith("-dbgsym")}, set(self.names))

    def test_packages_hold_what_their_lists_name(self):
        for name in self.names:
            for pattern in (SOURCE / "debian" / f"{name}.install").read_text().split():
                taken = expression(pattern, self.triplet)
                self.assertTrue(any(map(taken.fullmatch, self.files[name])), f"{name}: {pattern}")

    def test_code_is_for_the_processor(self):
        codes = [(path, start) for files in self.files.values() for path, start in files.items() if start[:4] == b"\x7fELF"]
        self.assertGreaterEqual(len(codes), len(self.names))
        for path, start in codes:
            self.assertEqual(int.from_bytes(start[18:20], "little"), MACHINES[ARCHITECTURE], path)


def files_of(package):
    """Path and first bytes of each file of a package."""
    deb, = PACKAGES.glob(f"{package}_*_{ARCHITECTURE}.deb")
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for member in archive:
                yield member.name.removeprefix("./"), archive.extractfile(member).read(20) if member.isfile() else b""


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
