"""Pools of threads that sessions share."""
import os
import unittest

import numpy as np
import ortolan as ort
from support import main, model


def threads():
    """Threads of this process."""
    return len(os.listdir("/proc/self/task"))


class Pools(unittest.TestCase):
    def sessions(self, count, **arguments):
        """Sessions that have run once, which starts the threads that they need."""
        options = ort.SessionOptions()
        options.use_per_session_threads = False
        sessions = [ort.InferenceSession(model("add"), options, **arguments) for _ in range(count)]
        large = np.ones(1 << 22, np.float32)
        for session in sessions:
            self.assertEqual(session.run(["sum"], {"a": large, "b": large})[0].max(), 2)
        return sessions

    def test_sessions_share_the_pools_of_their_environment(self):
        before = threads()
        with ort.Environment(global_thread_pools=(4, 1, False)) as environment:
            kept = self.sessions(1, environment=environment)
            self.assertEqual(threads(), before + 3)
            kept += self.sessions(5, environment=environment)
            self.assertEqual(threads(), before + 3)
            del kept
        self.assertEqual(threads(), before)

    def test_the_default_pools(self):
        ort.set_global_thread_pool_sizes(3, 1)
        before = threads()
        kept = self.sessions(3)
        self.assertEqual(threads(), before + 2)
        self.assertEqual(len(kept), 3)
        with self.assertRaisesRegex(ort.InvalidArgument, "before the first session"):
            ort.set_global_thread_pool_sizes(2, 1)


if __name__ == "__main__":
    main()
