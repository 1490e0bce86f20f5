"""ModelCompiler: what it writes and where, functions that it calls, and data of compiled nodes from memory."""
import os
import pathlib
import tempfile
import unittest

import numpy as np
import ortolan as ort
from support import EXAMPLE_PROVIDER, floats, main, model

CONTEXT_PROVIDER = EXAMPLE_PROVIDER.parent / "libcontext_plugin.so"
ONES = {"x": np.ones(256, np.float32)}
WEIGHTS = list(range(256))


class Compiling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.options = ort.SessionOptions()

    def compiler(self, source=None, **settings):
        return ort.ModelCompiler(self.options, source or model("add"), **settings)

    def check(self, made):
        feed = {"a": floats(1, 2), "b": floats(10, 20)}
        self.assertEqual(ort.InferenceSession(made).run(["scaled"], feed)[0].tolist(), [22, 44])

    def test_where_to(self):
        path = self.folder / "out.onnx"
        self.compiler().compile_to_file(path)
        self.check(path)
        source = pathlib.Path(model("add")).read_bytes()
        whole = self.compiler(source).compile_to_bytes()
        self.check(whole)
        pieces = []
        self.compiler(source).compile_to_stream(pieces.append)
        self.assertEqual(b"".join(pieces), whole)

    def test_beside_the_input(self):
        source = self.folder / "m.onnx"
        source.write_bytes(pathlib.Path(model("add")).read_bytes())
        self.compiler(source).compile_to_file()
        self.check(self.folder / "m_ctx.onnx")

    def test_initializers_in_a_file(self):
        weights = self.folder / "weights.bin"
        compiler = self.compiler(model("external"), external_initializers_file_path=weights.name,
                                 external_initializers_size_threshold=64)
        compiler.compile_to_file(self.folder / "out.onnx")
        with self.assertRaisesRegex(ort.InvalidArgument, "must be a plain name, not a path"):
            self.compiler(model("external"), external_initializers_file_path=weights).compile_to_file(self.folder / "x.onnx")
        self.assertEqual(weights.stat().st_size, 1024)
        self.assertEqual(ort.InferenceSession(self.folder / "out.onnx").run(None, ONES)[0].tolist(), WEIGHTS)

    def test_places_of_initializers(self):
        seen, kept = [], []

        def locate(name, value, info):
            seen.append((name, value.numpy().tolist(), info and (info.filepath, info.file_offset, info.byte_size)))
            kept.append(value)
            (self.folder / "mine.bin").write_bytes(b"head" * 16 + value.numpy().tobytes())
            return ort.OrtExternalInitializerInfo("mine.bin", 64, value.tensor_size_in_bytes())

        self.compiler(model("external"), get_initializer_location_func=locate).compile_to_file(self.folder / "out.onnx")
        self.assertEqual([(name, numbers) for name, numbers, _ in seen], [("weights", WEIGHTS)])
        self.assertEqual(kept[0].numpy().tolist(), WEIGHTS)
        self.assertEqual(ort.InferenceSession(self.folder / "out.onnx").run(None, ONES)[0].tolist(), WEIGHTS)
        whole = self.compiler(model("add"), get_initializer_location_func=lambda *_: None).compile_to_bytes()
        self.check(whole)

    def test_functions_that_fail(self):
        with self.assertRaisesRegex(ort.Fail, "ZeroDivisionError"):
            self.compiler().compile_to_stream(lambda piece: 1 // 0)
        for result, said in ((lambda *_: 1 // 0, "ZeroDivisionError"), (lambda *_: 5, "or None, not a 'int'")):
            with self.assertRaisesRegex(ort.Fail, said):
                self.compiler(get_initializer_location_func=result).compile_to_bytes()

    def test_flags(self):
        path = self.folder / "out.onnx"
        path.write_bytes(b"")
        with self.assertRaisesRegex(ort.OrtError, "out.onnx"):
            self.compiler(flags=ort.OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS).compile_to_file(path)
        both = ort.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED | ort.OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS
        self.assertEqual(int(both), 3)
        with self.assertRaisesRegex(ort.OrtError, "compile"):
            self.compiler(flags=both).compile_to_file(self.folder / "other.onnx")

    def test_wrong_inputs(self):
        for source, error, said in (("", ValueError, "are empty"), (b"", ValueError, "are empty"),
                                    (5, TypeError, "a path or bytes, not 'int'")):
            with self.assertRaisesRegex(error, said):
                ort.ModelCompiler(self.options, source)
        with self.assertRaisesRegex(ort.OrtError, "/no/such.onnx"):
            self.compiler("/no/such.onnx").compile_to_file(self.folder / "out.onnx")
        with self.assertRaisesRegex(ort.InvalidProtobuf, "INVALID_PROTOBUF"):
            self.compiler(b"abc").compile_to_bytes()
        with self.assertRaisesRegex(TypeError, "must be SessionOptions, not 'int'"):
            ort.ModelCompiler(5, model("add"))
        with self.assertRaisesRegex(ValueError, "give one of them"):
            self.compiler(external_initializers_file_path="x", get_initializer_location_func=lambda *_: None)
        with self.assertRaisesRegex(TypeError, "must be callable, not a 'int'"):
            self.compiler().compile_to_stream(5)
        for use in (lambda: self.compiler().compile_to_file(5), lambda: self.compiler(external_initializers_file_path=5)):
            with self.assertRaisesRegex(TypeError, "a path is a str or a path object, not a 'int'"):
                use()
        with self.assertRaisesRegex(ort.InvalidArgument, "model_name|output_directory"):
            self.compiler().set_ep_context_binary_information("", "m")

    def test_places(self):
        info = ort.OrtExternalInitializerInfo("file", 3, 4)
        self.assertEqual((info.filepath, info.file_offset, info.byte_size), ("file", 3, 4))
        with self.assertRaisesRegex(TypeError, "byte_size must not be negative"):
            ort.OrtExternalInitializerInfo("file", 0, -1)
        with self.assertRaisesRegex(TypeError, "file_offset must be an int, not 'str'"):
            ort.OrtExternalInitializerInfo("file", "0", 1)


@unittest.skipUnless(CONTEXT_PROVIDER.exists(), f"{CONTEXT_PROVIDER} is not built")
class CompiledData(unittest.TestCase):
    def setUp(self):
        ort.register_execution_provider_library("context", CONTEXT_PROVIDER)
        self.addCleanup(ort.unregister_execution_provider_library, "context")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.options = ort.SessionOptions()
        self.options.add_provider_for_devices(
            [device for device in ort.get_ep_devices() if device.ep_name == "ContextExecutionProvider"])
        ort.ModelCompiler(self.options, model("add")).compile_to_file(self.folder / "out.onnx")
        self.data = {path.name: path.read_bytes() for path in self.folder.glob("*.bin")}
        for name in self.data:
            os.remove(self.folder / name)

    def open(self, read, most=1 << 20):
        self.options.set_ep_context_data_read_func(read, most)
        return ort.InferenceSession(self.folder / "out.onnx", self.options)

    def give(self, name, buffer):
        data = self.data[name]
        self.assertEqual((buffer.is_allocated, buffer.size), (False, 0))
        buffer.allocate(len(data))
        buffer.write(data[:1])
        buffer.write(data[1:], 1)
        self.assertEqual((buffer.is_allocated, buffer.size, buffer.max_size), (True, len(data), 1 << 20))

    def test_a_function_gives_data(self):
        self.assertTrue(self.data)
        session = self.open(self.give)
        self.assertIn("ContextExecutionProvider", session.providers_in_use())
        with self.assertRaisesRegex(TypeError, "hold a function that reads data cannot be pickled"):
            self.options.__reduce__()
        self.options.clear_ep_context_data_read_func()
        with self.assertRaisesRegex(ort.EPFail, "the compiled data is ''"):
            ort.InferenceSession(self.folder / "out.onnx", self.options)

    def test_functions_that_fail(self):
        for read, most, said in ((lambda name, buffer: 1 // 0, 9, "ZeroDivisionError"),
                                 (lambda name, buffer: None, 9, "did not allocate data for"),
                                 (lambda name, buffer: buffer.allocate(10), 9, "is called once, with 0 to 9 bytes"),
                                 (lambda name, buffer: buffer.write(b"x"), 9, "outside the 0 bytes that were allocated"),
                                 (lambda name, buffer: (buffer.allocate(2), buffer.allocate(2)), 9, "is called once"),
                                 (lambda name, buffer: (buffer.allocate(2), buffer.write(b"abc")), 9, "3 bytes at 0 are")):
            with self.assertRaisesRegex(ort.OrtError, said):
                self.open(read, most)
        for read, most in ((5, 9), (print, 0)):
            with self.assertRaisesRegex(TypeError, "a callable is needed, and a max_data_size of 1 or more"):
                self.options.set_ep_context_data_read_func(read, most)


if __name__ == "__main__":
    main()
