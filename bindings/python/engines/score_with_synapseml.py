#!/usr/bin/env python3
"""Scores a table with SynapseML's ONNXModel on Spark: score_with_synapseml.py MODEL INPUT OUTPUT RESULT...

INPUT is a folder of Parquet files with the column id and, for each input of the model, a column of that name with a list
of numbers a row. OUTPUT gets id and, for each named RESULT of the model, a list of numbers a row. Nothing here names
Ortolan: spark.md says by which options SynapseML loads it.
"""
import argparse
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from synapse.ml.onnx import ONNXModel


def nested(lists, shape):
    """A column of flat lists as the lists of lists that SynapseML wants for an input of more than two dimensions."""
    def grouped(column, size):
        last = (F.size(column) / size).cast("int") - 1
        return F.transform(F.sequence(F.lit(0), last), lambda i: F.slice(column, i * size + 1, F.lit(size)))

    for size in reversed(shape[2:]):
        lists = grouped(lists, size)
    return lists


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("model", "input", "output"):
        parser.add_argument(name)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--batch", type=int, default=1024, help="rows a run (default %(default)s)")
    chosen = parser.parse_args()

    spark = SparkSession.builder.getOrCreate()
    begin = time.perf_counter()
    rows = spark.read.parquet(chosen.input)
    with open(chosen.model, "rb") as file:
        model = ONNXModel().setModelPayload(file.read())
    inputs = model.getModelInputs()
    rows = rows.select("id", *(nested(F.col(name), port.value_info.shape).alias(name) for name, port in inputs.items()))
    model.setFeedDict({name: name for name in inputs})
    model.setFetchDict({name: name for name in chosen.results}).setDeviceType("CPU").setMiniBatchSize(chosen.batch)
    model.transform(rows).select("id", *chosen.results).write.parquet(chosen.output)
    print(f"seconds: {time.perf_counter() - begin:.2f}")
    spark.stop()


if __name__ == "__main__":
    main()
