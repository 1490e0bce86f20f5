#!/usr/bin/env python3
"""Scores a table with a model on Spark: spark-submit --py-files scoring.py score_with_spark.py MODEL INPUT OUTPUT RESULT...

INPUT is a folder of Parquet files with the column id and, for each input of the model, a column of that name with a list
of numbers a row. OUTPUT gets id and, for each named RESULT of the model, a list of numbers a row.
"""
import argparse
import time

import ortolan as ort
import pyarrow as pa
from pyspark.sql import SparkSession

import scoring


def scorer(model, broadcast, results):
    """The function for mapInArrow; the model is a path on every node or, where it is not None, the broadcast bytes."""
    def score(batches):
        opened = scoring.session(model) if broadcast is None else ort.InferenceSession(broadcast.value)
        for batch in batches:
            yield from scoring.score(opened, batch, results, len(batch)).to_batches()
    return score


def pandas_scorer(score):
    """The same for mapInPandas."""
    def score_frames(frames):
        for batch in score(pa.RecordBatch.from_pandas(frame, preserve_index=False) for frame in frames):
            yield batch.to_pandas()
    return score_frames


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("model", "input", "output"):
        parser.add_argument(name)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--broadcast", action="store_true", help="the model is on this machine only, and small")
    parser.add_argument("--pandas", action="store_true", help="by mapInPandas, for those whose function wants frames")
    parser.add_argument("--batch", type=int, default=1024, help="rows a run (default %(default)s)")
    chosen = parser.parse_args()

    spark = SparkSession.builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", chosen.batch).getOrCreate()
    broadcast = None
    if chosen.broadcast:
        with open(chosen.model, "rb") as file:
            broadcast = spark.sparkContext.broadcast(file.read())
    score = scorer(chosen.model, broadcast, chosen.results)
    schema = ", ".join(["id long", *(f"`{name}` array<float>" for name in chosen.results)])
    begin = time.perf_counter()
    rows = spark.read.parquet(chosen.input)
    scored = rows.mapInPandas(pandas_scorer(score), schema) if chosen.pandas else rows.mapInArrow(score, schema)
    scored.write.parquet(chosen.output)
    print(f"seconds: {time.perf_counter() - begin:.2f}")
    spark.stop()


if __name__ == "__main__":
    main()
