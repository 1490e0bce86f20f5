"""What a worker of any engine does: keeps one session a process, and scores Arrow tables with it."""
import functools

import numpy as np
import ortolan as ort
import pyarrow as pa
import pyarrow.compute as pc


@functools.cache
def session(model):
    """The process's only session of the model at that path, with as many threads as the engine gives its task."""
    return ort.InferenceSession(model)


def array(table, port):
    """The numbers for an input of the model, not copied: the column of its name has a list of them for each row."""
    lists = table.column(port.name)
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    lengths = pc.min_max(pc.list_value_length(lists)).as_py()
    if lists.null_count or lengths["min"] != lengths["max"]:
        raise ValueError(f"column {port.name}: {lists.null_count} rows have no list, the others {lengths['min']} to "
                         f"{lengths['max']} numbers; pad them all to one length")
    rows = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
    return rows.reshape(-1, *port.shape[1:]) if all(isinstance(size, int) for size in port.shape[1:]) else rows


def column(value):
    """A result of the model as a column: a list of numbers a row."""
    rows = np.ascontiguousarray(value).reshape(len(value), -1)
    return pa.ListArray.from_arrays(np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1], rows.ravel())


def score(opened, table, results, batch=1024):
    """A table with the id and the named results of each row; the model runs on that many rows at a time."""
    parts = []
    for begin in range(0, table.num_rows, batch):
        some = table.slice(begin, batch)
        values = opened.run(results, {port.name: array(some, port) for port in opened.get_inputs()})
        parts.append(pa.table({"id": some.column("id"), **dict(zip(results, map(column, values)))}))
    return pa.concat_tables(parts)
