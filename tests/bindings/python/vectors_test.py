"""Vectors of values: run_with_ortvaluevector, SessionIOBinding and OrtValueVector."""
import unittest

import numpy as np
import ortolan as ort
from ortolan.capi.onnxruntime_pybind11_state import OrtValueVector
from support import floats, main, model

CPU = ort.OrtDevice.make("cpu", 0)


def vector(*arrays):
    values = OrtValueVector()
    for array in arrays:
        values.push_back(ort.OrtValue.ortvalue_from_numpy(array))
    return values


class Runs(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))
        self.feeds = vector(floats(1, 2), floats(10, 20))

    def run_into(self, names, fetches, devices=()):
        self.session.run_with_ortvaluevector(ort.RunOptions(), ["a", "b"], self.feeds, names, fetches, devices)
        return [value.numpy().tolist() for value in fetches]

    def test_outputs_are_added(self):
        self.assertEqual(self.run_into(["scaled", "sum"], OrtValueVector(), [CPU, CPU]), [[22, 44], [11, 22]])
        self.assertEqual(self.run_into(["sum"], OrtValueVector()), [[11, 22]])

    def test_outputs_in_place(self):
        target = floats(0, 0)
        self.assertEqual(self.run_into(["sum"], vector(target), [CPU]), [[11, 22]])
        self.assertEqual(target.tolist(), [11, 22])

    def test_wrong_lengths(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "there are 1 names of outputs and 2 devices"):
            self.run_into(["sum"], OrtValueVector(), [CPU, CPU])
        with self.assertRaisesRegex(ort.InvalidArgument, "there are 2 names of outputs and 1 values to write"):
            self.run_into(["sum", "scaled"], vector(floats(0, 0)))
        with self.assertRaisesRegex(ort.InvalidArgument, "there are 1 names of inputs and 2 values"):
            self.session.run_with_ortvaluevector(None, ["a"], self.feeds, ["sum"], OrtValueVector())


class Bindings(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))
        self.binding = ort.SessionIOBinding(self.session)

    def test_runs(self):
        b = floats(10, 20)
        self.binding.bind_input("a", floats(1, 2))
        self.binding.bind_input("b", CPU, np.float32, [2], b.ctypes.data)
        self.binding.bind_output("sum", CPU)
        target = floats(0, 0)
        self.binding.bind_output("scaled", CPU, np.float32, [2], target.ctypes.data)
        self.binding.synchronize_inputs()
        self.session.run_with_iobinding(self.binding)
        self.binding.synchronize_outputs()
        outputs = self.binding.get_outputs()
        self.assertIsInstance(outputs, OrtValueVector)
        self.assertEqual((outputs[0].numpy().tolist(), target.tolist()), ([11, 22], [22, 44]))
        self.assertEqual(self.binding.copy_outputs_to_cpu()[0].tolist(), [11, 22])

    def test_values(self):
        values = vector(floats(1), floats(2), floats(0))
        self.binding.bind_ortvalue_input("a", values[0])
        self.binding.bind_ortvalue_input("b", values[1])
        self.binding.bind_ortvalue_output("sum", values[2])
        self.session.run_with_iobinding(self.binding, ort.RunOptions())
        self.assertEqual(values[2].numpy().tolist(), [3])
        self.binding.clear_binding_outputs()
        self.binding.clear_binding_inputs()
        with self.assertRaisesRegex(ort.InvalidArgument, "input 'a' is missing"):
            self.binding.bind_output("sum", CPU)
            self.session.run_with_iobinding(self.binding)

    def test_wrong_devices(self):
        with self.assertRaisesRegex(TypeError, "an OrtDevice is needed, not 'str'"):
            self.binding.bind_output("sum", "cpu")
        with self.assertRaisesRegex(ort.InvalidArgument, "no registered provider has a device 'cuda'"):
            self.binding.bind_output("sum", ort.OrtDevice.make("cuda", 0))


class Vectors(unittest.TestCase):
    def test_lists(self):
        values = vector(floats(1), np.array([2], np.int64))
        values.push_back(floats(3))
        self.assertEqual(([value.numpy().tolist() for value in values], values.element_type_at(1), len(values)),
                         ([[1], [2], [3]], ort.TensorElementType.INT64, 3))
        self.assertEqual([array.tolist() for array in values.to_dlpacks(ort.OrtValue.from_dlpack) and
                          [ort.OrtValue.from_dlpack(capsule).numpy() for capsule in values.to_dlpacks()]], [[1], [2], [3]])
        self.assertEqual(ort.OrtValue.from_dlpack(values.dlpack_at(0)).numpy().tolist(), [1])
        values.reserve(8)
        values.shrink_to_fit()
        with self.assertRaisesRegex(IndexError, "out of range"):
            values[5]

    def test_batches(self):
        values, arrays = OrtValueVector(), [floats(1, 2), np.array([3], np.int32)]
        values.push_back_batch(arrays, [array.ctypes.data for array in arrays], [np.float32, np.int32], [[2], [1]], [CPU, CPU])
        del arrays
        self.assertEqual([value.numpy().tolist() for value in values], [[1, 2], [3]])
        with self.assertRaisesRegex(ort.InvalidArgument, "must be as many"):
            values.push_back_batch([floats(1)], [], [], [], [])
        with self.assertRaisesRegex(TypeError, "capsule named 'dltensor'"):
            values.push_back(5)


if __name__ == "__main__":
    main()
