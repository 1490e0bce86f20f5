"""What is measured: points of models, threads, batches and callers, and the programs that measure one of them."""
import dataclasses
import itertools
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# Name: how sizes are written after the file, and whether several callers run it with every batch too.
MODELS = {
    "mobilenet_v2": ("batch={}", True),
    "resnet50": ("batch={}", False),
    "bert_base": ("batch={},sequence=128", False),
    "lstm": ("", True),
    "mlp": ("batch={}", True),
}
QUICK_MODELS = ("mobilenet_v2", "lstm", "mlp")
MEMORY_OF_FILE = 2.5  # times a model's size that a session may take, with its weights in other forms


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    model: str
    batch: int
    threads: int
    callers: int
    many: bool  # sessions: one for each caller

    def __str__(self):
        sessions = "a session each" if self.many else "one session"
        return f"{self.model}, batch {self.batch}, {self.threads} threads, {self.callers} callers, {sessions}"


@dataclasses.dataclass(frozen=True)
class Side:
    name: str
    program: tuple  # before the options of a point
    library: tuple = ()  # after them
    wants_inputs: bool = False  # is told the inputs that a library has shown


@dataclasses.dataclass
class Effort:
    seconds: float = 1
    runs: int = 0  # of each caller; 0: as many as the seconds hold
    level: int = 99
    timeout: float = 600


def sizes_of(model):
    """The rule for the sizes in an argument; a model that is not in the list has a file and no batch."""
    return MODELS.get(model, ("", True))


def points_of(model, threads, batches, callers, sessions, at_threads, every_batch=False):
    """One caller with every number of threads, then more callers with the numbers of threads `at_threads`."""
    sizes, light = sizes_of(model)
    batches = batches if "batch" in sizes else batches[:1]
    for batch, count in itertools.product(batches, threads):
        yield Point(model, batch, count, 1, False)
    more = [count for count in callers if count > 1]
    batches = batches if light or every_batch else batches[:1]
    for batch, count, many, several in itertools.product(batches, at_threads, sessions, more):
        yield Point(model, batch, count, several, many)


def available_memory():
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def fits_memory(point, file):
    """Whether the sessions of a point leave half of the memory that is free."""
    sessions = point.callers if point.many else 1
    return file.stat().st_size * MEMORY_OF_FILE * sessions < available_memory() / 2


def argument(point, file):
    sizes = sizes_of(point.model)[0].format(point.batch)
    return f"{file}@{sizes}" if sizes else str(file)


def measure(side, point, file, effort, inputs=()):
    """The figures of one point in one library, or None with a reason."""
    options = ["--threads", point.threads, "--callers", point.callers, *(["--many"] if point.many else []),
               "--seconds", effort.seconds, "--runs", effort.runs, "--level", effort.level]
    if side.wants_inputs:
        options += ["--inputs", json.dumps(inputs)]
    words = [*side.program, *options, *side.library, argument(point, file)]
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=effort.timeout,
                              check=False)
    except subprocess.TimeoutExpired:
        return None, f"took more than {effort.timeout:g} s"
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"ended with {done.returncode}"
    return json.loads(done.stdout), ""
