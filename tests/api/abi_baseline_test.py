#!/usr/bin/python3
"""The binary interface against the committed baseline, and what the comparison finds: abi_baseline_test.py."""
import lzma
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "symbols"))
import abi_surface  # noqa: E402

HEADERS = REPOSITORY / "include_c"
RENEW = "If the change is meant, renew the baseline in the same commit: symbols/abi_surface.py --renew"


def compare(before, after):
    """Status and report; new functions alone are no difference. A slot that changes counts as harmless by default."""
    result = subprocess.run(["abidiff", "--no-added-syms", "--leaf-changes-only", "--harmless", str(before), str(after)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


class Baseline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.baseline, cls.current = cls.folder / "baseline.xml", cls.folder / "current.xml"
        cls.baseline.write_bytes(lzma.decompress(abi_surface.BASELINE.read_bytes()))
        abi_surface.describe(cls.current)

    def test_interface_is_the_baseline(self):
        status, report = compare(self.baseline, self.current)
        self.assertEqual(status, 0, f"{report}\n{RENEW}")

    # ---- what an accidental change looks like ----

    def changed(self, header, pattern, replacement, names=None):
        """Report of a comparison of this tree with a copy in which a header has a change; None for no difference."""
        headers = self.folder / "headers"
        shutil.rmtree(headers, ignore_errors=True)
        shutil.copytree(HEADERS, headers)
        text, count = re.subn(pattern, replacement, (headers / header).read_text(), count=1)
        self.assertEqual(count, 1, pattern)
        (headers / header).write_text(text)
        abi_surface.describe(self.folder / "changed.xml", headers, names)
        status, report = compare(self.current, self.folder / "changed.xml")
        return report if status != 0 else None

    def test_parameter_of_an_exported_function(self):
        report = self.changed("ortolan.h", r"(OrtSessionGetCopy\([^;]*?)size_t index", r"\1int index")
        self.assertIn("parameter 2 of type 'typedef size_t' changed", report)

    def test_result_of_an_exported_function(self):
        report = self.changed("ortolan.h", r"const char\* ORT_API_CALL OrtGetVersionString",
                              "const void* ORT_API_CALL OrtGetVersionString")
        self.assertIn("return type changed", report)

    def test_parameter_of_a_slot(self):
        report = self.changed("onnxruntime_c_api.h", r"(\(RegisterExecutionProviderLibrary, _In_ )OrtEnv", r"\1OrtSession")
        self.assertIn("RegisterExecutionProviderLibrary", report)

    def test_order_of_slots(self):
        report = self.changed("onnxruntime_c_api.h", r"ORT_CLASS_RELEASE\(KeyValuePairs\);([^}]*?)"
                              r"(ORT_API2_STATUS\(UnregisterExecutionProviderLibrary,[^;]*;)",
                              r"\2\1ORT_CLASS_RELEASE(KeyValuePairs);")
        self.assertIn("UnregisterExecutionProviderLibrary", report)

    def test_order_of_members(self):
        report = self.changed("ortolan.h", r"  uint32_t slot;.*\n  int implemented;.*\n",
                              "  int implemented;\n  uint32_t slot;\n")
        self.assertIn("struct OrtApiSlot", report)

    def test_member_of_a_plugins_struct(self):
        report = self.changed("onnxruntime_ep_c_api.h", r"(struct OrtEp \{[^;]*)uint32_t", r"\1uint64_t")
        self.assertIn("OrtEp", report)

    def test_value_of_an_enum(self):
        report = self.changed("onnxruntime_error_code.h", r"ORT_NO_MODEL\b[^,]*,", "ORT_NO_MODEL = 77,")
        self.assertIn("ORT_NO_MODEL", report)

    def test_removed_function(self):
        names = [name for name in abi_surface.exported_names() if name != "OrtSessionGetCopy"]
        report = self.changed("ortolan.h", r"\Z", "\n", names)
        self.assertIn("1 Removed", report)

    def test_new_function_is_no_difference(self):
        names = [*abi_surface.exported_names(), "OrtAbiBaselineTestFunction"]
        declaration = "\nextern \"C\" ORT_EXPORT int ORT_API_CALL OrtAbiBaselineTestFunction(void) NO_EXCEPTION;\n"
        self.assertIsNone(self.changed("ortolan.h", r"\Z", declaration, names))


if __name__ == "__main__":
    if not shutil.which("abidw"):
        sys.exit("skipped: abidw is missing; ./dev setup installs abigail-tools")
    if platform.machine() != "x86_64":
        sys.exit("skipped: the baseline is that of x86_64")
    unittest.main(verbosity=2)
