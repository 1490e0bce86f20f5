#!/usr/bin/env python3
"""Answers requests with a model on Ray Serve: serve_with_ray.py MODEL RESULT...

A request is POSTed as JSON: a list of numbers for each input of the model, by name. So is the answer, by the names of the
results. Requests that come together are run together.
"""
import argparse
import asyncio
import pathlib

import numpy as np
import ray
from ray import serve

import scoring


@serve.deployment(num_replicas=2, ray_actor_options={"num_cpus": 1})
class Scorer:
    """A replica: one process with one session."""

    def __init__(self, model, results):
        self.session, self.results = scoring.session(model), results

    async def __call__(self, request):
        return await self.score(await request.json())

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.002)
    async def score(self, requests):
        """The answers; meanwhile the replica takes the next requests."""
        return await asyncio.to_thread(self.run, requests)

    def run(self, requests):
        """The answers of one run."""
        feed = {port.name: np.array([request[port.name] for request in requests], numpy_type(port)).reshape(
            [len(requests), *(size if isinstance(size, int) else -1 for size in port.shape[1:])])
            for port in self.session.get_inputs()}
        values = self.session.run(self.results, feed)
        return [dict(zip(self.results, (value[i].ravel().tolist() for value in values))) for i in range(len(requests))]


def numpy_type(port):
    """NumPy's type of an input."""
    return {"tensor(float)": np.float32, "tensor(int64)": np.int64}[port.type]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--port", type=int, default=8000)
    chosen = parser.parse_args()

    ray.init(runtime_env={"py_modules": [str(pathlib.Path(__file__).with_name("scoring.py"))]})
    serve.start(http_options={"host": "127.0.0.1", "port": chosen.port})
    serve.run(Scorer.bind(chosen.model, chosen.results), blocking=True)


if __name__ == "__main__":
    main()
