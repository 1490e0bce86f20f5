"""Sessions: how they are made, what they tell, and runs from arrays to arrays."""
import pathlib
import unittest

import numpy as np
import ortolan as ort
from support import DIGITS, MODELS, floats, main, model


class Loading(unittest.TestCase):
    def test_models_come_from_paths_and_bytes(self):
        path = model("add")
        content = pathlib.Path(path).read_bytes()
        for source in (path, pathlib.Path(path), content, bytearray(content), memoryview(content)):
            session = ort.InferenceSession(source)
            self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])

    def test_bytes_may_be_used_directly(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.use_ort_model_bytes_directly", "1")
        options.add_session_config_entry("session.use_ort_model_bytes_for_initializers", "1")
        session = ort.InferenceSession(pathlib.Path(model("mlp")).read_bytes(), options)
        expected = ort.InferenceSession(model("mlp")).run(None, {"x": np.ones((1, 32), np.float32)})[0]
        np.testing.assert_array_equal(session.run(None, {"x": np.ones((1, 32), np.float32)})[0], expected)

    def test_what_is_no_model_is_refused(self):
        with self.assertRaisesRegex(ort.NoSuchFile, r"^\[ONNXRuntimeError\] : 3 : NO_SUCHFILE : .*/no/such/model.onnx"):
            ort.InferenceSession("/no/such/model.onnx")
        with self.assertRaisesRegex(ort.InvalidProtobuf, "broken.onnx"):
            ort.InferenceSession(model("broken"))
        with self.assertRaisesRegex(ort.InvalidProtobuf, "the file is damaged") as caught:
            ort.InferenceSession(b"x")
        self.assertEqual(caught.exception.code, 7)
        with self.assertRaisesRegex(TypeError, "a model is a path or bytes, not 'int'"):
            ort.InferenceSession(7)

    def test_a_name_outside_utf8_is_a_path(self):
        folder = bytes(MODELS)
        with self.assertRaisesRegex(ort.NoSuchFile, "does not exist"):
            ort.InferenceSession(pathlib.Path((folder + b"/\xff.onnx").decode(errors="surrogateescape")))


class Description(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))

    def test_inputs_and_outputs(self):
        self.assertEqual([(i.name, i.type, i.shape) for i in self.session.get_inputs()],
                         [("a", "tensor(float)", ["n"]), ("b", "tensor(float)", ["n"])])
        self.assertEqual([o.name for o in self.session.get_outputs()], ["sum", "scaled"])
        factor, = self.session.get_overridable_initializers()
        self.assertEqual((factor.name, factor.type, factor.shape), ("factor", "tensor(float)", [1]))

    def test_types_of_all_kinds(self):
        def types(name):
            session = ort.InferenceSession(model(name))
            return [port.type for port in session.get_inputs() + session.get_outputs()]

        self.assertEqual(types("zip_map_words"), ["tensor(float)", "seq(map(string,tensor(float)))"])
        self.assertEqual(types("zip_map_numbers"), ["tensor(float)", "seq(map(int64,tensor(float)))"])
        self.assertEqual(types("sequence_length"), ["seq(tensor(float))", "tensor(int64)"])
        self.assertEqual(types("optional"), ["optional(tensor(float))", "tensor(bool)"])
        self.assertEqual(types("identity_bfloat16"), ["tensor(bfloat16)", "tensor(bfloat16)"])

    def test_unknown_dimensions_are_none(self):
        self.assertEqual(ort.InferenceSession(model("zip_map_words")).get_inputs()[0].shape, [None, 3])

    def test_metadata(self):
        meta = self.session.get_modelmeta()
        self.assertEqual((meta.producer_name, meta.graph_name, meta.domain, meta.version),
                         ("ortolan-tests", "add_graph", "org.ortolan.tests", 7))
        self.assertEqual((meta.description, meta.graph_description), ("adds – and scales", "two nodes"))
        self.assertEqual(meta.custom_metadata_map, {"author": "Ørtolan", "empty": ""})

    def test_the_library(self):
        self.assertRegex(ort.__version__, r"^1\.31\.\d+$")
        self.assertEqual(ort.get_version_string(), ort.__version__)
        self.assertIn("Ortolan", ort.get_build_info())
        self.assertEqual(ort.get_device(), "CPU")
        self.assertIsNone(ort.disable_telemetry_events())
        self.assertIsNone(ort.enable_telemetry_events())


