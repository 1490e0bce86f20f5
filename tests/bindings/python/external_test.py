"""What session options bring to a session from outside: initializers, files in memory, cancelling, choice of devices."""
import gc
import pathlib
import unittest

import numpy as np
import ortolan as ort
from support import EXAMPLE_PROVIDER, floats, main, model

ONES = {"x": np.ones(256, np.float32)}
PROVIDER = "ExampleKernelExecutionProvider"


def external_bytes():
    return pathlib.Path(model("external")).read_bytes()


class Initializers(unittest.TestCase):
    def setUp(self):
        self.options = ort.SessionOptions()

    def test_values_replace_those_of_files(self):
        self.options.add_external_initializers(["weights"], [ort.OrtValue.ortvalue_from_numpy(np.full(256, 3, np.float32))])
        gc.collect()
        session = ort.InferenceSession(model("external"), self.options)
        del self.options
        gc.collect()
        self.assertEqual(session.run(None, ONES)[0].tolist(), [3] * 256)

    def test_wrong_values(self):
        value = ort.OrtValue.ortvalue_from_numpy(floats(1))
        with self.assertRaisesRegex(ValueError, "there are 1 names and 0 values"):
            self.options.add_external_initializers(["weights"], [])
        with self.assertRaisesRegex(TypeError, "an OrtValue is needed, not 'int'"):
            self.options.add_external_initializers(["weights"], [5])
        with self.assertRaisesRegex(TypeError, "a str is needed, not 'int'"):
            self.options.add_external_initializers([5], [value])
        self.options.add_external_initializers(["weights"], [value])
        with self.assertRaisesRegex(TypeError, "hold the memory of external initializers cannot be pickled"):
            self.options.__reduce__()

    def test_files_in_memory(self):
        weights = np.arange(256, 0, -1, dtype=np.float32)
        for content in (weights.tobytes() + b"more", bytearray(weights.tobytes()), weights):
            options = ort.SessionOptions()
            options.add_external_initializers_from_files_in_memory(["external.bin"], [content], [1024])
            session = ort.InferenceSession(external_bytes(), options)
            self.assertEqual(session.run(None, ONES)[0].tolist(), weights.tolist())

    def test_wrong_files_in_memory(self):
        add = self.options.add_external_initializers_from_files_in_memory
        with self.assertRaisesRegex(ort.InvalidArgument, "there are 1 names, 0 buffers and 0 lengths"):
            add(["a"], [], [])
        for length in (-1, 4):
            with self.assertRaisesRegex(ort.InvalidArgument, f"the length {length} of file 'a' is outside its buffer of 3"):
                add(["a"], [b"abc"], [length])
        with self.assertRaisesRegex(TypeError, "contiguous buffer of bytes, not a 'int'"):
            add(["a"], [5], [1])
        add(["external.bin"], [bytes(100)], [100])
        with self.assertRaisesRegex(ort.OrtError, "external.bin"):
            ort.InferenceSession(external_bytes(), self.options)


class Loading(unittest.TestCase):
    def test_cancelling(self):
        options = ort.SessionOptions()
        options.set_load_cancellation_flag(True)
        with self.assertRaisesRegex(ort.ModelLoadCanceled, "MODEL_LOAD_CANCELED"):
            ort.InferenceSession(model("add"), options)
        options.set_load_cancellation_flag(False)
        self.assertEqual(len(ort.InferenceSession(model("add"), options).get_inputs()), 2)


class Delegates(unittest.TestCase):
    def setUp(self):
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)
        self.addCleanup(ort.unregister_execution_provider_library, "example")
        self.options = ort.SessionOptions()

    def open(self, delegate):
        self.options.set_provider_selection_policy_delegate(delegate)
        return ort.InferenceSession(model("add"), self.options)

    def test_the_delegate_chooses(self):
        seen = []

        def choose(devices, model_metadata, runtime_metadata, most):
            seen.append((devices, model_metadata, runtime_metadata, most))
            return [device for device in devices if device.ep_name == PROVIDER]

        session = self.open(choose)
        self.assertEqual(session.providers_in_use(), [PROVIDER])
        devices, model_metadata, runtime_metadata, most = seen[0]
        self.assertIn("CPUExecutionProvider", [device.ep_name for device in devices])
        self.assertEqual((model_metadata["graph_name"], runtime_metadata), ("add_graph", {}))
        self.assertGreaterEqual(most, 1)
        self.assertTrue(self.options.has_providers())
        with self.assertRaisesRegex(TypeError, "hold a function that selects devices cannot be pickled"):
            self.options.__reduce__()

    def test_none(self):
        session = self.open(None)
        self.assertEqual((session.providers_in_use(), self.options.has_providers()), (["CPUExecutionProvider"], False))
        self.options.set_provider_selection_policy_delegate(lambda *_: [])
        with self.assertRaisesRegex(ort.InvalidArgument, "cannot be taken back"):
            self.options.set_provider_selection_policy_delegate(None)

    def test_wrong_choices(self):
        for delegate, said in ((lambda *_: 1 // 0, "ZeroDivisionError"), (lambda *_: [], "did not choose any device"),
                               (lambda *_: 5, "TypeError: 'int' object is not iterable"),
                               (lambda *_: ["cpu"], "chose 'cpu', which is none of the devices"),
                               (lambda devices, *_: devices * 20, "more devices were chosen than a session takes")):
            with self.assertRaisesRegex(ort.Fail, said):
                self.open(delegate)
        with self.assertRaisesRegex(TypeError, "the delegate must be a callable or None, not 'int'"):
            self.options.set_provider_selection_policy_delegate(5)


class Sessions(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))

    def test_groups_of_nodes(self):
        groups = self.session.get_provider_graph_assignment_info()
        nodes = [(group.ep_name, node.name, node.domain, node.op_type) for group in groups for node in group.get_nodes()]
        flat = [(node.provider, node.node, node.domain, node.op_type) for node in self.session.node_assignments()]
        self.assertEqual(nodes, flat)
        self.assertTrue(nodes)

    def test_dynamic_options(self):
        self.session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Efficient"})
        with self.assertRaisesRegex(ort.InvalidArgument, "no options are given"):
            self.session.set_ep_dynamic_options({})

    def test_tuning_results(self):
        self.assertEqual(self.session.get_tuning_results(), [])
        self.session.set_tuning_results([])
        result = {"ep": "CPUExecutionProvider", "validators": {}, "results": {}}
        with self.assertWarnsRegex(UserWarning, "CPUExecutionProvider has no kernels that are tuned"):
            self.session.set_tuning_results([result])
        with self.assertRaisesRegex(ort.Fail, "tuning results 0 are not used"):
            self.session.set_tuning_results([result], error_on_invalid=True)
        with self.assertRaisesRegex(KeyError, "ep"):
            self.session.set_tuning_results([{}])

    def test_captured_graphs(self):
        self.session.release_captured_graph()
        self.session.release_captured_graph(4)
        with self.assertRaisesRegex(TypeError, "graph_annotation_id must be an int, not 'str'"):
            self.session.release_captured_graph("x")
        self.session.close()
        with self.assertRaisesRegex(ValueError, "the InferenceSession is closed"):
            self.session.release_captured_graph()

    def test_paths_to_fetches(self):
        options = ort.RunOptions()
        self.assertFalse(options.only_execute_path_to_fetches)
        options.only_execute_path_to_fetches = True
        self.assertTrue(options.only_execute_path_to_fetches)
        feed = {"a": floats(1), "b": floats(2)}
        self.assertEqual(self.session.run(["sum"], feed, options)[0].tolist(), [3])


if __name__ == "__main__":
    main()
