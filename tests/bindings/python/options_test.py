"""Options of sessions and runs, profiles, cancelling and providers."""
import json
import os
import pathlib
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import ortolan as ort
from support import floats, main, model


class OfSessions(unittest.TestCase):
    def setUp(self):
        self.options = ort.SessionOptions()

    def run_add(self):
        session = ort.InferenceSession(model("add"), self.options)
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])
        return session

    def test_attributes(self):
        options = self.options
        before = [options.graph_optimization_level, options.execution_mode, options.intra_op_num_threads,
                  options.inter_op_num_threads, options.log_severity_level, options.enable_profiling,
                  options.enable_mem_pattern, options.enable_cpu_mem_arena, options.use_per_session_threads, options.logid]
        self.assertEqual(before, [ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.ExecutionMode.ORT_SEQUENTIAL, 0, 0, -1,
                                  False, True, True, True, ""])
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
        options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
        options.enable_mem_pattern = options.enable_cpu_mem_arena = options.enable_mem_reuse = False
        options.log_severity_level, options.log_verbosity_level, options.logid = 3, 1, "mine"
        options.use_deterministic_compute = True
        self.assertEqual(options.graph_optimization_level, ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
        self.assertEqual((options.intra_op_num_threads, options.logid, options.enable_mem_pattern), (2, "mine", False))
        self.assertIs(self.run_add().get_session_options(), options)

    def test_rewritings_can_be_left_out(self):
        x, ran = np.ones((1, 32), np.float32), []
        for left_out in ((), ("MatMulAddFusion", "GemmActivationFusion")):
            session = ort.InferenceSession(model("mlp"), disabled_optimizers=left_out)
            ran.append(session.run(None, {"x": x})[0])
        np.testing.assert_allclose(*ran, rtol=1e-5)

    def test_wrong_values_are_refused(self):
        with self.assertRaisesRegex(ValueError, "17 is not a valid"):
            self.options.graph_optimization_level = 17
        with self.assertRaisesRegex(ValueError, "2 is not a valid"):
            self.options.execution_mode = 2
        with self.assertRaisesRegex(ort.InvalidArgument, "logging level 9"):
            self.options.log_severity_level = 9
        with self.assertRaisesRegex(TypeError, "a str is needed, not 'int'"):
            self.options.add_session_config_entry("key", 1)
        with self.assertRaisesRegex(ValueError, "must not hold a NUL"):
            self.options.add_session_config_entry("a\0b", "1")

    def test_unknown_attributes_are_refused(self):
        for options in (self.options, ort.RunOptions()):
            with self.assertRaisesRegex(AttributeError, "Options has no attribute 'intra_op_threads'"):
                options.intra_op_threads = 1

    def test_entries(self):
        self.options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.assertEqual(self.options.get_session_config_entry("session.intra_op.allow_spinning"), "0")
        with self.assertRaisesRegex(ort.InvalidArgument, "no entry 'absent'"):
            self.options.get_session_config_entry("absent")
        self.run_add()

    def test_free_dimensions(self):
        self.options.add_free_dimension_override_by_name("n", 2)
        session = ort.InferenceSession(model("add"), self.options)
        self.assertEqual(session.get_inputs()[0].shape, [2])
        with self.assertRaisesRegex(ort.InvalidArgument, r"has shape \[2\] in the model"):
            session.run(None, {"a": floats(1), "b": floats(2)})
        self.options.add_free_dimension_override_by_denotation("DATA_BATCH", 2)

    def test_initializers(self):
        self.options.add_initializer("factor", ort.OrtValue.ortvalue_from_numpy(floats(10)))
        session = ort.InferenceSession(model("add"), self.options)
        del self.options
        self.assertEqual(session.run(["scaled"], {"a": floats(1), "b": floats(2)})[0].tolist(), [30])

    def test_the_optimized_model_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            self.options.optimized_model_filepath = str(pathlib.Path(folder) / "saved.onnx")
            self.run_add()
            again = ort.InferenceSession(self.options.optimized_model_filepath)
            self.assertEqual(again.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])

    def test_absent_libraries_of_operators(self):
        with self.assertRaisesRegex(ort.OrtError, "/no/such/library.so"):
            self.options.register_custom_ops_library("/no/such/library.so")

    def test_later_changes_do_not_touch_sessions(self):
        session = self.run_add()
        self.options.add_free_dimension_override_by_name("n", 7)
        session.set_providers(["CPUExecutionProvider"])
        self.assertEqual(session.get_inputs()[0].shape, [7])  # loaded again, with what the options are now
        self.assertEqual(ort.InferenceSession(model("add")).get_inputs()[0].shape, ["n"])

    def test_profiles(self):
        with tempfile.TemporaryDirectory() as folder:
            self.options.profile_file_prefix = str(pathlib.Path(folder) / "profile")
            self.options.enable_profiling = True
            session = self.run_add()
            self.assertGreater(session.get_profiling_start_time_ns(), 0)
            file = pathlib.Path(session.end_profiling())
            self.assertEqual(str(file.parent), folder)
            self.assertTrue(any(event.get("cat") == "Node" for event in json.loads(file.read_text())))
        self.assertEqual(ort.InferenceSession(model("add")).end_profiling(), "")


