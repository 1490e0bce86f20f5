"""One point in OpenVINO, with the options and the line of figures of the program scaling; needs the package openvino.

Each caller has an infer request of its own, which it starts and waits for. A session is a compiled model; several
callers of one share it in as many streams as there are callers, at most one for each thread.
"""
import argparse
import json
import math
import resource
import threading
import time

import numpy as np
import openvino

WARMING_RUNS = 2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a file; sizes after @ are those of the inputs")
    parser.add_argument("--inputs", type=json.loads, required=True, help="name, type and shape of each, as JSON")
    for name, kind, default in (("threads", int, 1), ("callers", int, 1), ("seconds", float, 1), ("runs", int, 0),
                                ("level", int, 99)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--many", action="store_true", help="a compiled model for each caller")
    return parser.parse_args()


def made_up(entry, generator):
    kind = np.dtype(entry["type"])
    if kind.kind == "f":
        return generator.uniform(-1, 1, entry["shape"]).astype(kind)
    return generator.integers(0, 2, entry["shape"]).astype(kind)


def compiled_models(options):
    core = openvino.Core()
    model = core.read_model(options.model.rpartition("@")[0] or options.model)
    model.reshape({entry["name"]: entry["shape"] for entry in options.inputs})
    streams = 1 if options.many else min(options.callers, options.threads)
    settings = {"INFERENCE_NUM_THREADS": options.threads, "NUM_STREAMS": streams, "INFERENCE_PRECISION_HINT": "f32"}
    return [core.compile_model(model, "CPU", settings) for _ in range(options.callers if options.many else 1)]


def call(request, runs, seconds, times):
    """`runs` runs, or, where that is 0, at least one and none that would begin after `seconds`."""
    start = before = time.perf_counter()
    while not times or (len(times) < runs if runs else before - start < seconds):
        request.start_async()
        request.wait()
        after = time.perf_counter()
        times.append((after - before) * 1000)
        before = after


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def call_all(requests, runs, seconds):
    times = [[] for _ in requests]
    threads = [threading.Thread(target=call, args=(request, runs, seconds, own))
               for request, own in zip(requests, times, strict=True)]
    cpu_before, start = cpu_seconds(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(sum(times, [])), time.perf_counter() - start, cpu_seconds() - cpu_before


def percentile(ordered, share):
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def main():
    options = arguments()
    generator = np.random.default_rng(1)
    values = {entry["name"]: made_up(entry, generator) for entry in options.inputs}
    models = compiled_models(options)
    requests = [models[i % len(models)].create_infer_request() for i in range(options.callers)]
    for request in requests:
        for name, value in values.items():
            request.set_tensor(name, openvino.Tensor(value))
    call_all(requests, WARMING_RUNS, 0)
    times, seconds, cpu = call_all(requests, options.runs, options.seconds)
    runs = len(times)
    print(json.dumps({"runs": runs, "per_second": runs / seconds, "mean_ms": sum(times) / runs,
                      "p50_ms": percentile(times, 0.5), "p90_ms": percentile(times, 0.9),
                      "p99_ms": percentile(times, 0.99), "cpu_ms": cpu * 1000 / runs,
                      "inputs": options.inputs}))


if __name__ == "__main__":
    main()
