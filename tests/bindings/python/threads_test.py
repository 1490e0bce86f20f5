"""Threads: runs at the same time, closing meanwhile, and the interpreter's lock."""
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import ortolan as ort
from support import floats, main, model


class Threads(unittest.TestCase):
    def test_runs_at_the_same_time(self):
        session = ort.InferenceSession(model("mlp"))
        inputs = [np.full((1, 32), number, np.float32) for number in range(8)]
        expected = [session.run(None, {"x": x})[0] for x in inputs]

        def work(i):
            for _ in range(300):
                np.testing.assert_array_equal(session.run(None, {"x": inputs[i]})[0], expected[i])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

    def test_other_threads_go_on_during_a_run(self):
        session, options = ort.InferenceSession(model("endless")), ort.RunOptions()
        ended = []

        def run():
            try:
                session.run(None, {"x": floats(0)}, options)
            except ort.Fail as error:
                ended.append(error)

        runner = threading.Thread(target=run)
        runner.start()
        time.sleep(0.2)  # this line would not end if the run kept the interpreter's lock
        self.assertEqual(ended, [])
        options.terminate = True
        runner.join(60)
        self.assertEqual(len(ended), 1)

    def test_close_during_a_run(self):
        session, options = ort.InferenceSession(model("endless")), ort.RunOptions()
        ended = []

        def run():
            try:
                session.run(None, {"x": floats(0)}, options)
            except ort.Fail as error:
                ended.append(error)

        runner = threading.Thread(target=run)
        runner.start()
        time.sleep(0.2)
        session.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            session.run(None, {"x": floats(0)}, options)
        self.assertEqual(ended, [])
        options.terminate = True
        runner.join(60)
        self.assertEqual(len(ended), 1)

    def test_close_races_with_runs(self):
        for _ in range(50):
            session = ort.InferenceSession(model("mlp"))
            started = threading.Barrier(4)
            unexpected = []

            def work():
                started.wait()
                try:
                    for _ in range(200):
                        session.run(None, {"x": np.ones((1, 32), np.float32)})
                except ValueError as error:
                    if "closed" not in str(error):
                        unexpected.append(error)

            workers = [threading.Thread(target=work) for _ in range(3)]
            for worker in workers:
                worker.start()
            started.wait()
            session.close()
            for worker in workers:
                worker.join()
            self.assertEqual(unexpected, [])

    def test_feeds_that_change_during_a_run(self):
        session = ort.InferenceSession(model("add"))
        feed, stop = {"a": floats(1), "b": floats(2)}, threading.Event()

        def change():
            while not stop.is_set():
                feed["a"] = floats(1)
                feed["b"] = np.array([2], ">f4")

        changer = threading.Thread(target=change)
        changer.start()
        for _ in range(2000):
            self.assertEqual(session.run(["sum"], feed)[0].tolist(), [3])
        stop.set()
        changer.join()

    def test_conversions_that_change_the_feed(self):
        session = ort.InferenceSession(model("add"))
        feed = {}

        class Changing(list):
            def __iter__(self):
                feed.clear()
                return super().__iter__()

            def __len__(self):
                feed.clear()
                return super().__len__()

        feed.update(a=Changing([1.0, 2.0]), b=floats(1, 1))
        self.assertEqual(session.run(["sum"], feed)[0].tolist(), [2, 3])

    def test_providers_change_during_runs(self):
        session, stop = ort.InferenceSession(model("add")), threading.Event()

        def run():
            while not stop.is_set():
                self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])

        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(run) for _ in range(2)]
            for _ in range(50):
                session.set_providers(["CPUExecutionProvider"])
            stop.set()
            for future in runs:
                future.result()

    def test_loading_lets_other_threads_go_on(self):
        with ThreadPoolExecutor(4) as pool:
            sessions = list(pool.map(lambda _: ort.InferenceSession(model("mlp")), range(40)))
        self.assertEqual(len({s.run(None, {"x": np.ones((1, 32), np.float32)})[0].tobytes() for s in sessions}), 1)


class Exit(unittest.TestCase):
    def end_program(self, *lines):
        program = "\n".join(["import sys, threading, time", "import numpy as np", "import ortolan as ort", *lines])
        return subprocess.run([sys.executable, "-B", "-X", "dev", "-W", "error", "-c", program, model("endless")],
                              capture_output=True, text=True, check=False, timeout=100)

    def test_a_program_ends_during_a_run(self):
        result = self.end_program(
            "session = ort.InferenceSession(sys.argv[1])", "feed = {'x': np.zeros(1, np.float32)}",
            "threading.Thread(target=session.run, args=(None, feed), daemon=True).start()", "time.sleep(0.3)",
            "print('the end')")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "the end\n", ""))

    def test_a_program_ends_with_everything_alive(self):
        result = self.end_program(
            "options = ort.SessionOptions()", "session = ort.InferenceSession(sys.argv[1], options)",
            "binding = session.io_binding()", "binding.bind_cpu_input('x', np.zeros(1, np.float32))",
            "value = ort.OrtValue.ortvalue_from_numpy(np.zeros(1, np.float32))", "cycle = [session, value]",
            "cycle.append(cycle)", "sys.kept = binding, cycle", "print('the end')")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "the end\n", ""))


if __name__ == "__main__":
    main()
