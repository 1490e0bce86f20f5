"""IO binding: inputs and outputs bound once."""
import gc
import threading
import unittest

import numpy as np
import ortolan as ort
from support import floats, main, model


class Binding(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))
        self.binding = self.session.io_binding()

    def run_bound(self):
        self.session.run_with_iobinding(self.binding)
        return [output.tolist() for output in self.binding.copy_outputs_to_cpu()]

    def test_arrays_are_bound_in_place(self):
        a = floats(1, 2)
        self.binding.bind_cpu_input("a", a)
        self.binding.bind_cpu_input("b", floats(10, 20))
        self.binding.bind_output("sum")
        self.assertEqual(self.run_bound(), [[11, 22]])
        a[:] = 5
        self.assertEqual(self.run_bound(), [[15, 25]])

    def test_what_is_bound_stays_alive(self):
        self.binding.bind_cpu_input("a", np.full(10000, 1, np.float32))
        self.binding.bind_ortvalue_input("b", ort.OrtValue.ortvalue_from_numpy(np.full(10000, 2, np.float32)))
        self.binding.bind_output("sum", "cpu", 0, np.float32, [10000])
        gc.collect()
        junk = [np.full(10000, -1, np.float32) for _ in range(4)]
        self.session.run_with_iobinding(self.binding)
        value, = self.binding.get_outputs()
        del self.binding, self.session
        gc.collect()
        self.assertEqual((value.numpy().min(), value.numpy().max(), len(junk)), (3, 3, 4))

    def test_arrays_that_are_not_contiguous_are_copied(self):
        base = np.arange(6, dtype=np.float32)
        self.binding.bind_cpu_input("a", base[::2])
        self.binding.bind_cpu_input("b", base[::-2].astype(">f4"))
        self.binding.bind_output("sum")
        self.assertEqual(self.run_bound(), [[5, 5, 5]])

    def test_outputs_in_place(self):
        target = np.zeros(2, np.float32)
        value = ort.OrtValue.ortvalue_from_numpy(target)
        self.binding.bind_cpu_input("a", floats(1, 2))
        self.binding.bind_cpu_input("b", floats(3, 4))
        self.binding.bind_ortvalue_output("sum", value)
        self.binding.bind_output("scaled")
        self.assertEqual(self.run_bound(), [[4, 6], [8, 12]])
        self.assertEqual(target.tolist(), [4, 6])
        self.assertEqual(self.binding.get_output_names(), ["sum", "scaled"])

    def test_memory_at_addresses(self):
        a, target = floats(1, 2), np.zeros(2, np.float32)
        self.binding.bind_input("a", "cpu", 0, np.float32, [2], a.ctypes.data)
        self.binding.bind_input(name="b", device_type="cpu", device_id=0, element_type=np.float32, shape=a.shape,
                                buffer_ptr=a.ctypes.data)
        self.binding.bind_output(name="sum", device_type="cpu", device_id=0, element_type=np.float32,
                                 shape=target.shape, buffer_ptr=target.ctypes.data)
        self.session.run_with_iobinding(self.binding)
        self.assertEqual(target.tolist(), [2, 4])
        with self.assertRaisesRegex(ort.InvalidArgument, "must not be negative"):
            self.binding.bind_input("a", "cpu", 0, np.float32, [-2], a.ctypes.data)

    def test_bindings_are_cleared(self):
        self.binding.bind_cpu_input("a", floats(1))
        self.binding.bind_cpu_input("b", floats(1))
        self.binding.bind_output("sum")
        self.binding.synchronize_inputs()
        self.assertEqual(self.run_bound(), [[2]])
        self.binding.synchronize_outputs()
        self.binding.clear_binding_outputs()
        self.binding.bind_output("scaled")
        self.assertEqual(self.run_bound(), [[4]])
        self.binding.clear_binding_inputs()
        with self.assertRaisesRegex(ort.InvalidArgument, "input 'a' is missing"):
            self.session.run_with_iobinding(self.binding)

    def test_wrong_bindings_are_refused(self):
        with self.assertRaisesRegex(ort.InvalidArgument, r"Actual: \(tensor\(double\)\)"):
            self.binding.bind_cpu_input("a", np.ones(1))
        with self.assertRaisesRegex(ort.OrtError, "no input of that name"):
            self.binding.bind_cpu_input("absent", floats(1))
        with self.assertRaisesRegex(ort.OrtError, "no output of that name"):
            self.binding.bind_output("absent")
        with self.assertRaisesRegex(ort.InvalidArgument, "no registered provider has a device 'cuda' with the number 0"):
            self.binding.bind_output("sum", "cuda")
        with self.assertRaisesRegex(ValueError, "memory of the device 'cuda' is bound as an OrtValue"):
            self.binding.bind_input("a", "cuda", 0, np.float32, [1], 4096)

    def test_texts_and_other_types(self):
        session = ort.InferenceSession(model("identity_string"))
        binding = session.io_binding()
        binding.bind_cpu_input("x", np.array([["a", "ö"]], object))
        binding.bind_output("y")
        session.run_with_iobinding(binding)
        self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), [["a", "ö"]])
        maps = ort.InferenceSession(model("zip_map_words"))
        binding = maps.io_binding()
        binding.bind_cpu_input("x", np.ones((1, 3), np.float32))
        binding.bind_output("maps")
        maps.run_with_iobinding(binding)
        self.assertEqual(binding.copy_outputs_to_cpu(), [[{"cat": 1, "dög": 1, "bird": 1}]])

    def test_copies_are_copies(self):
        self.binding.bind_cpu_input("a", floats(1))
        self.binding.bind_cpu_input("b", floats(1))
        self.binding.bind_output("sum", "cpu", 0, np.float32, [1])
        self.session.run_with_iobinding(self.binding)
        first, = self.binding.copy_outputs_to_cpu()
        self.binding.bind_cpu_input("b", floats(8))
        self.session.run_with_iobinding(self.binding)
        self.assertEqual((first.tolist(), self.binding.copy_outputs_to_cpu()[0].tolist()), ([2], [9]))

    def test_calls_after_close_are_errors(self):
        with self.binding:
            pass
        self.binding.close()
        for call in (lambda: self.binding.bind_cpu_input("a", floats(1)), lambda: self.binding.bind_output("sum"),
                     self.binding.get_outputs, self.binding.copy_outputs_to_cpu, self.binding.get_output_names,
                     self.binding.clear_binding_inputs, self.binding.clear_binding_outputs,
                     self.binding.synchronize_inputs, lambda: self.session.run_with_iobinding(self.binding)):
            with self.assertRaisesRegex(ValueError, "the OrtIoBinding is closed"):
                call()

    def test_bindings_outlive_their_session(self):
        self.binding.bind_cpu_input("a", floats(1))
        self.session.close()
        with self.assertRaisesRegex(ValueError, "the InferenceSession is closed"):
            self.session.run_with_iobinding(self.binding)
        self.binding.bind_cpu_input("b", floats(1))

    def test_bindings_are_of_one_session(self):
        other = ort.InferenceSession(model("add"))
        with self.assertRaisesRegex(ort.InvalidArgument, "made by another session's io_binding"):
            other.run_with_iobinding(self.binding)
        self.binding.bind_cpu_input("a", floats(1))
        self.binding.bind_cpu_input("b", floats(2))
        self.binding.bind_output("sum")
        self.session.set_providers(["CPUExecutionProvider"])
        self.assertEqual(self.run_bound(), [[3]])

    def test_arrays_that_are_not_writeable_are_no_outputs(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.frombuffer(bytes(8), np.float32))
        self.binding.bind_ortvalue_input("a", value)
        with self.assertRaisesRegex(ort.InvalidArgument, "over an array that is not writeable"):
            self.binding.bind_ortvalue_output("sum", value)
        with self.assertRaisesRegex(ort.InvalidArgument, "over an array that is not writeable"):
            value.update_inplace(floats(1, 2))
        self.assertFalse(value.numpy(copy=False).flags.writeable)
        self.assertTrue(value.numpy().flags.writeable)

    def test_close_waits_for_the_run(self):
        session, options = ort.InferenceSession(model("endless")), ort.RunOptions()
        binding = session.io_binding()
        binding.bind_cpu_input("x", floats(0))
        binding.bind_output("y")
        ended = []

        def run():
            try:
                session.run_with_iobinding(binding, options)
            except ort.Fail as error:
                ended.append(str(error))

        runner = threading.Thread(target=run)
        runner.start()
        threading.Timer(0.3, lambda: setattr(options, "terminate", True)).start()
        while not binding._lock.locked() and not ended:
            pass
        session.close()
        binding.close()
        runner.join(60)
        self.assertEqual(len(ended), 1)
        self.assertIn("terminate", ended[0])


if __name__ == "__main__":
    main()
