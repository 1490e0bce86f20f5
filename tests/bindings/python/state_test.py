"""What is behind the classes: operators, kernels, devices of the machine, and where log lines go."""
import pathlib
import subprocess
import sys
import unittest

import ortolan as ort
from ortolan.capi import onnxruntime_pybind11_state as state
from support import main, model


class Operators(unittest.TestCase):
    def test_schemas(self):
        schemas = [schema for schema in state.get_all_operator_schema() if (schema.domain, schema.name) == ("", "Conv")]
        self.assertIn(11, [schema.since_version for schema in schemas])
        self.assertEqual([value.name for value in schemas[0].inputs], ["X", "W", "B"])
        self.assertEqual((schemas[0].min_input, schemas[0].max_input, schemas[0].deprecated), (2, 3, False))
        concat = next(schema for schema in state.get_all_operator_schema() if schema.name == "Concat")
        self.assertEqual(concat.max_input, 2**31 - 1)

    def test_kernels(self):
        kernels = [kernel for kernel in state.get_all_opkernel_def() if (kernel.domain, kernel.op_name) == ("", "Gemm")]
        self.assertEqual({kernel.provider for kernel in kernels}, {"CPUExecutionProvider"})
        self.assertIn("tensor(float)", kernels[-1].type_constraints["T"])
        self.assertEqual(kernels[-1].version_range[1], 2**31 - 1)
        self.assertIn("com.microsoft", {kernel.domain for kernel in state.get_all_opkernel_def()})


class Machine(unittest.TestCase):
    def setUp(self):
        self.device = ort.get_ep_devices()[-1]

    def test_devices(self):
        devices = state.get_hardware_devices()
        self.assertIn(ort.OrtHardwareDeviceType.CPU, [device.type for device in devices])
        details = state.get_hardware_device_ep_incompatibility_details("CPUExecutionProvider", devices[0])
        self.assertEqual(details, {"reasons_bitmask": 0, "notes": None, "error_code": 0})
        with self.assertRaisesRegex(TypeError, "an OrtHardwareDevice is needed, not 'int'"):
            state.get_hardware_device_ep_incompatibility_details("CPUExecutionProvider", 5)
        devices[0].device_id = 12345
        with self.assertRaisesRegex(ort.InvalidArgument, "the machine has no device"):
            state.get_hardware_device_ep_incompatibility_details("CPUExecutionProvider", devices[0])

    def test_compatibility(self):
        self.assertEqual(state.get_model_compatibility_for_ep_devices([self.device], "x"),
                         state.OrtCompiledModelCompatibility.EP_NOT_APPLICABLE)
        self.assertIsNone(state.get_compatibility_info_from_model(model("add"), "CPUExecutionProvider"))
        whole = pathlib.Path(model("add")).read_bytes()
        self.assertIsNone(state.get_compatibility_info_from_model_bytes(whole, "CPUExecutionProvider"))
        with self.assertRaisesRegex(TypeError, "an OrtEpDevice is needed, not 'int'"):
            state.get_model_compatibility_for_ep_devices([5], "x")
        with self.assertRaisesRegex(ort.NoSuchFile, "/no/such"):
            state.get_compatibility_info_from_model("/no/such", "CPUExecutionProvider")

    def test_defaults(self):
        self.assertEqual(state.get_default_session_options().intra_op_num_threads, 0)
        self.assertIsInstance(state.get_session_initializer(), state.SessionObjectInitializer)
        self.assertIs(state.kSameAsRequested, state.ArenaExtendStrategy.kSameAsRequested)

    def test_seeds(self):
        with self.assertWarnsRegex(UserWarning, "attribute seed"):
            ort.set_seed(5)
        with self.assertRaisesRegex(TypeError, "a seed must be an int, not 'str'"):
            ort.set_seed("5")


LOGS = """
import sys
import ortolan as ort
lines = []
ort.set_default_logger_callback(lambda *line: lines.append(line), ort.OrtLoggingLevel.VERBOSE)
ort.get_ep_devices()
ort.InferenceSession(sys.argv[1])
assert lines and len(lines[0]) == 5 and isinstance(lines[0][0], int), lines
count = len(lines)
ort.set_default_logger_callback(None)
session = ort.InferenceSession(sys.argv[1])
assert len(lines) == count
ort.set_default_logger_callback(lines.append)
print("swapped")
"""
TOO_LATE = """
import sys
import ortolan as ort
session = ort.InferenceSession(sys.argv[1])
ort.set_default_logger_callback(None)
ort.set_default_logger_callback(print)
"""


class Logs(unittest.TestCase):
    def run_program(self, program):
        return subprocess.run([sys.executable, "-B", "-c", program, model("add")], capture_output=True, text=True, check=False)

    def test_a_callback_gets_the_lines(self):
        result = self.run_program(LOGS)
        self.assertEqual((result.returncode, result.stdout), (0, "swapped\n"), result.stderr)
        self.assertIn("[V:", result.stderr)

    def test_too_late(self):
        self.assertIn("set the callback before the first session and plugin library", self.run_program(TOO_LATE).stderr)

    def test_wrong_callbacks(self):
        with self.assertRaisesRegex(TypeError, "must be a callable or None, not 'int'"):
            ort.set_default_logger_callback(5)
        with self.assertRaisesRegex(ValueError, "9 is not a valid OrtLoggingLevel"):
            ort.set_default_logger_callback(print, 9)


if __name__ == "__main__":
    main()
