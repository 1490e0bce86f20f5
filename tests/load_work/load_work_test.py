"""Creating, running and releasing a session takes work in proportion to the model: load_work_test.py PROGRAM VALGRIND.

Each shape of shapes.h is made with few parts and with four times as many; callgrind counts the instructions of both, in
all and in each function by itself. A function whose work grows much faster than the model fails the test as soon as
that is a visible share of the whole, which shows a search in a loop long before it is slow. Counts do not depend on how
busy the machine is.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

FEW = 200
TIMES = 4
MOST_GROWTH = 4.6  # of all work: a little more than the model's, for tables and sorting
MOST_GROWTH_OF_FUNCTION = 7
OF_THE_ALLOCATOR = {"malloc_consolidate", "unlink_chunk.constprop.0", "_int_malloc", "_int_free", "malloc", "free"}
SHARE = 0.005  # of all work, from which on a function is looked at
COUNTED = "load_and_run"


def start(program, valgrind, folder, parts, shapes):
    """Starts a run that leaves a dump a shape in the folder."""
    return subprocess.Popen(
        [valgrind, "--tool=callgrind", f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}", "--dump-line=no",
         f"--callgrind-out-file={folder}/out", program, str(parts), *shapes],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def counts_of(dump):
    """The instructions of each function itself, from a file in callgrind's format."""
    names, counts = {}, collections.Counter()
    function, of_call = None, False
    for line in dump.read_text().splitlines():
        if line.startswith("fn="):
            number, name = re.fullmatch(r"fn=(\(\d+\))(?: (.*))?", line).groups()
            if name:
                names[number] = name
            function = names[number]
        elif line.startswith("cfn="):
            number, name = re.fullmatch(r"cfn=(\(\d+\))(?: (.*))?", line).groups()
            if name:
                names[number] = name
        elif line.startswith("calls="):
            of_call = True
        elif re.match(r"[+*\d-]", line):
            if not of_call:
                counts[function] += int(line.split()[1])
            of_call = False
    return counts


def faults(shape, few, many):
    """What grows too fast, in words."""
    total_few, total_many = sum(few.values()), sum(many.values())
    if total_few == 0:
        return [f"{shape}: nothing was counted"]
    found = []
    if total_many > MOST_GROWTH * total_few:
        found.append(f"{shape}: {total_few} instructions for {FEW} parts, but {total_many} for {FEW * TIMES}, "
                     f"{total_many / total_few:.2f} times as many")
    for function, count in many.items():
        before = few[function]
        if function not in OF_THE_ALLOCATOR and count > SHARE * total_many and count > MOST_GROWTH_OF_FUNCTION * before:
            found.append(f"{shape}: {before} instructions for {FEW} parts, but {count} for {FEW * TIMES} in {function}")
    return found


def main():
    program, valgrind = sys.argv[1:3]
    shapes = sys.argv[3:] or subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for parts in FEW, FEW * TIMES:
            place = pathlib.Path(folder, str(parts))
            place.mkdir()
            runs.append((place, start(program, valgrind, place, parts, shapes)))
        for place, run in runs:
            text = run.communicate()[0]
            if run.returncode != 0:
                sys.exit(f"the program failed:\n{text[-4000:]}")
        found = []
        for i, shape in enumerate(shapes, 1):
            few, many = (counts_of(place / f"out.{i}") for place, _ in runs)
            print(f"{shape:24} {sum(few.values()):12} {sum(many.values()):12} "
                  f"{sum(many.values()) / max(sum(few.values()), 1):.2f}")
            found += faults(shape, few, many)
    if found:
        sys.exit("\n".join(["work that grows faster than the model:", *found]))


if __name__ == "__main__":
    main()
