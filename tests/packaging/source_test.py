#!/usr/bin/python3
"""Tests of packaging/debian that take no build: source_test.py REPOSITORY. ./dev deb runs them before it compiles."""
import pathlib
import re
import sys
import unittest

REPOSITORY = pathlib.Path(sys.argv[1]).resolve()
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


class Source(unittest.TestCase):
    def setUp(self):
        self.source, *self.binaries = paragraphs(DEBIAN / "control")

    def test_build_dependencies_are_those_of_the_project(self):
        build_depends = package_names(self.source["Build-Depends"])
        self.assertEqual(needed("build", "test") - IMPLIED - build_depends, set())
        self.assertEqual(build_depends - needed("build", "test", "deb") - {"debhelper-compat"}, set())

    def test_version_is_the_projects(self):
        version = re.search(r"project\(ortolan VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)
        self.assertRegex((DEBIAN / "changelog").read_text(), rf"^ortolan \({re.escape(version)}-\S+\) ")

    def test_symbols_file_has_every_version_node_of_the_flat_api(self):
        nodes = (REPOSITORY / "symbols" / "versions.txt").read_text()
        exports = (REPOSITORY / "symbols" / "exports.txt").read_text()
        first = re.findall(r"^(\S+) of the flat API$", nodes, re.MULTILINE)
        later = re.findall(r" since (\S+)$", exports, re.MULTILINE)
        symbols = (DEBIAN / "libortolan1.symbols").read_text()
        self.assertTrue(first and later)
        for node in first + later:
            self.assertIn(f" (symver){node} {node.removeprefix('VERS_')}\n", symbols)

    def test_tests_exist_and_need_known_packages(self):
        ours = {binary["Package"] for binary in self.binaries}
        tested = set()
        for stanza in paragraphs(DEBIAN / "tests" / "control"):
            tested |= package_names(stanza["Depends"])
            for name in stanza["Tests"].split():
                self.assertTrue((DEBIAN / "tests" / name).stat().st_mode & 0o100, name)
        self.assertEqual(ours - tested, {"libortolan1"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
