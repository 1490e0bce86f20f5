"""The example digits.py on all ten pictures, as a program: digits_test.py EXAMPLE."""
import subprocess
import sys
import unittest

from support import DIGITS

EXAMPLE = sys.argv.pop(1)


class Digits(unittest.TestCase):
    def run_example(self, *arguments):
        return subprocess.run([sys.executable, "-B", "-W", "error", EXAMPLE, *map(str, arguments)], capture_output=True,
                              text=True, check=False)

    def test_all_pictures(self):
        pictures = [DIGITS / f"digit_{digit}.pgm" for digit in range(10)]
        result = self.run_example(DIGITS / "digits.onnx", *pictures)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout.splitlines(), [f"{path}: {digit}" for digit, path in enumerate(pictures)])

    def test_wrong_use(self):
        self.assertIn("usage: digits.py MODEL PICTURE...", self.run_example().stderr)
        self.assertIn("NO_SUCHFILE", self.run_example("/no/model", DIGITS / "digit_0.pgm").stderr)


if __name__ == "__main__":
    unittest.main()
