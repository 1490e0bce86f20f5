"""What a run costs from Python: overhead.py MODEL SECONDS. The C program beside it tells what is measured and printed."""
import statistics
import sys
import time

import numpy as np
import ortolan as ort

BATCH = 250  # short enough that most batches are not interrupted on a busy machine


def batch(run, feed_array):
    """Seconds of a batch of runs, each with a new feed, whose 32 results are read."""
    start = time.perf_counter()
    for _ in range(BATCH):
        y, = run(["y"], {"x": feed_array})
        y.tolist()
    return time.perf_counter() - start


def main():
    """Measures for the time asked."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(sys.argv[1], options)
    array = (np.arange(32, dtype=np.float32) / 32).reshape(1, 32)
    end = time.perf_counter() + float(sys.argv[2])
    batches = []
    while time.perf_counter() < end:
        batches.append(batch(session.run, array))
    print(f"median_us {statistics.median(batches) * 1e6 / BATCH:.3f}")


if __name__ == "__main__":
    main()
