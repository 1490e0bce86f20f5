"""Stress: threads that make, run, bind, close and drop everything in any order, with the garbage collector at work. Memory
must not grow after a warm-up. ORTOLAN_STRESS_SECONDS is how long it goes, 6 by default."""
import ctypes
import gc
import os
import random
import threading
import time
import unittest

import numpy as np
import ortolan as ort
from support import floats, main, model

SECONDS = float(os.environ.get("ORTOLAN_STRESS_SECONDS", 6))
ALLOWED_GROWTH = 8 << 20


def resident():
    """Bytes of memory that the process has in use: what the C library keeps of freed memory is given back first."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def run_arrays(session):
    x = np.ones((1, 32), np.float32)
    assert session.run(None, {"x": x})[0].shape == (1, 32)
    session.run(["y"], {"x": [[0.5] * 32]})


def run_bound(session):
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.ones((1, 32), np.float32))
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    if random.random() < 0.5:
        binding.close()
    assert outputs[0].numpy().shape == (1, 32)


def run_wrong(session):
    for feed in ({}, {"x": np.ones((1, 32))}, {"x": floats(1)}, {"z": floats(1)}):
        try:
            session.run(None, feed)
        except (ValueError, ort.InvalidArgument):
            continue
        raise AssertionError(f"{feed} was taken")


def run_values(session):
    value = ort.OrtValue.ortvalue_from_numpy(np.ones((1, 32), np.float32))
    view = value.numpy(copy=False)
    output, = session.run_with_ort_values(None, {"x": value})
    value.close()
    assert view.sum() == 32 and output.shape() == [1, 32]


def run_large(_):
    session = ort.InferenceSession(model("identity_float"))
    output, = session.run(None, {"x": np.ones((300, 300), np.float32)})
    cycle = [output, session]
    cycle.append(cycle)  # left to the collector


def run_containers(_):
    maps = ort.InferenceSession(model("zip_map_words"))
    assert len(maps.run(None, {"x": np.ones((4, 3), np.float32)})[0]) == 4
    texts = ort.InferenceSession(model("identity_string"))
    assert texts.run(None, {"x": [["a" * 100] * 10]})[0][0, 9] == "a" * 100
    sequence = ort.OrtValue.ortvalue_from_sequence([np.ones(1000, np.float32)] * 3)
    assert len(sequence.to_python()) == 3


def run_options(_):
    options = ort.SessionOptions()
    options.intra_op_num_threads = random.choice([1, 2])
    options.set_logger(lambda *_: None)
    options.add_initializer("factor", ort.OrtValue.ortvalue_from_numpy(floats(3)))
    session = ort.InferenceSession(model("add"), options, providers=["CPUExecutionProvider"])
    del options
    assert session.run(["scaled"], {"a": floats(1), "b": floats(1)})[0].tolist() == [6]
    session.node_assignments(), session.get_modelmeta(), session.get_inputs()


WORK = (run_arrays, run_arrays, run_bound, run_wrong, run_values, run_large, run_containers, run_options)


class Shared:
    """A session that the threads share, that any of them may close and replace."""

    def __init__(self):
        self.session = self.make()

    def make(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        return ort.InferenceSession(model("mlp"), options)

    def replace(self):
        old, self.session = self.session, self.make()
        old.close()


def work(shared, until, errors):
    """Does random things until then."""
    try:
        while time.monotonic() < until and not errors:
            if random.random() < 0.02:
                shared.replace()
            if random.random() < 0.02:
                gc.collect()
            try:
                random.choice(WORK)(shared.session)
            except ValueError as error:
                if "closed" not in str(error):
                    raise
    except BaseException as error:  # pylint: disable=broad-except
        errors.append(error)
        raise


def round_of(seconds):
    """A round of work on four threads; memory afterwards."""
    shared, errors, until = Shared(), [], time.monotonic() + seconds
    workers = [threading.Thread(target=work, args=(shared, until, errors)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    del shared
    return resident()


class Stress(unittest.TestCase):
    def test_nothing_grows(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        random.seed(seed)
        warm = max(round_of(SECONDS / 6) for _ in range(3))
        after = min(round_of(SECONDS / 6) for _ in range(3))
        print(f"memory {warm >> 10} KB after the warm-up, {after >> 10} KB after the work")
        self.assertLess(after, warm + ALLOWED_GROWTH)


if __name__ == "__main__":
    main()
