#!/usr/bin/python3
"""Tests of an installation, as other projects meet it: install_test.py BUILD REPOSITORY LIBDIR."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, REPOSITORY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LIBDIR = sys.argv[3]
CONSUMER = REPOSITORY / "tests" / "install" / "consumer"
WITHOUT_RUNPATH = re.search("^CMAKE_SKIP_INSTALL_RPATH:.*=(ON|TRUE|1)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
HIDE = ["unshare", "-rm"]
WITH_OPENCL = (BUILD / "lib" / "libonnxruntime_ep_opencl.so").is_file()
WITH_VULKAN = (BUILD / "lib" / "libonnxruntime_ep_vulkan.so").is_file()
CAN_HIDE = subprocess.run([*HIDE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


def call(*command, **options):
    """Status and output of a command, errors included."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=300, **options)
    return result.returncode, result.stdout


# What the build of a package sets for this tree is not for consumers.
BUILD_FLAGS = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")


def call_far_away(*command, cwd, environment=None):
    """The same, with empty folders in the place of the source tree and of the build tree."""
    words = [str(word) for word in command]
    if CAN_HIDE:
        hide = " && ".join(f"mount -t tmpfs none {shlex.quote(str(folder))}" for folder in (BUILD, REPOSITORY))
        words = [*HIDE, "sh", "-c", f"{hide} && exec {shlex.join(words)}"]
    own = {name: value for name, value in os.environ.items() if name not in BUILD_FLAGS}
    return call(*words, cwd=cwd, env={**own, **(environment or {})})


