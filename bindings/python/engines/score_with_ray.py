#!/usr/bin/env python3
"""Scores a table with a model on Ray Data: score_with_ray.py MODEL INPUT OUTPUT RESULT...

INPUT is a folder of Parquet files with the column id and, for each input of the model, a column of that name with a list
of numbers a row. OUTPUT gets id and, for each named RESULT of the model, a list of numbers a row.
"""
import argparse
import pathlib
import sys
import time

import ray

import scoring

BATCHES_A_BLOCK = 8  # what is lost when a worker dies


class Scorer:
    """An actor: one process with one session."""

    def __init__(self, model, results, batch):
        self.session, self.results, self.batch = scoring.session(model), results, batch

    def __call__(self, table):
        return scoring.score(self.session, table, self.results, self.batch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("model", "input", "output"):
        parser.add_argument(name)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--workers", type=int, default=2, help="actors of one CPU each (default %(default)s)")
    parser.add_argument("--batch", type=int, default=1024, help="rows a run (default %(default)s)")
    chosen = parser.parse_args()

    ray.init(runtime_env={"py_modules": [str(pathlib.Path(__file__).with_name("scoring.py"))]})
    processors = int(ray.cluster_resources()["CPU"])
    if processors <= chosen.workers:  # actors that hold them all would wait for rows for ever
        sys.exit(f"score_with_ray: {chosen.workers} workers and a reader need more than the cluster's {processors} processors; "
                 f"set --workers to less than {processors}")
    begin = time.perf_counter()
    rows = ray.data.read_parquet(chosen.input).repartition(target_num_rows_per_block=BATCHES_A_BLOCK * chosen.batch)
    scored = rows.map_batches(Scorer, fn_constructor_args=(chosen.model, chosen.results, chosen.batch), batch_size=None,
                              batch_format="pyarrow", num_cpus=1, concurrency=chosen.workers)
    scored.write_parquet(chosen.output)
    print(f"seconds: {time.perf_counter() - begin:.2f}")


if __name__ == "__main__":
    main()
