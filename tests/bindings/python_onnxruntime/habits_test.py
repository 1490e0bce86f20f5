"""What programs may take for granted of the module onnxruntime: every test here passes on the official package too."""
import contextlib
import io
import os
import pathlib
import pickle
import unittest
import warnings

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state
from onnxruntime.datasets import get_example

CPU = "CPUExecutionProvider"
ABSENT = "MIGraphXExecutionProvider"  # a name that is known, of a provider that is never here
MUL = get_example("mul_1.onnx")  # Y = X times the numbers from 1 to 6, in three rows
X = np.ones((3, 2), np.float32)
EXPECTED = [[1, 2], [3, 4], [5, 6]]


def session(**settings):
    return ort.InferenceSession(MUL, **settings)


class Providers(unittest.TestCase):
    def falls_back(self, providers, *names, **settings):
        """The session is on the CPU, and a warning says of each name that there is no such provider."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            made = session(providers=providers, **settings)
        self.assertEqual(made.get_providers(), [CPU])
        self.assertEqual(made.run(None, {"X": X})[0].tolist(), EXPECTED)
        told = [str(one.message) for one in seen if issubclass(one.category, UserWarning)]
        for name in names:
            self.assertTrue([text for text in told if f"'{name}' is not in available provider names" in text], told)

    def test_lists_of_what_is_not_here(self):
        self.falls_back([ABSENT], ABSENT)
        self.falls_back([ABSENT, "VitisAIExecutionProvider"], ABSENT, "VitisAIExecutionProvider")
        self.falls_back([ABSENT, CPU], ABSENT)
        self.falls_back([(ABSENT, {"device_id": 0})], ABSENT)

    def test_names_that_nobody_knows(self):
        self.falls_back(["Foo"], "Foo")
        self.falls_back(["Foo", CPU], "Foo")
        self.falls_back([("Foo", {"a": 1})], "Foo")

    def test_a_text_is_a_list_of_letters(self):
        self.falls_back("CPU", "C", "P", "U")

    def test_lists_that_make_no_sense(self):
        for providers, options in (([3], None), ([(CPU, 3)], None), ([CPU], [{}, {}]), ([CPU], 7), ([CPU], [7]),
                                   ([(CPU, {"a": 1})], [{"b": 2}])):
            self.falls_back(providers, provider_options=options)

    def test_without_fallback(self):
        with self.assertWarns(UserWarning), self.assertRaisesRegex(RuntimeError, "^Unknown Provider Type: Foo$"):
            session(providers=["Foo"], enable_fallback=0)
        with self.assertRaisesRegex(ValueError, "provider"):
            session(providers=[3], enable_fallback=0)

    def test_one_that_comes_twice(self):
        with self.assertWarnsRegex(UserWarning, f"Duplicate provider '{CPU}'"):
            made = session(providers=[CPU, CPU])
        self.assertEqual(made.get_providers(), [CPU])

    def test_none_and_all(self):
        for providers in (None, [], (CPU,), [CPU]):
            self.assertEqual(session(providers=providers).get_providers()[-1], CPU)
        self.assertEqual(session(provider_options=[{}]).get_providers()[-1], CPU)

    def test_other_providers_later(self):
        made = session(providers=[CPU])
        made.disable_fallback()
        made.enable_fallback()
        made.set_providers()
        self.assertEqual(made.get_providers()[-1], CPU)
        with self.assertWarns(UserWarning):
            made.set_providers([ABSENT])
        self.assertEqual(made.run(None, {"X": X})[0].tolist(), EXPECTED)
        with self.assertWarns(UserWarning), self.assertRaisesRegex(RuntimeError, "^Unknown Provider Type: Foo$"):
            session().set_providers(["Foo"])

    def test_the_function_behind(self):
        from onnxruntime.capi.onnxruntime_inference_collection import check_and_normalize_provider_args
        with self.assertWarnsRegex(UserWarning, f"'{ABSENT}' is not in available .* '{CPU}'"):
            found = check_and_normalize_provider_args([ABSENT, (CPU, {"a": 1})], None, [CPU])
        self.assertEqual(found, ([ABSENT, CPU], [{}, {"a": "1"}]))
        self.assertEqual(check_and_normalize_provider_args(None, None, [CPU]), ([], []))


class Construction(unittest.TestCase):
    def test_unknown_keywords_are_ignored(self):
        self.assertEqual(session(providers=[CPU], colour="green", trt_cache=None).run(None, {"X": X})[0].tolist(), EXPECTED)

    def test_rewritings_are_left_out_by_name(self):
        made = session(disabled_optimizers=["ConstantFolding"])
        self.assertEqual(made.run(None, {"X": X})[0].tolist(), EXPECTED)

    def test_wrong_types(self):
        with self.assertRaisesRegex(TypeError, "int"):
            ort.InferenceSession(3)
        with self.assertRaisesRegex(TypeError, "SessionOptions"):
            session(sess_options=3)

    def test_paths_and_bytes(self):
        path = pathlib.Path(MUL)
        for source in (path, MUL, path.read_bytes()):
            self.assertEqual(ort.InferenceSession(source).run(None, {"X": X})[0].tolist(), EXPECTED)
        self.assertEqual(os.fspath(session()._model_path), MUL)
        self.assertIsNone(ort.InferenceSession(path.read_bytes())._model_path)

    def test_what_is_no_model(self):
        with self.assertRaisesRegex(state.NoSuchFile, r"^\[ONNXRuntimeError\] : 3 : NO_SUCHFILE : .*nowhere.onnx"):
            ort.InferenceSession("nowhere.onnx")
        with self.assertRaisesRegex(state.InvalidProtobuf, r"^\[ONNXRuntimeError\] : 7 : INVALID_PROTOBUF : "):
            ort.InferenceSession(b"abc")
        with self.assertRaisesRegex(state.InvalidArgument, r"^\[ONNXRuntimeError\] : 2 : INVALID_ARGUMENT : "):
            ort.InferenceSession(b"")


class Runs(unittest.TestCase):
    def setUp(self):
        self.session = session(providers=[CPU])

    def test_names_of_outputs(self):
        for names in (None, [], ["Y"], ("Y",)):
            self.assertEqual(self.session.run(names, {"X": X})[0].tolist(), EXPECTED)
        self.assertEqual(len(self.session.run(["Y", "Y"], {"X": X})), 2)
        with self.assertRaisesRegex(TypeError, r"run\(\)"):
            self.session.run("Y", {"X": X})
        with self.assertRaisesRegex(state.InvalidArgument, "nope"):
            self.session.run(["nope"], {"X": X})

    def test_inputs_that_are_missing(self):
        for feed in ({}, {"Z": X}):
            with self.assertRaisesRegex(ValueError, r"Required inputs \(\['X'\]\) are missing from input feed \("):
                self.session.run(None, feed)

    def test_inputs_that_are_too_many(self):
        with self.assertRaisesRegex(state.InvalidArgument, "Invalid input name: Z"):
            self.session.run(None, {"X": X, "Z": X})

    def test_none_for_a_tensor(self):
        with self.assertRaisesRegex(state.Fail, r"^\[ONNXRuntimeError\] : 1 : FAIL : "):
            self.session.run(None, {"X": None})

    def test_feeds_that_are_no_dict(self):
        for feed in ([X], None, X):
            with self.assertRaisesRegex(AttributeError, "has no attribute 'keys'"):
                self.session.run(None, feed)

    def test_values(self):
        for value in (X.tolist(), np.asfortranarray(X), np.ones((3, 4), np.float32)[:, ::2], ort.OrtValue.ortvalue_from_numpy(X)):
            self.assertEqual(self.session.run(None, {"X": value})[0].tolist(), EXPECTED)
        for value in (X.astype(np.float64), X.astype(np.int64)):
            with self.assertRaisesRegex(state.InvalidArgument, r"Unexpected input data type.*expected: \(tensor\(float\)\)"):
                self.session.run(None, {"X": value})
        for value in (np.ones((4, 2), np.float32), np.ones(3, np.float32)):
            with self.assertRaisesRegex(state.InvalidArgument, "input.*X"):
                self.session.run(None, {"X": value})

    def test_dicts_come_as_lists(self):
        labels, probabilities = ort.InferenceSession(get_example("logreg_iris.onnx")).run(None, {"float_input": X})
        self.assertEqual((labels.dtype, labels.shape), (np.int64, (3,)))
        self.assertEqual([set(row) for row in probabilities], [{0, 1, 2}] * 3)
        self.assertIsInstance(probabilities, list)


class Bindings(unittest.TestCase):
    def test_what_cannot_be_bound_or_run_is_runtime_error(self):
        made = session(providers=[CPU])
        binding = made.io_binding()
        with self.assertRaisesRegex(RuntimeError, "nope"):
            binding.bind_cpu_input("nope", X)
        binding.bind_cpu_input("X", np.ones((1, 1), np.float32))
        binding.bind_output("Y")
        with self.assertRaisesRegex(RuntimeError, "^Error in execution: "):
            made.run_with_iobinding(binding)
        binding.bind_cpu_input("X", X)
        made.run_with_iobinding(binding)
        self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), EXPECTED)

    def test_values_in_and_out(self):
        value, = session().run_with_ort_values(["Y"], {"X": ort.OrtValue.ortvalue_from_numpy(X)})
        self.assertIsInstance(value, ort.OrtValue)
        self.assertEqual(value.numpy().tolist(), EXPECTED)


class Enumerations(unittest.TestCase):
    def test_they_are_shown_by_their_names(self):
        for member, text, number in ((ort.GraphOptimizationLevel.ORT_ENABLE_ALL, "GraphOptimizationLevel.ORT_ENABLE_ALL", 99),
                                     (ort.ExecutionMode.ORT_PARALLEL, "ExecutionMode.ORT_PARALLEL", 1),
                                     (ort.ExecutionOrder.PRIORITY_BASED, "ExecutionOrder.PRIORITY_BASED", 1),
                                     (ort.OrtHardwareDeviceType.GPU, "OrtHardwareDeviceType.GPU", 1)):
            self.assertEqual((str(member), f"{member}", repr(member)), (text, text, f"<{text}: {number}>"))
            self.assertEqual((member.name, member.value, int(member)), (text.split(".")[1], number, number))
            self.assertEqual(type(member)(number), member)
            self.assertIs(pickle.loads(pickle.dumps(member)).__class__, type(member))
            self.assertEqual(type(member).__members__[member.name], member)

    def test_options_hold_them(self):
        options = ort.SessionOptions()
        self.assertEqual(str(options.graph_optimization_level), "GraphOptimizationLevel.ORT_ENABLE_ALL")
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        self.assertEqual(f"{options.graph_optimization_level} {options.execution_mode}",
                         "GraphOptimizationLevel.ORT_ENABLE_BASIC ExecutionMode.ORT_PARALLEL")
        self.assertIs(type(options.execution_mode), ort.ExecutionMode)
        with self.assertRaisesRegex(TypeError, "GraphOptimizationLevel"):
            options.graph_optimization_level = "all"


class Devices(unittest.TestCase):
    def test_kinds_of_devices_are_shown_by_their_names(self):
        for device in ort.get_ep_devices():
            self.assertIs(type(device.device.type), ort.OrtHardwareDeviceType)
        self.assertTrue(str(ort.get_ep_devices()[0].device.type).startswith("OrtHardwareDeviceType."))

    def test_names_of_devices(self):
        from onnxruntime.capi.onnxruntime_inference_collection import get_ort_device_type, get_vendor_id_for_device_type
        self.assertEqual([get_ort_device_type(name) for name in ("cpu", "cuda", "npu")], [0, 1, 3])
        self.assertEqual([get_vendor_id_for_device_type(name) for name in ("cpu", "cuda")], [None, 0x10DE])
        self.assertFalse(ort.has_collective_ops())
        with self.assertRaisesRegex(Exception, "^Unsupported device type: foo$"):
            get_ort_device_type("foo")

    def test_what_reports_and_other_libraries_need(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            ort.print_debug_info()
        self.assertIn(f"onnxruntime version: {ort.__version__}", said.getvalue())


class Options(unittest.TestCase):
    def test_entries_that_are_not_there(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("a", "b")
        self.assertEqual(options.get_session_config_entry("a"), "b")
        with self.assertRaisesRegex(RuntimeError, "^SessionOptions does not have configuration with key: c$"):
            options.get_session_config_entry("c")
        with self.assertRaisesRegex(RuntimeError, "^RunOptions does not have configuration with key: c$"):
            ort.RunOptions().get_run_config_entry("c")

    def test_attributes_that_there_are_not(self):
        for options in (ort.SessionOptions(), ort.RunOptions()):
            with self.assertRaisesRegex(AttributeError, "no attribute 'colour'"):
                options.colour = "green"

    def test_the_session_tells_its_options(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 2
        self.assertEqual(session(sess_options=options).get_session_options().intra_op_num_threads, 2)
        self.assertIsInstance(session().get_session_options(), ort.SessionOptions)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