class Installed(unittest.TestCase):
    """One installation for all tests of a class, with what a consumer needs beside it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = pathlib.Path(cls.folder.name).resolve()
        cls.prefix = cls.work / "prefix"
        status, out = call("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert status == 0, out
        cls.libraries = cls.prefix / LIBDIR
        shutil.copytree(CONSUMER, cls.work / "consumer")
        shutil.copy(REPOSITORY / "bindings" / "cpp" / "examples" / "digits.cc", cls.work / "consumer")
        for name in ("digits.onnx", "digit_3.pgm"):
            shutil.copy(REPOSITORY / "tests" / "models" / name, cls.work)

    def far_away(self, *command, **environment):
        status, out = call_far_away(*command, cwd=self.work, environment=environment)
        self.assertEqual(status, 0, f"{command}\n{out}")
        return out

    def assert_classifies(self, program, *arguments, **environment):
        out = self.far_away(program, "digits.onnx", "digit_3.pgm", *arguments, **environment)
        self.assertIn(out, ("3\n", "digit_3.pgm: 3\n"))

    def assert_apart(self, text):
        """Nothing of the source tree or the build tree is in the text."""
        for folder in {str(BUILD), str(REPOSITORY)}:
            self.assertNotIn(folder, text)

    def dynamic_section(self, path):
        """What readelf says of a library or program."""
        status, out = call("readelf", "-d", path)
        self.assertEqual(status, 0, out)
        self.assertIn("(NEEDED)", out)
        return out

    def pkg_config(self, *arguments):
        return self.far_away("pkg-config", *arguments, PKG_CONFIG_PATH=str(self.libraries / "pkgconfig")).split()


class Files(Installed):
    """What is installed, and how pkg-config and CMake find it."""

    def test_libraries_and_their_links(self):
        links = {name: os.readlink(self.libraries / name) for name in os.listdir(self.libraries)
                 if (self.libraries / name).is_symlink()}
        version = next(self.libraries.glob("libortolan.so.1.*")).name
        releases = [f"libonnxruntime.so.{release}" for release in ("1.8.1", "1.21", "1.23")]
        self.assertEqual(links, {"libortolan.so": "libortolan.so.1", "libortolan.so.1": version,
                                 "libonnxruntime.so": "libortolan.so.1",
                                 **dict.fromkeys(releases, "libonnxruntime.so.1")})
        self.assertIn("Library soname: [libonnxruntime.so.1]", self.dynamic_section(self.libraries / "libonnxruntime.so.1"))
        self.assertTrue((self.libraries / "ortolan-1" / "providers" / "libonnxruntime_ep_example.so").is_file())

    def test_archive_defines_the_exported_names_only(self):
        def names(library, *options):
            out = call("nm", "--defined-only", "--format=posix", *options, self.libraries / library)[1]
            return {line.split()[0].split("@")[0] for line in out.splitlines() if " T " in line}
        defined = call("nm", "-g", "--defined-only", "--format=just-symbols", self.libraries / "libortolan.a")[1]
        self.assertEqual({name for name in defined.split() if ":" not in name}, names("libortolan.so", "-D"))

    def test_every_header_stands_once_and_is_found_in_both_folders(self):
        include = self.prefix / "include"
        headers = [*(REPOSITORY / "include_c").glob("*.h"), *(REPOSITORY / "bindings" / "cpp").glob("*.h")]
        self.assertEqual({path.name for path in include.glob("*.h")}, {path.name for path in headers})
        for header in headers:
            installed = include / "onnxruntime" / header.name
            self.assertEqual(installed.read_bytes(), header.read_bytes())
            self.assertTrue((include / header.name).is_symlink())
            self.assertTrue((include / header.name).samefile(installed))

    def test_nothing_installed_names_this_tree(self):
        for path in self.prefix.rglob("*"):
            if path.is_symlink():
                self.assert_apart(os.readlink(path))
            elif path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                self.assert_apart(self.dynamic_section(path))
            elif path.is_file() and path.suffix in (".cmake", ".pc", ".h", ".1"):
                self.assert_apart(path.read_text())

    def test_staged_installation_knows_its_final_place_only(self):
        stage = self.work / "stage"
        environment = {**os.environ, "DESTDIR": str(stage)}
        status, out = call("cmake", "--install", BUILD, "--prefix", "/opt/ortolan", env=environment)
        self.assertEqual(status, 0, out)
        installed = {p.relative_to(self.prefix) for p in self.prefix.rglob("*")}
        self.assertEqual({p.relative_to(stage / "opt" / "ortolan") for p in stage.rglob("*")
                          if p.is_relative_to(stage / "opt" / "ortolan") and p != stage / "opt" / "ortolan"}, installed)
        text = (stage / "opt/ortolan" / LIBDIR / "pkgconfig" / "libonnxruntime.pc").read_text()
        self.assertIn("prefix=/opt/ortolan\n", text)
        self.assertNotIn(str(stage), text)

    def test_components_are_disjoint_and_complete(self):
        seen = {}
        for component in ("runtime", "dev", "tools", "compat", "plugins", "images", "cpp", "java", "csharp", "go", "python"):
            root = self.work / "components" / component
            status, out = call("cmake", "--install", BUILD, "--prefix", root, "--component", component)
            self.assertEqual(status, 0, out)
            for path in root.rglob("*"):
                if path.is_symlink() or path.is_file():
                    self.assertNotIn(path.relative_to(root), seen)
                    seen[path.relative_to(root)] = component
        for component, name in (("compat", "onnxruntime.so.1"), ("dev", "onnxruntime.so"), ("runtime", "ortolan.so.1")):
            self.assertEqual(seen[pathlib.Path(LIBDIR, f"lib{name}")], component)
        installed = {p.relative_to(self.prefix) for p in self.prefix.rglob("*") if p.is_symlink() or p.is_file()}
        self.assertEqual(set(seen), installed)

    # ---- pkg-config ----

    def test_pkg_config_says_versions_and_folders(self):
        self.assertRegex(self.pkg_config("--modversion", "libonnxruntime")[0], r"^1\.31\.\d+$")
        self.assertEqual(self.pkg_config("--variable=includedir", "libonnxruntime")[0],
                         str(self.prefix / "include" / "onnxruntime"))
        self.assertEqual(self.pkg_config("--variable=providerdir", "libortolan")[0],
                         str(self.libraries / "ortolan-1" / "providers"))

    def test_shared_by_pkg_config(self):
        for package in ("libortolan", "libonnxruntime"):
            flags = self.pkg_config("--cflags", "--libs", package)
            for compiler, source in (("cc", "flat.c"), ("c++", "table.cc"), ("c++", "digits.cc")):
                with self.subTest(package=package, source=source):
                    self.far_away(compiler, f"consumer/{source}", *flags, "-o", "program")
                    self.assertIn("[libortolan.so.1]", call("readelf", "-d", self.work / "program")[1])
                    self.assert_classifies("./program", LD_LIBRARY_PATH=str(self.libraries))

    def test_static_by_pkg_config(self):
        flags = self.pkg_config("--static", "--cflags", "--libs", "libortolan")
        for compiler, source in (("cc", "flat.c"), ("c++", "table.cc"), ("c++", "digits.cc")):
            with self.subTest(source=source):
                self.far_away(compiler, "-static", f"consumer/{source}", *flags, "-o", "program")
                self.assertNotIn("NEEDED", call("readelf", "-d", self.work / "program")[1])
                self.assert_classifies("./program")

    # ---- CMake ----

    def build_with_cmake(self, package, target):
        tree = self.work / f"build-{target.replace('::', '-')}"
        self.far_away("cmake", "-S", "consumer", "-B", tree, f"-DPACKAGE={package}", f"-DLIBRARY={target}",
                      f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.far_away("cmake", "--build", tree)
        for entry in json.loads((tree / "compile_commands.json").read_text()):
            self.assert_apart(entry["command"])
            self.assertIn(str(self.prefix / "include"), entry["command"])
        self.assert_apart((tree / "CMakeCache.txt").read_text())
        return tree

    def test_cmake_packages(self):
        for package, target in (("ortolan", "ortolan::ortolan"), ("onnxruntime", "onnxruntime::onnxruntime"),
                                ("ortolan", "ortolan::ortolan_static")):
            with self.subTest(target=target):
                tree = self.build_with_cmake(package, target)
                for program in ("flat", "table", "digits"):
                    self.assert_classifies(tree / program)
                    dynamic = call("readelf", "-d", tree / program)[1]
                    self.assertEqual("libortolan.so.1" in dynamic, "static" not in target)

    def test_cmake_package_of_another_major_version_is_refused(self):
        script = self.work / "versions.cmake"
        script.write_text("find_package(onnxruntime ${VERSION} QUIET)\n"
                          "message(STATUS \"found ${onnxruntime_FOUND}\")\n")
        project = self.work / "versions"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(versions C)\n"
                                                "include(../versions.cmake)\n")
        for version, found in (("1", "1"), ("1.21.0", "1"), ("1.31", "1"), ("1.32", "0"), ("2", "0")):
            out = self.far_away("cmake", "-S", project, "-B", project / "build", f"-DVERSION={version}",
                                f"-DCMAKE_PREFIX_PATH={self.prefix}")
            self.assertIn(f"-- found {found}\n", out, version)

    # ---- providers ----

    def test_provider_libraries_are_found_by_file_name(self):
        flags = self.pkg_config("--cflags", "--libs", "libonnxruntime")
        self.far_away("c++", "consumer/table.cc", *flags, "-o", "program")
        self.assert_classifies("./program", "libonnxruntime_ep_example.so", LD_LIBRARY_PATH=str(self.libraries))
        elsewhere = self.work / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "libortolan.so.1").symlink_to(self.libraries / "libortolan.so.1")
        self.assert_classifies("./program", "libonnxruntime_ep_example.so", LD_LIBRARY_PATH=str(elsewhere))

    @unittest.skipUnless(WITH_OPENCL, "the provider for OpenCL is not built")
    def test_a_provider_of_ours_is_found_by_its_name(self):
        flags = self.pkg_config("--cflags", "--libs", "libortolan")
        self.far_away("cc", "consumer/by_name.c", *flags, "-o", "program")
        search = {"LD_LIBRARY_PATH": str(self.libraries), "XDG_CACHE_HOME": str(self.work / "cache")}
        for name in ((), ("OpenCL",)):
            with self.subTest(name=name):
                self.assertIn("3\n", self.far_away("./program", "digits.onnx", "digit_3.pgm", *name, **search))
                out = call_far_away("./program", "digits.onnx", "digit_3.pgm", *name, cwd=self.work,
                                    environment={**search, "OCL_ICD_VENDORS": str(self.work / "none")})
                self.assertEqual(out[0], 1, out)
                self.assertIn("install one of the packages pocl-opencl-icd", out[1])
        if WITH_VULKAN:
            self.assertIn("3\n", self.far_away("./program", "digits.onnx", "digit_3.pgm", "Vulkan", **search))
        library = self.libraries / "ortolan-1" / "providers" / "libonnxruntime_ep_opencl.so"
        library.rename(library.with_suffix(".away"))
        self.addCleanup(library.with_suffix(".away").rename, library)
        status, out = call_far_away("./program", "digits.onnx", "digit_3.pgm", cwd=self.work, environment=search)
        self.assertEqual(status, 1, out)
        self.assertIn("libortolan-opencl brings libonnxruntime_ep_opencl.so", out)
        self.assertIn(f"'{library}'", out)


class Programs(Installed):
    """The installed programs."""
    search = {}  # what the loader is told

    def call_program(self, name, *arguments):
        """Status and output of an installed program."""
        return call_far_away(self.prefix / "bin" / name, *arguments, cwd=self.work, environment=self.search)

    def program(self, name, *arguments):
        status, out = self.call_program(name, *arguments)
        self.assertEqual(status, 0, f"{name} {arguments}\n{out}")
        return out

    def test_installed_programs_run_as_they_are(self):
        self.assertIn("digit_3.pgm: 3\n", self.program("ortolan", "run", "digits.onnx", "digit_3.pgm"))
        self.assertNotIn(str(BUILD), self.program("onnxruntime_perf_test", "-I", "-r", "2", "digits.onnx"))

    @unittest.skipUnless((BUILD / "lib" / "libortolan_images.so").is_file(), "the formats' libraries are missing")
    def test_images_are_decoded_by_the_module_that_is_installed(self):
        shutil.copytree(REPOSITORY / "tests" / "models" / "decode_png", self.work / "decode_png")
        self.assertIn("passed 1 of 1", self.program("onnx_test_runner", "decode_png"))
        needed = self.dynamic_section(self.libraries / "libortolan.so.1")
        self.assertNotRegex(needed, "NEEDED.*(jpeg|png|tiff|webp|openjp2)")
        module = self.libraries / "ortolan-1" / "modules" / "libortolan_images.so"
        module.rename(module.with_suffix(".away"))
        self.addCleanup(module.with_suffix(".away").rename, module)
        self.assertIn("install the package libortolan-images", self.call_program("onnx_test_runner", "decode_png")[1])

    @unittest.skipUnless((BUILD / "lib" / "libortolan_regex.so").is_file(), "libre2-dev is missing")
    def test_regular_expressions_are_matched_by_the_module_that_is_installed(self):
        shutil.copytree(REPOSITORY / "tests" / "models" / "match_regex", self.work / "match_regex")
        self.assertIn("passed 1 of 1", self.program("onnx_test_runner", "match_regex"))
        self.assertNotIn("re2", self.dynamic_section(self.libraries / "libortolan.so.1"))
        module = self.libraries / "ortolan-1" / "modules" / "libortolan_regex.so"
        module.rename(module.with_suffix(".away"))
        self.addCleanup(module.with_suffix(".away").rename, module)
        self.assertRegex(self.call_program("onnx_test_runner", "match_regex")[1], "libortolan_regex.so.*install the package")

    def test_programs_find_provider_libraries_by_the_provider(self):
        providers = self.libraries / "ortolan-1" / "providers"
        link = providers / "libonnxruntime_ep_examplekernel.so"
        link.symlink_to("libonnxruntime_ep_example.so")
        self.addCleanup(link.unlink)
        out = self.program("ortolan", "explain", "-e", "ExampleKernel", "digits.onnx")
        self.assertIn("ExampleKernelExecutionProvider: no kernel", out)

    def test_manual_pages_name_every_option(self):
        commands = {"ortolan": ["run", "inspect", "explain", "api", "devices"], "onnx_test_runner": [""],
                    "onnxruntime_perf_test": [""]}
        for program, subcommands in commands.items():
            page = (self.prefix / "share" / "man" / "man1" / f"{program}.1").read_text().replace("\\-", "-")
            for subcommand in subcommands:
                words = [word for word in (subcommand, "--help") if word]
                help_text = self.program(program, *words)
                options = re.findall(r"^  +(-\w)?(?:, )?(--[\w-]+)?", help_text, re.M)
                self.assertGreaterEqual(len(options), 2)
                for option in filter(None, sum(options, ())):
                    self.assertIn(f"\\fB{option}\\fR", page, f"{program} {subcommand}")


class ProgramsOfADistribution(Programs):
    """The same as distributions install them: without the library's folder in them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.search = {"LD_LIBRARY_PATH": str(cls.libraries)}
        script = cls.work / "without_runpath.cmake"
        script.write_text("".join(f"file(RPATH_REMOVE FILE [[{path}]])\n" for path in (cls.prefix / "bin").iterdir()))
        status, out = call("cmake", "-P", script)
        assert status == 0, out

    def test_installed_programs_have_no_path_of_their_own(self):
        programs = list((self.prefix / "bin").iterdir())
        self.assertIn("ortolan", [path.name for path in programs])
        for path in programs:
            self.assertNotRegex(self.dynamic_section(path), "R(UN)?PATH")


def load_tests(loader, tests, pattern):
    """A build that leaves the paths out has no programs with them."""
    programs = [ProgramsOfADistribution] if WITHOUT_RUNPATH else [Programs, ProgramsOfADistribution]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Files, *programs))


if __name__ == "__main__":
    if not CAN_HIDE:
        print("this machine lets nobody hide a folder: only paths are checked for the source tree")
    unittest.main(argv=sys.argv[:1], verbosity=2)
