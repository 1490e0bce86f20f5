"""Options and sessions that other processes get: by pickle, as engines for many machines send them."""
import copy
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import ortolan as ort
from support import MODELS, floats, main, model

FEED = {"a": floats(1, 2), "b": floats(3, 4)}


def again(thing):
    """What another process would get."""
    return pickle.loads(pickle.dumps(thing))


class Options(unittest.TestCase):
    def test_settings_survive(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 3
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.logid = "worker"
        options.enable_mem_pattern = False
        options.profile_file_prefix = "there"
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        for restored in (again(options), copy.deepcopy(options), again(again(options))):
            self.assertEqual(restored.intra_op_num_threads, 3)
            self.assertEqual(restored.graph_optimization_level, ort.GraphOptimizationLevel.ORT_ENABLE_BASIC)
            self.assertEqual(restored.execution_mode, ort.ExecutionMode.ORT_PARALLEL)
            self.assertEqual((restored.logid, restored.enable_mem_pattern), ("worker", False))
            self.assertEqual((restored.profile_file_prefix, restored.enable_profiling), ("there", False))
            self.assertEqual(restored.get_session_config_entry("session.intra_op.allow_spinning"), "1")
            self.assertFalse(restored.has_providers())
            with self.assertRaisesRegex(ort.InvalidArgument, "have no entry"):
                restored.get_session_config_entry("session.disable_prepacking")

    def test_restored_options_reach_the_library(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("n", 2)
        options.add_provider("CPUExecutionProvider")
        restored = again(options)
        self.assertTrue(restored.has_providers())
        session = ort.InferenceSession(model("add"), restored)
        self.assertEqual([port.shape for port in session.get_inputs()], [[2], [2]])
        with tempfile.TemporaryDirectory() as folder:
            options.optimized_model_filepath = os.path.join(folder, "rewritten.onnx")
            ort.InferenceSession(model("add"), again(options))
            self.assertEqual(os.listdir(folder), ["rewritten.onnx"])

    def test_what_belongs_to_the_process_is_refused(self):
        logging, holding = ort.SessionOptions(), ort.SessionOptions()
        logging.set_logger(print)
        holding.add_initializer("factor", ort.OrtValue.ortvalue_from_numpy(floats(2)))
        for options, what in ((logging, "a logger"), (holding, "the memory of the initializer 'factor'")):
            with self.assertRaisesRegex(TypeError, f"hold {what} cannot be pickled; make them in the process that uses them"):
                pickle.dumps(options)
            with self.assertRaisesRegex(TypeError, what):
                pickle.dumps(ort.InferenceSession(model("add"), options))


class Sessions(unittest.TestCase):
    def test_a_session_of_a_path_is_loaded_again(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(model("add"), options, ["CPUExecutionProvider"], disabled_optimizers=["one", "two"])
        restored = again(session)
        np.testing.assert_array_equal(restored.run(["sum"], FEED), session.run(["sum"], FEED))
        self.assertEqual(restored.get_session_options().intra_op_num_threads, 1)
        self.assertEqual(restored.get_providers(), ["CPUExecutionProvider"])
        self.assertEqual(pickle.dumps(again(restored)), pickle.dumps(restored))

    def test_another_process_in_another_folder_runs_it(self):
        before = os.getcwd()
        os.chdir(MODELS)
        try:
            content = pickle.dumps(ort.InferenceSession("add.onnx"))
        finally:
            os.chdir(before)
        program = ("import pickle, sys, numpy as np; session = pickle.load(sys.stdin.buffer);"
                   "print(session.run(['sum'], {name: np.ones(2, np.float32) for name in 'ab'})[0].tolist())")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program], cwd=folder, input=content, stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.decode().strip(), "[2.0, 2.0]")

    def test_options_of_providers_and_fallback_go_along(self):
        providers = [("CUDAExecutionProvider", {"device_id": "1"}), "CPUExecutionProvider"]
        with self.assertWarnsRegex(UserWarning, "CUDAExecutionProvider is not used"):
            content = pickle.dumps(ort.InferenceSession(model("add"), providers=providers))
        self.assertIn(b"device_id", content)
        with self.assertWarnsRegex(UserWarning, "CUDAExecutionProvider is not used"):
            pickle.loads(content)

    def test_a_session_of_bytes_says_what_to_do(self):
        session = ort.InferenceSession(pathlib.Path(model("add")).read_bytes())
        with self.assertRaisesRegex(TypeError, "made from bytes cannot be pickled; open the session in the worker"):
            pickle.dumps(session)

    def test_a_closed_session_is_refused(self):
        session = ort.InferenceSession(model("add"))
        session.close()
        with self.assertRaisesRegex(ValueError, "the InferenceSession is closed"):
            pickle.dumps(session)

    def test_a_model_that_is_gone_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(model("add"), folder)
            content = pickle.dumps(ort.InferenceSession(path))
        with self.assertRaisesRegex(ort.NoSuchFile, "the model of a pickled session is not here: .*/add.onnx does not exist"):
            pickle.loads(content)

    def test_a_model_that_was_exchanged_for_another_thing_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(shutil.copy(model("add"), folder))
            content = pickle.dumps(ort.InferenceSession(path))
            path.write_bytes(b"x")
            with self.assertRaisesRegex(ort.InvalidProtobuf, "the file is damaged"):
                pickle.loads(content)


if __name__ == "__main__":
    main()