class OfRuns(unittest.TestCase):
    def test_attributes(self):
        options = ort.RunOptions()
        options.logid, options.log_severity_level, options.log_verbosity_level = "run ö", 3, 2
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self.assertEqual((options.logid, options.run_tag, options.log_severity_level, options.log_verbosity_level),
                         ("run ö", "run ö", 3, 2))
        self.assertEqual(options.get_run_config_entry("memory.enable_memory_arena_shrinkage"), "cpu:0")
        with self.assertRaisesRegex(ort.InvalidArgument, "no entry 'absent'"):
            options.get_run_config_entry("absent")
        session = ort.InferenceSession(model("add"))
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)}, options)[0].tolist(), [3])
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)}, run_options=options)[0].tolist(), [3])

    def test_terminate_ends_runs_of_other_threads(self):
        session, options = ort.InferenceSession(model("endless")), ort.RunOptions()
        timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
        timer.start()
        started = time.monotonic()
        with self.assertRaisesRegex(ort.Fail, "terminate"):
            session.run(None, {"x": floats(0)}, options)
        timer.join()
        self.assertLess(time.monotonic() - started, 30)
        self.assertTrue(options.terminate)
        options.terminate = False
        add = ort.InferenceSession(model("add"))
        self.assertEqual(add.run(["sum"], {"a": floats(1), "b": floats(2)}, options)[0].tolist(), [3])

    def test_terminate_ends_bound_runs(self):
        session, options = ort.InferenceSession(model("endless")), ort.RunOptions()
        options.terminate = True
        binding = session.io_binding()
        binding.bind_cpu_input("x", floats(0))
        binding.bind_output("y")
        with self.assertRaisesRegex(ort.Fail, "terminate"):
            session.run_with_iobinding(binding, options)


