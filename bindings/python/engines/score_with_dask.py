#!/usr/bin/env python3
"""Scores a table with a model on Dask: score_with_dask.py MODEL INPUT OUTPUT RESULT...

INPUT is a folder of Parquet files with the column id and, for each input of the model, a column of that name with a list
of numbers a row. OUTPUT gets id and, for each named RESULT of the model, a list of numbers a row. The cluster is that of
DASK_SCHEDULER_ADDRESS, or one on this machine.
"""
import argparse
import pathlib
import time

import pyarrow.parquet as pq
from distributed import Client, as_completed

import scoring


def score_file(path, chosen):
    """One task: a file of the table. What it writes counts when it has its name, so that it may be done again."""
    table = scoring.score(scoring.session(chosen.model), pq.read_table(path), chosen.results, chosen.batch)
    part = chosen.output / f".{path.name}"
    pq.write_table(table, part)
    part.rename(chosen.output / path.name)
    return table.num_rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--batch", type=int, default=1024, help="rows a run (default %(default)s)")
    chosen = parser.parse_args()

    chosen.output.mkdir()
    with Client() as client:
        client.upload_file(str(pathlib.Path(__file__).with_name("scoring.py")))
        begin = time.perf_counter()
        tasks = client.map(score_file, sorted(chosen.input.glob("*.parquet")), chosen=chosen)
        rows = sum(task.result() for task in as_completed(tasks))
        print(f"rows: {rows}\nseconds: {time.perf_counter() - begin:.2f}")


if __name__ == "__main__":
    main()
