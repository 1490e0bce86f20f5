"""Plugin libraries: registering, devices, sessions on them, and the end of both."""
import unittest

import numpy as np
import ortolan as ort
from support import EXAMPLE_PROVIDER, floats, main, model

PROVIDER = "ExampleKernelExecutionProvider"
FEED = {"a": floats(1, 2), "b": floats(10, 20)}


class Plugins(unittest.TestCase):
    def setUp(self):
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)
        self.addCleanup(ort.unregister_execution_provider_library, "example")

    def device(self):
        return next(device for device in ort.get_ep_devices() if device.ep_name == PROVIDER)

    def check(self, session):
        self.assertEqual(session.run(["scaled"], FEED)[0].tolist(), [22, 44])
        self.assertEqual(session.providers_in_use(), [PROVIDER])
        self.assertEqual(session.get_providers(), [PROVIDER, "CPUExecutionProvider"])

    def test_providers_become_available(self):
        self.assertIn(PROVIDER, ort.get_available_providers())
        self.assertIn(PROVIDER, ort.get_all_providers())
        self.assertEqual(ort.get_available_providers()[-1], "CPUExecutionProvider")

    def test_devices_describe_themselves(self):
        device = self.device()
        self.assertTrue(device.ep_vendor)
        self.assertIn(device.device.type, tuple(ort.OrtHardwareDeviceType))
        self.assertIsInstance(device.ep_metadata, dict)
        self.assertIsInstance(device.ep_options, dict)
        self.assertIsInstance(device.device.metadata, dict)
        self.assertIn(PROVIDER, repr(device))

    def test_sessions_by_name(self):
        self.check(ort.InferenceSession(model("add"), providers=[PROVIDER]))
        self.check(ort.InferenceSession(model("add"), providers=[(PROVIDER, {}), "CPUExecutionProvider"]))

    def test_sessions_by_device(self):
        options = ort.SessionOptions()
        options.add_provider_for_devices([self.device()], {})
        self.check(ort.InferenceSession(model("add"), options))

    def test_what_it_does_not_run_goes_to_the_cpu(self):
        session = ort.InferenceSession(model("mlp"), providers=[PROVIDER])
        self.assertIn("CPUExecutionProvider", session.providers_in_use())
        expected = ort.InferenceSession(model("mlp")).run(None, {"x": np.ones((1, 32), np.float32)})[0]
        np.testing.assert_allclose(session.run(None, {"x": np.ones((1, 32), np.float32)})[0], expected, rtol=1e-5)

    def test_memory_of_devices(self):
        value = ort.OrtValue.ortvalue_from_numpy(floats(1, 2), "examplekernel", 1)
        self.assertNotEqual(value.device_name(), "cpu")
        self.assertEqual(value.numpy().tolist(), [1, 2])
        with self.assertRaisesRegex(ValueError, "copy it to the CPU first"):
            ort._native.array_over_tensor(value._handle, np.dtype(np.float32).num)
        value.update_inplace(floats(3, 4))
        self.assertEqual(value.numpy().tolist(), [3, 4])
        session = ort.InferenceSession(model("add"), providers=[PROVIDER])
        self.assertEqual(session.run(["sum"], {"a": value, "b": floats(1, 1)})[0].tolist(), [4, 5])
        binding = session.io_binding()
        binding.bind_ortvalue_input("a", value)
        binding.bind_ortvalue_input("b", value)
        binding.bind_output("sum", "examplekernel", 1)
        session.run_with_iobinding(binding)
        self.assertNotEqual(binding.get_outputs()[0].device_name(), "cpu")
        self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), [6, 8])

    def test_devices_of_libraries_that_are_gone(self):
        device = self.device()
        session = ort.InferenceSession(model("add"), providers=[PROVIDER])
        ort.unregister_execution_provider_library("example")
        self.assertEqual(device.ep_name, PROVIDER)
        with self.assertRaisesRegex(ort.InvalidArgument, "their library must be registered still"):
            ort.SessionOptions().add_provider_for_devices([device])
        with self.assertRaisesRegex(ort.OrtError, "no execution provider is called 'ExampleKernelExecutionProvider'"):
            ort.InferenceSession(model("add"), providers=[PROVIDER])
        self.assertNotIn(PROVIDER, ort.get_available_providers())
        self.assertEqual(session.run(["scaled"], FEED)[0].tolist(), [22, 44])
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)

    def test_memory_of_a_library_that_is_registered_again(self):
        names = ["ExampleCompileExecutionProvider"]
        session = ort.InferenceSession(model("add"), providers=names)
        ort.unregister_execution_provider_library("example")
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)
        value = ort.OrtValue.ortvalue_from_numpy(floats(1, 2), "examplecompile", 0)
        with self.assertRaisesRegex(ort.InvalidArgument, "in memory of another device"):
            session.run(["sum"], {"a": value, "b": value})
        again = ort.InferenceSession(model("add"), providers=names)
        self.assertEqual(again.run(["sum"], {"a": value, "b": value})[0].tolist(), [2, 4])

    def test_wrong_registrations(self):
        with self.assertRaisesRegex(ort.OrtError, "registered as 'example' already"):
            ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)
        with self.assertRaisesRegex(ort.OrtError, "/no/such.so"):
            ort.register_execution_provider_library("other", "/no/such.so")
        with self.assertRaisesRegex(ort.OrtError, "no plugin library is registered as 'other'"):
            ort.unregister_execution_provider_library("other")
        with self.assertRaisesRegex(ort.InvalidArgument, "devices must come from get_ep_devices"):
            ort.SessionOptions().add_provider_for_devices([])

    def test_providers_of_the_environment(self):
        environment = ort.Environment()
        environment.append_provider(PROVIDER)
        try:
            session = ort.InferenceSession(model("add"), environment=environment)
            self.assertEqual(session.providers_in_use(), [PROVIDER])
        finally:
            environment.clear_providers()
        self.assertEqual(ort.InferenceSession(model("add")).providers_in_use(), ["CPUExecutionProvider"])


if __name__ == "__main__":
    main()
