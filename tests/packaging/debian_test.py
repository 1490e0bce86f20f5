#!/usr/bin/python3
"""Tests of packaging/debian against the build that it packs: debian_test.py BUILD REPOSITORY LIBDIR."""
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, REPOSITORY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LIBDIR = sys.argv[3]
DEBIAN = REPOSITORY / "packaging" / "debian"
# Every Debian machine that builds packages has these, or they only make builds faster.
IMPLIED = {"g++", "ccache"}


def paragraphs(path):
    """The paragraphs of a file in the format of debian/control, as dictionaries."""
    for text in re.split(r"\n{2,}", path.read_text().strip()):
        fields = re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", text, re.M)
        yield {name: value.strip() for name, value in fields}


def package_names(relations):
    return {name for name in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9.+-]*)", relations)}


def needed(*kinds):
    lines = (line.split() for line in (REPOSITORY / "packaging" / "debian-packages.txt").read_text().splitlines())
    return {line[1] for line in lines if len(line) >= 2 and line[0] in kinds}


class Debian(unittest.TestCase):
    def setUp(self):
        self.source, *self.binaries = paragraphs(DEBIAN / "control")

    def test_build_dependencies_are_those_of_the_project(self):
        build_depends = package_names(self.source["Build-Depends"])
        self.assertEqual(needed("build", "test") - IMPLIED - build_depends, set())
        self.assertEqual(build_depends - needed("build", "test", "deb") - {"debhelper-compat"}, set())

    def test_version_is_the_projects(self):
        version = re.search(r"project\(ortolan VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)
        self.assertRegex((DEBIAN / "changelog").read_text(), rf"^ortolan \({re.escape(version)}-\S+\) ")

    def test_symbols_file_has_the_newest_version_node(self):
        newest = (REPOSITORY / "symbols" / "versions.txt").read_text().split()[-1]
        self.assertIn(f" (symver){newest} ", (DEBIAN / "libortolan1.symbols").read_text())

    def test_tests_exist_and_need_known_packages(self):
        ours = {binary["Package"] for binary in self.binaries}
        tested = set()
        for stanza in paragraphs(DEBIAN / "tests" / "control"):
            tested |= package_names(stanza["Depends"])
            for name in stanza["Tests"].split():
                self.assertTrue((DEBIAN / "tests" / name).stat().st_mode & 0o100, name)
        self.assertEqual(ours - tested, {"libortolan1"})

    def test_every_installed_file_is_in_one_package(self):
        patterns = {path.stem: path.read_text().split() for path in DEBIAN.glob("*.install")}
        self.assertLessEqual(set(patterns), {binary["Package"] for binary in self.binaries})
        for path in self.installed():
            takers = [(package, pattern) for package in patterns for pattern in patterns[package]
                      if fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/")
                      or fnmatch.fnmatch(path, pattern + "/*")]
            self.assertEqual(len({package for package, _ in takers}), 1, f"{path}: {takers}")

    def installed(self):
        """The paths that an installation below /usr has on Debian."""
        with tempfile.TemporaryDirectory() as folder:
            command = ["cmake", "--install", str(BUILD), "--prefix", folder]
            subprocess.run(command, check=True, capture_output=True, text=True)
            paths = [p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*")
                     if p.is_symlink() or p.is_file()]
        for path in paths:
            in_libraries = path.startswith(LIBDIR + "/") and not re.match(r"lib/(cli|python3)", path)
            yield "usr/" + (f"lib/x86_64-linux-gnu/{path[len(LIBDIR) + 1:]}" if in_libraries else path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
