"""Log lines: to a function of Python, on any thread, and how much of them."""
import gc
import subprocess
import sys
import threading
import unittest

import ortolan as ort
from support import floats, main, model


class Environments(unittest.TestCase):
    def collect(self):
        self.lines = []
        return lambda *line: self.lines.append((*line, threading.get_ident()))

    def test_lines_go_to_the_logger(self):
        with ort.Environment(ort.OrtLoggingLevel.VERBOSE, "mine", self.collect()) as environment:
            session = ort.InferenceSession(model("add"), environment=environment)
            session.run(None, {"a": floats(1), "b": floats(2)})
            session.close()
        self.assertTrue(self.lines)
        severity, category, log_id, where, message, _ = self.lines[0]
        self.assertIn(severity, range(5))
        self.assertEqual((category, log_id), ("onnxruntime", "mine"))
        self.assertTrue(where and message)

    def test_the_level_counts(self):
        with ort.Environment(ort.OrtLoggingLevel.ERROR, "mine", self.collect()) as environment:
            ort.InferenceSession(model("add"), environment=environment)
            self.assertEqual(self.lines, [])
            environment.set_log_severity_level(ort.OrtLoggingLevel.VERBOSE)
            ort.InferenceSession(model("add"), environment=environment)
            self.assertTrue(self.lines)

    def test_sessions_keep_their_environment(self):
        environment = ort.Environment(ort.OrtLoggingLevel.VERBOSE, "mine", self.collect())
        session = ort.InferenceSession(model("add"), environment=environment)
        environment.close()
        environment.close()
        del environment
        gc.collect()
        self.lines.clear()
        options = ort.RunOptions()
        options.log_severity_level = 0
        session.run(None, {"a": floats(1), "b": floats(2)}, options)
        with self.assertRaisesRegex(ort.InvalidArgument, "the process has an environment already"):
            ort.Environment(logger=print)

    def test_a_closed_environment_is_refused(self):
        environment = ort.Environment()
        environment.close()
        for call in (environment.get_ep_devices, lambda: environment.set_log_severity_level(2),
                     lambda: environment.register_execution_provider_library("x", "y"),
                     lambda: ort.InferenceSession(model("add"), environment=environment)):
            with self.assertRaisesRegex(ValueError, "the OrtEnv is closed"):
                call()

    def test_loggers_that_fail_do_no_harm(self):
        def fail(*_):
            raise KeyError("in the logger")

        hooked = []
        hook, sys.unraisablehook = sys.unraisablehook, hooked.append
        try:
            with ort.Environment(ort.OrtLoggingLevel.VERBOSE, "mine", fail) as environment:
                session = ort.InferenceSession(model("add"), environment=environment)
                self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])
        finally:
            sys.unraisablehook = hook
        self.assertTrue(hooked)
        self.assertIsInstance(hooked[0].exc_value, KeyError)
        hooked.clear()


    def test_sessions_have_loggers_of_their_own(self):
        lines, environment = [], ort.Environment()
        options = ort.SessionOptions()
        options.set_logger(lambda *line: lines.append(line))
        options.log_severity_level = 0
        options.logid = "seßion"
        session = ort.InferenceSession(model("add"), options, environment=environment)
        del options
        gc.collect()
        self.assertTrue(any("seßion" in line[2] for line in lines))
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])


class Defaults(unittest.TestCase):
    def run_program(self, *lines):
        program = "\n".join(["import ortolan as ort, sys", *lines])
        return subprocess.run([sys.executable, "-B", "-X", "dev", "-W", "error", "-c", program, model("add")],
                              capture_output=True, text=True, check=True).stderr

    def test_the_default_severity(self):
        load = "session = ort.InferenceSession(sys.argv[1])"
        self.assertEqual(self.run_program(load), "")
        self.assertIn("[V:onnxruntime:", self.run_program("ort.set_default_logger_severity(0)", load))
        self.assertEqual(self.run_program("ort.set_default_logger_severity(0)", "ort.set_default_logger_severity(4)",
                                          "ort.set_default_logger_verbosity(1)", load), "")

    def test_the_end_of_a_program_that_logs(self):
        stderr = self.run_program(
            "environment = ort.Environment(0, 'mine', lambda *line: None)",
            "session = ort.InferenceSession(sys.argv[1], environment=environment)",
            "binding = session.io_binding()", "sys.kept = session, binding")
        self.assertNotIn("Traceback", stderr)
        self.assertNotIn("Fatal", stderr)

    def test_the_end_of_a_program_with_threads_in_loggers(self):
        self.run_program(
            "import threading, time",
            "class SlowToFlush:",
            "    closed = False",
            "    def flush(self): time.sleep(0.6)",
            "entered, options = threading.Event(), ort.SessionOptions()",
            "options.log_severity_level = 0",
            "options.set_logger(lambda *line: (entered.set(), time.sleep(0.3)))",
            "load = lambda: ort.InferenceSession(sys.argv[1], options)",
            "threading.Thread(target=load, daemon=True).start()", "entered.wait()",
            "sys.stdout = SlowToFlush()")


if __name__ == "__main__":
    main()
