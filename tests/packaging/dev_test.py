#!/usr/bin/python3
"""Tests that ./dev VERB --help prints, and installs and builds nothing: dev_test.py REPOSITORY."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DEV = pathlib.Path(sys.argv[1]).resolve() / "dev"
# What every machine has; with nothing else, installing or building anything fails.
COMMANDS = ("bash", "cat", "awk", "dirname", "readlink")


def dev(*arguments):
    """Status and output on a machine that has these commands only."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            pathlib.Path(folder, command).symlink_to(shutil.which(command))
        result = subprocess.run([shutil.which("bash"), DEV, *arguments], env={"PATH": folder}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=60)
    return result.returncode, result.stdout


class Help(unittest.TestCase):
    def test_every_verb_has_help_and_does_nothing_for_it(self):
        verbs = re.findall(r"^verb_(\w+)\(\)", DEV.read_text(), re.M)
        self.assertGreater(len(verbs), 5)
        for verb in verbs:
            for option in ("--help", "-h"):
                status, out = dev(verb, option)
                self.assertEqual(status, 0, out)
                self.assertRegex(out, rf"(^|\n)  {verb}\b|usage: ./dev {verb}\b")

    def test_help_lists_every_verb(self):
        status, out = dev("help")
        self.assertEqual(status, 0, out)
        listed = set(re.findall(r"^  ([a-z]+)", out, re.M))
        self.assertEqual(listed, set(re.findall(r"^verb_(\w+)\(\)", DEV.read_text(), re.M)))

    def test_an_unknown_verb_is_an_error(self):
        status, out = dev("nosuch", "--help")
        self.assertEqual(status, 1)
        self.assertIn("dev: there is no verb 'nosuch'", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
