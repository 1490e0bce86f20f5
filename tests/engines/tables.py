"""Tables of the tests, in the Python of an engine: tables.py VERB ARGUMENTS.

  digits FOLDER ROWS       pictures for the digits network: id, image
  texts FOLDER ROWS        short texts for BERT, as the ids of their words: id, input_ids, attention_mask, token_type_ids
  reference SOURCES MODEL TABLE OUT BATCH RESULT...
                           what scoring.py of the folder SOURCES makes of a table in this process alone
  compare FOLDER FOLDER    fails unless both hold the same rows, each once, to the last bit
  rows FOLDER...           the rows of tables side by side as JSON, without their ids
"""
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20
LENGTH = 32  # words of a text
WORDS = 30000


def lists(values):
    rows, width = values.shape
    return pa.ListArray.from_arrays(np.arange(rows + 1, dtype=np.int32) * width, values.ravel())


def digit_columns(random, rows):
    return {"image": (random.integers(0, 17, (rows, 64)) / 16).astype(np.float32)}


def text_columns(random, rows):
    mask = (np.arange(LENGTH) < random.integers(4, LENGTH + 1, (rows, 1))).astype(np.int64)
    return {"input_ids": random.integers(1000, WORDS, (rows, LENGTH)) * mask, "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask)}


def write(folder, rows, files, columns):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    random = np.random.default_rng(SEED)
    for number, ids in enumerate(np.array_split(np.arange(rows), files)):
        made = {name: lists(values) for name, values in columns(random, len(ids)).items()}
        pq.write_table(pa.table({"id": ids, **made}), folder / f"{number:04}.parquet")


def reference(sources, model, table, out, batch, *results):
    sys.path.insert(0, sources)
    import scoring  # pylint: disable=import-outside-toplevel,import-error
    scored = scoring.score(scoring.session(model), read(table), list(results), int(batch))
    pathlib.Path(out).mkdir()
    pq.write_table(scored, pathlib.Path(out, "all.parquet"))


def read(folder):
    files = sorted(pathlib.Path(folder).rglob("*.parquet"))
    return pa.concat_tables([pq.read_table(path) for path in files]).sort_by("id").combine_chunks()


def compare(one, other):
    tables = [read(one), read(other)]
    if tables[0].column("id") != tables[1].column("id"):
        sys.exit(f"tables: {one} has {tables[0].num_rows} rows and {other} {tables[1].num_rows}, or others")
    for name in tables[0].column_names[1:]:
        flat = [table.column(name).combine_chunks().flatten().to_numpy() for table in tables]
        if not np.array_equal(*(values.view(np.int32) for values in flat)):
            sys.exit(f"tables: {name} of {one} and {other} differ by up to {np.abs(flat[0] - flat[1]).max()}")
    print(tables[0].num_rows)


def rows(*folders):
    print(json.dumps(list(zip(*(read(folder).drop_columns("id").to_pylist() for folder in folders)))))


VERBS = {"digits": lambda folder, rows: write(folder, int(rows), 32, digit_columns),
         "texts": lambda folder, rows: write(folder, int(rows), 20, text_columns),
         "reference": reference, "compare": compare, "rows": rows}

if __name__ == "__main__":
    VERBS[sys.argv[1]](*sys.argv[2:])
