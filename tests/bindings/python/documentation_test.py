"""Programs in the manner of those that documentation for execution providers shows: only the import differs."""
import time
import unittest

import numpy as np
import ortolan as ort
from support import DIGITS, main, model


class Programs(unittest.TestCase):
    def test_a_session_with_provider_options(self):
        options = {"use_arena": "1"}
        session = ort.InferenceSession(str(DIGITS / "digits.onnx"), providers=[("CPUExecutionProvider", options)])
        picture = np.zeros((1, 1, 8, 8), dtype=np.float32)
        output = session.run(None, {session.get_inputs()[0].name: picture})[0]
        self.assertEqual(output.shape, (1, 10))
        self.assertAlmostEqual(float(output.sum()), 1, places=5)

    def test_a_chain_of_providers_that_are_here(self):
        available = ort.get_available_providers()
        self.assertIn("CPUExecutionProvider", available)
        wanted = ["CUDAExecutionProvider", "OpenCLExecutionProvider", "CPUExecutionProvider"]
        session = ort.InferenceSession(model("mlp"), providers=[name for name in wanted if name in available])
        self.assertEqual(session.get_providers()[-1], "CPUExecutionProvider")

    def test_a_chain_with_options_whose_first_is_absent(self):
        providers = [("CUDAExecutionProvider", {"device_id": 0, "arena_extend_strategy": "kNextPowerOfTwo",
                                                "gpu_mem_limit": 2 * 1024 * 1024 * 1024,
                                                "cudnn_conv_algo_search": "EXHAUSTIVE",
                                                "do_copy_in_default_stream": True}), "CPUExecutionProvider"]
        with self.assertWarnsRegex(UserWarning, "CUDAExecutionProvider is not used"):
            session = ort.InferenceSession(model("mlp"), providers=providers)
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_a_verbose_session(self):
        sess_options = ort.SessionOptions()
        sess_options.log_severity_level = 3
        sess_options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        sess_options.intra_op_num_threads = 1
        sess_options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        sess = ort.InferenceSession(model("mlp"), sess_options, providers=["CPUExecutionProvider"])
        y = sess.run(["y"], {"x": np.random.rand(1, 32).astype(np.float32)})[0]
        self.assertEqual(y.dtype, np.float32)

    def test_bound_inputs_and_outputs_with_a_warm_up(self):
        session = ort.InferenceSession(model("mlp"), providers=["CPUExecutionProvider"])
        x = np.ones((1, 32), dtype=np.float32)
        io_binding = session.io_binding()
        io_binding.bind_cpu_input("x", x)
        io_binding.bind_output("y")
        for _ in range(10):
            session.run_with_iobinding(io_binding)
        start = time.perf_counter()
        for _ in range(100):
            session.run_with_iobinding(io_binding)
        self.assertGreater(time.perf_counter() - start, 0)
        y = io_binding.copy_outputs_to_cpu()[0]
        np.testing.assert_array_equal(y, session.run(None, {"x": x})[0])

    def test_values_bound_by_address(self):
        session = ort.InferenceSession(model("mlp"), providers=["CPUExecutionProvider"])
        x_value = ort.OrtValue.ortvalue_from_numpy(np.ones((1, 32), dtype=np.float32), "cpu", 0)
        y_value = ort.OrtValue.ortvalue_from_shape_and_type([1, 32], np.float32, "cpu", 0)
        io_binding = session.io_binding()
        io_binding.bind_input(name="x", device_type=x_value.device_name(), device_id=0, element_type=np.float32,
                              shape=x_value.shape(), buffer_ptr=x_value.data_ptr())
        io_binding.bind_output(name="y", device_type=y_value.device_name(), device_id=0, element_type=np.float32,
                               shape=y_value.shape(), buffer_ptr=y_value.data_ptr())
        session.run_with_iobinding(io_binding)
        np.testing.assert_array_equal(y_value.numpy(), session.run(["y"], {"x": x_value})[0])

    def test_values_bound_as_they_are(self):
        session = ort.InferenceSession(model("mlp"))
        x_value = ort.OrtValue.ortvalue_from_numpy(np.zeros((1, 32), dtype=np.float32))
        io_binding = session.io_binding()
        io_binding.bind_ortvalue_input("x", x_value)
        io_binding.bind_output("y", "cpu")
        session.run_with_iobinding(io_binding)
        before = io_binding.get_outputs()[0].numpy()
        x_value.update_inplace(np.ones((1, 32), dtype=np.float32))
        session.run_with_iobinding(io_binding)
        after = io_binding.get_outputs()[0].numpy()
        self.assertTrue(np.any(before != after))
        np.testing.assert_array_equal(after, session.run(None, {"x": np.ones((1, 32), np.float32)})[0])

    def test_inputs_and_outputs_are_listed(self):
        session = ort.InferenceSession(str(DIGITS / "digits.onnx"))
        lines = [f"{node.name} {node.type} {node.shape}" for node in session.get_inputs() + session.get_outputs()]
        self.assertEqual(lines, ["image tensor(float) ['N', 1, 8, 8]", "probabilities tensor(float) ['N', 10]"])
        self.assertEqual(session.get_modelmeta().custom_metadata_map["labels"], "0,1,2,3,4,5,6,7,8,9")

    def test_providers_are_set_later(self):
        session = ort.InferenceSession(model("mlp"))
        session.set_providers(["CPUExecutionProvider"], [{"use_arena": "1"}])
        self.assertEqual(session.get_provider_options()["CPUExecutionProvider"]["use_arena"], "1")


if __name__ == "__main__":
    main()
