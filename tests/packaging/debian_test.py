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


def takes(pattern, path):
    """Whether dh_install takes a file for a pattern: as the shell does, whose stars hold no '/', with all below a folder."""
    parts, names = pattern.split("/"), path.split("/")
    return len(names) >= len(parts) and all(map(fnmatch.fnmatchcase, names, parts))


class Debian(unittest.TestCase):
    def test_stars_hold_no_folders(self):
        self.assertTrue(takes("usr/lib/*/a.so.*", "usr/lib/x/a.so.1"))
        self.assertTrue(takes("usr/lib/x", "usr/lib/x/deeper/a"))
        self.assertFalse(takes("usr/lib/*/a.so.*", "usr/lib/x/y/a.so.1"))
        self.assertFalse(takes("usr/lib/x/a", "usr/lib/x"))

    def test_every_installed_file_is_in_one_package(self):
        patterns = {path.stem: path.read_text().split() for path in DEBIAN.glob("*.install")}
        packages = re.findall(r"^Package: (\S+)", (DEBIAN / "control").read_text(), re.M)
        self.assertLessEqual(set(patterns), set(packages))
        for path in self.installed():
            takers = [(package, pattern) for package in patterns for pattern in patterns[package] if takes(pattern, path)]
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
