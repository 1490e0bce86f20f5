"""LoRA adapters: written, read, and added to runs."""
import pathlib
import tempfile
import unittest

import numpy as np
import ortolan as ort
from support import floats, main, model

FEED = {"a": floats(1, 2), "b": floats(10, 20)}


class Adapters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a.onnx_adapter"

    def write(self, **arrays):
        adapter = ort.AdapterFormat()
        adapter.set_parameters({name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in arrays.items()})
        adapter.set_adapter_version(3)
        adapter.set_model_version(-4)
        adapter.export_adapter(self.path)

    def test_files_come_back(self):
        arrays = {"first": floats(1, 2, 3), "ö": np.arange(6, dtype=np.int64).reshape(2, 3), "empty": np.ones((0, 2), np.int8),
                  "odd": np.array([7], np.uint8)}
        self.write(**arrays)
        adapter = ort.AdapterFormat.read_adapter(self.path)
        self.assertEqual((adapter.get_format_version(), adapter.get_adapter_version(), adapter.get_model_version()), (1, 3, -4))
        read = adapter.get_parameters()
        self.assertEqual(sorted(read), sorted(arrays))
        for name, array in arrays.items():
            self.assertEqual((read[name].numpy().dtype, read[name].shape()), (array.dtype, list(array.shape)))
            np.testing.assert_array_equal(read[name].numpy(), array)

    def test_new_adapters_are_empty(self):
        adapter = ort.AdapterFormat()
        self.assertEqual((adapter.get_adapter_version(), adapter.get_model_version(), adapter.get_parameters()), (0, 0, {}))
        adapter.export_adapter(self.path)
        self.assertEqual(ort.AdapterFormat.read_adapter(self.path).get_parameters(), {})

    def test_runs_use_what_is_active(self):
        self.write(factor=floats(5))
        adapter, options = ort.LoraAdapter(), ort.RunOptions()
        options.add_active_adapter(adapter)
        session = ort.InferenceSession(model("add"))
        self.assertEqual(session.run(["scaled"], FEED, options)[0].tolist(), [22, 44])
        adapter.Load(str(self.path))
        options.add_active_adapter(adapter)
        del adapter
        self.assertEqual(session.run(["scaled"], FEED, options)[0].tolist(), [55, 110])
        self.assertEqual(session.run(["scaled"], FEED)[0].tolist(), [22, 44])

    def test_wrong_files(self):
        adapter = ort.LoraAdapter()
        for read in (adapter.Load, ort.AdapterFormat.read_adapter):
            with self.assertRaisesRegex(ort.NoSuchFile, "/no/such"):
                read("/no/such")
            with self.assertRaisesRegex(ort.Fail, "the mark TORT is missing"):
                read(model("add"))
        self.write(factor=floats(5))
        whole = self.path.read_bytes()
        for size in range(0, len(whole), 3):
            self.path.write_bytes(whole[:size])
            with self.assertRaisesRegex(ort.OrtError, "adapter"):
                adapter.Load(self.path)
        with self.assertRaisesRegex(FileNotFoundError, "/no/such/folder"):
            ort.AdapterFormat().export_adapter("/no/such/folder/file")

    def test_wrong_parameters(self):
        adapter = ort.AdapterFormat()
        values = ort.OrtValue.ortvalue_from_numpy
        for parameters, error, said in (({"s": 5}, TypeError, "not 'int' by 'str'"), ({1: values(floats(1))}, TypeError, "by 'int'"),
                                        ({"s": values(np.array(["a"]))}, ort.InvalidArgument, "a tensor.string. of shape"),
                                        ({"s": values(np.array(1.0))}, ort.InvalidArgument, "one dimension or more"),
                                        ({"s": ort.OrtValue.ortvalue_from_bytes(b"1", [2], ort.TensorElementType.INT4)},
                                         ort.InvalidArgument, "no tensors of type tensor.int4.")):
            with self.assertRaisesRegex(error, said):
                adapter.set_parameters(parameters)
        with self.assertRaisesRegex(TypeError, "a version must be an int, not 'str'"):
            adapter.set_adapter_version("x")
        with self.assertRaisesRegex(ort.InvalidArgument, "the version 2147483648 does not fit 32 bits"):
            adapter.set_model_version(2**31)
        with self.assertRaisesRegex(TypeError, "a LoraAdapter is needed, not 'int'"):
            ort.RunOptions().add_active_adapter(5)


if __name__ == "__main__":
    main()
