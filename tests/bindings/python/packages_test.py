"""Model packages: what they hold, which variant is chosen, and sessions of it."""
import json
import pathlib
import shutil
import tempfile
import unittest

import ortolan as ort
from support import floats, main, model

VARIANTS = {name: {"ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "m.onnx"}}} for name in ("one", "two")}
FEED = {"a": floats(1, 2), "b": floats(10, 20)}


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in VARIANTS:
            (self.folder / name).mkdir()
            shutil.copy(model("add"), self.folder / name / "m.onnx")
        self.write({"schema_version": "1.0", "components": {"main": {"variants": VARIANTS}}})
        self.options = ort.ModelPackageOptions(ort.SessionOptions())

    def write(self, manifest):
        (self.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    def test_what_is_in_it(self):
        package = ort.ModelPackageContext(self.folder)
        self.assertEqual((package.get_schema_version(), package.get_component_count(), package.get_component_names()),
                         (1, 1, ["main"]))
        self.assertEqual((package.get_variant_count("main"), package.get_variant_names("main")), (2, ["one", "two"]))
        self.assertEqual(package.get_variant_ep_name("main", "two"), "CPUExecutionProvider")
        self.assertEqual(package.resolve_string_ref("one/m.onnx", must_exist=True), str(self.folder.resolve() / "one/m.onnx"))
        with self.assertRaisesRegex(ort.OrtError, "other"):
            package.get_variant_names("other")
        with self.assertRaisesRegex(ort.OrtError, "absent"):
            package.resolve_string_ref("absent", must_exist=True)

    def test_sessions(self):
        component = ort.ModelPackageContext(self.folder).select_component("main", self.options)
        self.assertEqual((component.get_selected_variant_name(), component.get_selected_variant_folder_path()),
                         ("one", str(self.folder.resolve() / "one")))
        for options in (None, ort.SessionOptions()):
            session = component.create_session(options)
            self.assertEqual(session.run(["scaled"], FEED)[0].tolist(), [22, 44])
            self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
            with self.assertRaisesRegex(ort.NotImplemented, "is not loaded again"):
                session.set_providers(["CPUExecutionProvider"])
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                session.__reduce__()

    def test_wrong_packages(self):
        with self.assertRaisesRegex(ort.OrtError, "/no/such"):
            ort.ModelPackageContext("/no/such")
        self.write({"schema_version": "1.0", "components": 5})
        with self.assertRaisesRegex(ort.Fail, "components"):
            ort.ModelPackageContext(self.folder)
        with self.assertRaisesRegex(TypeError, "SessionOptions are needed, not 'int'"):
            ort.ModelPackageOptions(5)

    def test_wrong_choices(self):
        package = ort.ModelPackageContext(self.folder)
        with self.assertRaisesRegex(ort.OrtError, "other"):
            package.select_component("other", self.options)
        with self.assertRaisesRegex(TypeError, "ModelPackageOptions are needed, not 'int'"):
            package.select_component("main", 5)


if __name__ == "__main__":
    main()
