#!/usr/bin/python3
"""Tests of the lints: each must find what it is for, in a small tree made here."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def lint(name, files):
    """Status and output of a lint on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            target = pathlib.Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        result = subprocess.run([sys.executable, str(HERE / name), folder], capture_output=True, text=True)
    return result.returncode, result.stdout


class Layers(unittest.TestCase):
    def test_downward_include_passes(self):
        status, _ = lint("layers", {"src/graph/a.h": '#include "base/b.h"\n', "src/base/b.h": "//\n"})
        self.assertEqual(status, 0)

    def test_upward_include_fails(self):
        status, out = lint("layers", {"src/base/b.h": '#include "graph/a.h"\n', "src/graph/a.h": "//\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/base/b.h:1: src/base may not include src/graph/a.h", out)

    def test_neighbours_of_one_row_are_apart(self):
        status, out = lint("layers", {"src/ops/b.h": '#include "onnx/a.h"\n', "src/onnx/a.h": "//\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/ops may not include src/onnx/a.h", out)

    def test_plugin_provider_may_not_use_core(self):
        status, out = lint("layers", {"providers/opencl/b.cc": '#include "base/a.h"\n', "src/base/a.h": "//\n"})
        self.assertEqual(status, 1)
        self.assertIn("providers/opencl may not include src/base/a.h", out)

    def test_parts_of_gpu_providers_include_downward(self):
        tree = {f"providers/gpu/{part}/a.h": "//\n" for part in ("kernels", "device", "core", "epkit")}
        for part, target in (("kernels", "device"), ("device", "core"), ("core", "epkit"), ("testdevice", "core")):
            status, out = lint("layers", {**tree, f"providers/gpu/{part}/b.cc": f'#include "gpu/{target}/a.h"\n'})
            self.assertEqual(status, 1)
            self.assertIn(f"providers/gpu/{part} may not include providers/gpu/{target}/a.h", out)

    def test_tools_may_not_use_core(self):
        status, out = lint("layers", {"src/tools/x/b.cc": '#include "runtime/a.h"\n', "src/runtime/a.h": "//\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/tools may not include src/runtime/a.h", out)

    def test_unknown_folder_fails(self):
        status, out = lint("layers", {"src/other/b.cc": "//\n"})
        self.assertEqual(status, 1)
        self.assertIn("is in no layer", out)


class Files(unittest.TestCase):
    def test_long_file_fails(self):
        _, out = lint("files", {"src/base/a.cc": "// What it holds.\n" * 401})
        self.assertIn("src/base/a.cc: 401 lines", out)

    def test_first_line_must_be_a_comment(self):
        _, out = lint("files", {"src/base/a.cc": "#pragma once\n", "src/base/b.cc": "int x;\n"})
        self.assertIn("src/base/b.cc: the first line", out)

    def test_crowded_folder_fails(self):
        crowd = {f"src/base/a{i}.cc": "// A.\n" for i in range(40)}
        _, out = lint("files", {**crowd, "src/base/README.md": ""})
        self.assertIn("src/base: 41 files, more than 40", out)
        del crowd["src/base/a0.cc"]
        _, out = lint("files", {**crowd, "src/base/README.md": ""})
        self.assertNotIn("src/base", out)

    def test_folder_says_what_it_holds(self):
        files = {"src/base/a.h": "// A.\n", "src/base/a.cc": "// A.\n"}
        self.assertIn("src/base: has no README.md", lint("files", files)[1])
        self.assertNotIn("src/base", lint("files", {**files, "src/base/README.md": ""})[1])

    def test_stranger_at_top_level_fails(self):
        status, out = lint("files", {"notes.txt": "x\n"})
        self.assertEqual(status, 1)
        self.assertIn("notes.txt: does not belong", out)


class Errors(unittest.TestCase):
    def assert_refused(self, path, good, bad):
        status, out = lint("errors", {path: good})
        self.assertEqual((status, out), (0, "errors: every check states some words\n"))
        for text in bad:
            status, out = lint("errors", {path: good + text})
            self.assertEqual(status, 1, text)
            self.assertIn(f"{path}:{good.count(chr(10)) + 1}: ", out)
            self.assertIn(" takes an error of any text; write ", out)

    def test_cpp(self):
        good = '// EXPECT_THROW(f(), Error);\nEXPECT_TRUE(test::throws("EXPECT_THROW(", [] { f("("); }));\n'
        good += "EXPECT_THROW(f(1, 2), std::bad_alloc);\nEXPECT_NO_THROW(f());\n"
        bad = ["EXPECT_THROW(f(), Error);", 'ASSERT_THROW(f(")"),\n    Error) << 1;', "EXPECT_ANY_THROW(f());"]
        self.assert_refused("tests/base/a_test.cc", good, bad)

    def test_java(self):
        good = "String s = assertThrows(E.class, f).getMessage();\nassertEquals(s,\n  assertThrows(E.class, f).getMessage());\n"
        bad = ["assertThrows(E.class, f);", "if (x) assertThrows(E.class, f);", "g(() -> assertThrows(E.class, f));"]
        self.assert_refused("tests/bindings/java/ATest.java", good, bad)

    def test_csharp(self):
        good = "var e = Assert.Throws<E>(f);\n/* { Assert.Throws<E>(f); */\n"
        bad = ["Assert.Throws<E>(f);", "Assert.Throws(Is.InstanceOf<E>(), f);", "{ Assert.Catch(f);"]
        self.assert_refused("tests/bindings/csharp/ATests.cs", good, bad)

    def test_python(self):
        good = "# assertRaises(E)\nself.assertRaisesRegex(E, 'assertRaises(')\npytest.raises(E, match='words')\n"
        bad = ["with self.assertRaises(E):", "with self.assertRaises(E) as caught:", "with pytest.raises(E):"]
        self.assert_refused("tests/tools/a_test.py", good, bad)


class Includes(unittest.TestCase):
    USE = "// std::map\nstd::from_chars(begin, end, number);\n"

    def test_header_that_no_file_of_ours_includes(self):
        status, out = lint("includes", {"src/api/a.cc": '#include "api/a.h"\n' + self.USE, "src/api/a.h": "#pragma once\n"})
        self.assertEqual((status, out), (1, "src/api/a.cc:3: std::from_chars needs #include <charconv>\n"))

    def test_header_that_the_file_or_one_of_ours_includes(self):
        for text, header in (("#include <charconv>\n", ""), ("", "#include <charconv>\n"), ("", '#include "base/b.h"\n')):
            files = {"src/api/a.cc": text + '#include "api/a.h"\n' + self.USE, "src/api/a.h": "#pragma once\n" + header,
                     "src/base/b.h": '#include <charconv>\n#include "api/a.h"\n'}
            status, out = lint("includes", files)
            self.assertEqual((status, out), (0, "includes: every name's header is included\n"))


if __name__ == "__main__":
    unittest.main()