class Providers(unittest.TestCase):
    def test_lists(self):
        self.assertEqual(ort.get_available_providers(), ["CPUExecutionProvider"])
        everything = ort.get_all_providers()
        self.assertEqual(everything[-1], "CPUExecutionProvider")
        self.assertLess({"CUDAExecutionProvider", "OpenCLExecutionProvider", "VulkanExecutionProvider"}, set(everything))

    def test_options_in_pairs_and_beside(self):
        for session in (
                ort.InferenceSession(model("add"), providers=[("CPUExecutionProvider", {"use_arena": 1})]),
                ort.InferenceSession(model("add"), providers=["CPUExecutionProvider"],
                                     provider_options=[{"use_arena": "1"}])):
            self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
            self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {"use_arena": "1"}})
        self.assertEqual(ort.InferenceSession(model("add")).get_providers(), ["CPUExecutionProvider"])

    def test_wrong_lists_are_refused(self):
        cases = [
            (["CPUExecutionProvider"], [{}, {}], "there are 1 providers and 2 provider_options"),
            ([("CPUExecutionProvider", {"a": 1})], [{}], "not in both"),
            (["CPUExecutionProvider"], ["a"], "provider_options must be a list of dicts"),
            ("CPUExecutionProvider", None, "providers must be a list"),
            ([7], None, "a provider is a name or a pair"),
            ([("CPUExecutionProvider",)], None, "a provider is a name or a pair"),
        ]
        for providers, options, text in cases:
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                ort.InferenceSession(model("add"), providers=providers, provider_options=options)

    def test_absent_providers_are_errors(self):
        with self.assertRaisesRegex(ort.Fail, "CUDA execution provider is not available"):
            ort.InferenceSession(model("add"), providers=["CUDAExecutionProvider"])
        with self.assertRaisesRegex(ort.Fail, "CUDA"):
            ort.InferenceSession(model("add"), providers=["CUDAExecutionProvider", "CPUExecutionProvider"],
                                 fallback=False)
        with self.assertRaisesRegex(ort.Fail, "CUDA"):
            ort.InferenceSession(model("add"), providers=["CUDAExecutionProvider", "CPUExecutionProvider"],
                                 disable_fallback=True)
        for fallback in (None, True):
            with self.assertRaisesRegex(ort.InvalidArgument, "no execution provider is called 'NobodyKnows'"):
                ort.InferenceSession(model("add"), providers=["NobodyKnows", "CPUExecutionProvider"], fallback=fallback)

    def test_fallback_that_was_asked_for_is_told(self):
        for providers, fallback in ((["CUDAExecutionProvider", "CPUExecutionProvider"], None),
                                    ([("CUDAExecutionProvider", {"device_id": 0})], True)):
            with self.assertWarnsRegex(UserWarning, "^CUDAExecutionProvider is not used") as caught:
                session = ort.InferenceSession(model("add"), providers=providers, fallback=fallback)
            self.assertEqual(os.path.basename(caught.filename), os.path.basename(__file__))
            self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
            self.assertEqual(session.providers_in_use(), ["CPUExecutionProvider"])

    def test_fallback_from_a_provider_without_a_driver(self):
        with tempfile.TemporaryDirectory() as no_drivers, mock.patch.dict(os.environ, OCL_ICD_VENDORS=no_drivers):
            with self.assertWarnsRegex(UserWarning, "^OpenCLExecutionProvider is not used"):
                session = ort.InferenceSession(model("add"),
                                               providers=["OpenCLExecutionProvider", "CPUExecutionProvider"])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_a_provider_given_twice(self):
        with self.assertWarnsRegex(UserWarning, "CPUExecutionProvider is given twice"):
            ort.InferenceSession(model("add"), providers=["CPUExecutionProvider"] * 2)

    def test_sessions_tell_where_nodes_run(self):
        session = ort.InferenceSession(model("add"))
        self.assertEqual([(n.provider, n.node, n.domain, n.op_type) for n in session.node_assignments()],
                         [("CPUExecutionProvider", "adder", "", "Add"), ("CPUExecutionProvider", "scaler", "", "Mul")])

    def test_providers_can_be_changed(self):
        session = ort.InferenceSession(model("add"))
        binding = session.io_binding()
        session.set_providers(["CPUExecutionProvider"], [{"use_arena": "0"}])
        self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {"use_arena": "0"}})
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])
        with self.assertRaisesRegex(ort.Fail, "CUDA execution provider is not available"):
            session.set_providers(["CUDAExecutionProvider"])
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])
        binding.bind_cpu_input("a", floats(1))

    def test_providers_in_options(self):
        options = ort.SessionOptions()
        self.assertFalse(options.has_providers())
        options.add_provider("CPUExecutionProvider", {"use_arena": "0"})
        self.assertTrue(options.has_providers())
        self.assertEqual(ort.InferenceSession(model("add"), options).get_providers(), ["CPUExecutionProvider"])
        with self.assertRaisesRegex(ort.Fail, "QNN execution provider is not available"):
            options.add_provider("QNNExecutionProvider")
        options.set_provider_selection_policy(ort.OrtExecutionProviderDevicePolicy.PREFER_CPU)


class Errors(unittest.TestCase):
    def test_unknown_arguments_are_refused(self):
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'provider'"):
            ort.InferenceSession(model("add"), provider=["CPUExecutionProvider"])

    def test_exceptions_have_codes_and_the_known_path(self):
        from ortolan.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile
        self.assertIs(InvalidArgument, ort.InvalidArgument)
        self.assertIs(NoSuchFile, ort.NoSuchFile)
        self.assertIs(ort.capi.onnxruntime_pybind11_state.Fail, ort.Fail)
        errors = [ort.Fail, ort.InvalidArgument, ort.NoSuchFile, ort.NoModel, ort.EngineError, ort.RuntimeException,
                  ort.InvalidProtobuf, ort.ModelLoaded, ort.NotImplemented, ort.InvalidGraph, ort.EPFail,
                  ort.ModelLoadCanceled, ort.ModelRequiresCompilation, ort.NotFound]
        self.assertEqual([error.code for error in errors], list(range(1, 15)))
        self.assertTrue(all(issubclass(error, ort.OrtError) for error in errors))


if __name__ == "__main__":
    main()