class Running(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model("add"))

    def test_outputs_are_chosen_by_name(self):
        feed = {"a": floats(1, 2), "b": floats(10, 20)}
        for names in (None, [], (), ["sum", "scaled"]):
            total, scaled = self.session.run(names, feed)
            self.assertEqual((total.tolist(), scaled.tolist()), ([11, 22], [22, 44]))
        self.assertEqual([o.tolist() for o in self.session.run(["scaled", "sum"], feed)], [[22, 44], [11, 22]])

    def test_initializers_can_be_overridden(self):
        scaled, = self.session.run(["scaled"], {"a": floats(1), "b": floats(2), "factor": floats(5)})
        self.assertEqual(scaled.tolist(), [15])

    def test_names_need_not_be_the_same_object(self):
        feed = {"".join(["", "a"]): floats(1), bytes([98]).decode(): floats(2)}
        self.assertEqual(self.session.run(["".join(["su", "m"])], feed)[0].tolist(), [3])

    def test_feeds_may_be_any_mapping(self):
        class Feed(dict):
            pass

        import collections
        for kind in (Feed, collections.OrderedDict, lambda d: collections.ChainMap(d)):
            self.assertEqual(self.session.run(["sum"], kind({"a": floats(1), "b": floats(2)}))[0].tolist(), [3])

    def test_regular_expressions_need_nothing_else(self):
        session = ort.InferenceSession(str(DIGITS / "match_regex" / "model.onnx"))
        texts = np.array(["ÜBUNG 12", "room 7"], dtype=object)
        self.assertEqual(session.run(None, {"texts": texts})[0].tolist(), [True, False])

    def test_wrong_feeds_are_refused(self):
        one = floats(1)
        cases = [
            ({"a": one}, ValueError, r"Required inputs \(\['b'\]\) are missing from input feed \(\['a'\]\)\."),
            ({"a": one, "b": np.ones(1)}, ort.InvalidArgument,
             r"Unexpected input data type\. Actual: \(tensor\(double\)\) , expected: \(tensor\(float\)\)"),
            ({"a": one, "b": one, "z": one}, ort.InvalidArgument, "Invalid input name: z; .*'a', 'b', 'factor'"),
            ({"a": one, "b": one.reshape(1, 1)}, ort.InvalidArgument, r"input 'b' has shape .* \[1,1\]"),
            ({"a": one, "b": ["word"]}, ort.InvalidArgument, r"the value does not make a tensor\(float\): '\['word'\]' are not numbers; input 'b'"),
            ({"a": one, "b": object()}, ort.InvalidArgument, "input 'b'"),
            ({"a": one, 3: one}, TypeError, "the names of inputs must be str, not 'int'"),
            (7, TypeError, "the feed must be a dict"),
        ]
        for feed, error, text in cases:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.session.run(None, feed)

    def test_wrong_outputs_are_refused(self):
        feed = {"a": floats(1), "b": floats(2)}
        with self.assertRaisesRegex(ort.InvalidArgument, "'absent'"):
            self.session.run(["absent"], feed)
        for names, said in (([7], "a str is needed, not 'int'"), (7, "must be a sequence of str")):
            with self.assertRaisesRegex(TypeError, said):
                self.session.run(names, feed)

    def test_failing_nodes_are_named(self):
        session = ort.InferenceSession(model("failing"))
        with self.assertRaisesRegex(ort.InvalidArgument, r"node 'picker' \(Gather\): index 7"):
            session.run(None, {"index": [7]})
        self.assertEqual(session.run(None, {"index": [2]})[0].tolist(), [3])

    def test_many_inputs_of_one_run(self):
        wide = ort.InferenceSession(model("many"))
        feed = {f"x{i}": floats(i) for i in range(20)}
        outputs = wide.run(None, feed)
        self.assertEqual([o.tolist() for o in outputs], [[-i] for i in range(20)])

    def test_run_async_calls_back(self):
        import threading
        done, results = threading.Event(), []

        def callback(outputs, user_data, error):
            results.append((outputs, user_data, error))
            done.set()

        self.session.run_async(["sum"], {"a": floats(1), "b": floats(2)}, callback, "mine")
        self.assertTrue(done.wait(60))
        self.assertEqual((results[0][0][0].tolist(), *results[0][1:]), ([3], "mine", ""))
        done.clear()
        self.session.run_async(None, {"a": floats(1)}, callback)
        self.assertTrue(done.wait(60))
        self.assertIn("Required inputs", results[1][2])


class Closing(unittest.TestCase):
    def test_calls_after_close_are_errors(self):
        session = ort.InferenceSession(model("add"))
        session.close()
        session.close()
        for call in (lambda: session.run(None, {"a": floats(1), "b": floats(1)}), session.io_binding, session.get_inputs,
                     session.get_outputs, session.get_overridable_initializers, session.get_modelmeta,
                     session.node_assignments, session.end_profiling, session.get_profiling_start_time_ns,
                     lambda: session.set_providers(["CPUExecutionProvider"]),
                     lambda: session.run_async(None, {}, print)):
            with self.assertRaisesRegex(ValueError, "the (InferenceSession|OrtSession) is closed"):
                call()

    def test_with_closes(self):
        with ort.InferenceSession(model("add")) as session:
            self.assertEqual(session.run(["sum"], {"a": [1], "b": [2]})[0].tolist(), [3])
        with self.assertRaisesRegex(ValueError, "the OrtSession is closed"):
            session.run(None, {})

    def test_outputs_outlive_their_session(self):
        session = ort.InferenceSession(model("identity_float"))
        large, = session.run(None, {"x": np.ones((64, 64), np.float32)})
        session.close()
        del session
        self.assertEqual(large.sum(), 4096)


if __name__ == "__main__":
    main()
