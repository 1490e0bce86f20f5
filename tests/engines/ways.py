"""The engines: what each needs, how a cluster of two workers is started on this machine, and how its program is run."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import processes

TOP = pathlib.Path(__file__).resolve().parents[2]
PYTHON_PROGRAMS = TOP / "bindings/python/engines"
JAVA_PROGRAMS = TOP / "bindings/java/engines"
MICROSOFT = "com.microsoft.onnxruntime:onnxruntime:1.29.0"
SYNAPSEML = "com.microsoft.azure:synapseml-deep-learning_2.12:1.1.0"
COMPAT = TOP / "build/lib/compat"
LOOPBACK = "127.0.0.2"  # Ray takes the machine's outer address for 127.0.0.1
ARROW = ["pyarrow==26.0.1", "pandas==3.1.1"]
STARTED_WITHIN = 400


class Missing(Exception):
    """What cannot be had here: the way is skipped."""


def free_port(host="127.0.0.1"):
    with socket.socket() as free:
        free.bind((host, 0))
        return free.getsockname()[1]


def until(condition, what):
    """The first true answer."""
    deadline = time.monotonic() + STARTED_WITHIN
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} takes more than {STARTED_WITHIN} s; the logs in build/engines say why")
        time.sleep(0.1)
    return answer


def background(command, log, environment):
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)


def fetch_jars(artifact, folder):
    """Has Maven bring an artifact and what it needs, without what Spark has of it."""
    if folder.exists():
        return
    if not shutil.which("mvn"):
        raise Missing("mvn is missing; install the package maven")
    group, name, version = artifact.split(":")
    with tempfile.TemporaryDirectory() as temporary:
        pom = pathlib.Path(temporary, "pom.xml")
        pom.write_text(f"""<project><modelVersion>4.0.0</modelVersion><groupId>engines</groupId><artifactId>jars</artifactId>
            <version>1</version><dependencies><dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>
            <version>{version}</version></dependency></dependencies></project>""")
        part = folder.with_suffix(".part")
        done = subprocess.run(["mvn", "-B", "-q", "-f", pom, "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:"
                               "copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={part}",
                               "-DexcludeGroupIds=org.apache.spark,org.scala-lang,org.slf4j,org.testng,org.openpnp"],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"mvn cannot get {artifact}: {done.stdout.partition('[ERROR] ')[2].partition(' -> ')[0]}")
    part.rename(folder)


class Way:
    """Python programs in a virtual environment with the engine; those for other languages differ below."""
    name = program = ""
    packages = []
    library = "libortolan.so.1"  # what a worker has loaded
    compares = True  # whether there is a program for the official package

    def __init__(self, folder):
        self.folder = folder / (self.environment_name or self.name)
        self.python = self.folder / "venv/bin/python"

    environment_name = ""

    def variables(self):
        """Those of every process of the engine."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "OMP_NUM_THREADS")}
        return {**kept, "PATH": f"{self.folder / 'venv/bin'}:{kept['PATH']}"}

    def prepare(self, wheel, official):
        """Gets what is missing; the wheel is installed anew."""
        if not self.python.exists():
            subprocess.run(["/usr/bin/python3", "-m", "venv", self.folder / "venv"], check=True)
        self.install("setuptools", "wheel", *self.packages, *([official] if self.compares and official else []))
        self.install("--no-deps", "--force-reinstall", str(wheel))

    def install(self, *packages):
        done = subprocess.run([self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"pip cannot get {' '.join(packages)}: {done.stderr.strip().splitlines()[-1]}")

    def sources(self, work, package):
        """The programs; for the official package with their import changed, and with the threads that ours takes unasked; for
        STILL with a session that runs nothing."""
        folder = work / "sources"
        shutil.copytree(PYTHON_PROGRAMS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        imported = ("import ortolan as ort", f"import {package} as ort")
        if package == STILL:
            replace_once(folder / "scoring.py", ("ort.InferenceSession(model)", "Still(model)"), ("@functools.cache", STILL_CODE))
        elif package != "ortolan":
            replace_once(folder / "scoring.py", imported, ("ort.InferenceSession(model)", "alone(model)"),
                         ("@functools.cache", ALONE_CODE))
            for path in folder.glob("*_with_*.py"):
                path.write_text(path.read_text().replace(*imported))
        return folder

    @contextlib.contextmanager
    def cluster(self, work):
        """The variables by which programs find it."""
        del work
        yield self.variables()

    def command(self, sources, job, out):
        return [self.python, sources / self.program, job.model, job.table, out, *job.results, "--batch", str(job.batch)]

    worker = ""  # what the command line of a worker's process has in it

    def workers(self, library):
        """The processes to kill for the workers that have loaded it: each itself or the one above it."""
        found = ([pid for pid in processes.upwards(loader) if self.worker in processes.reads(pid, "cmdline")]
                 for loader in processes.with_library(library))
        return sorted({pids[0] for pids in found if pids})

    def loaded(self, package):
        return self.library if package == "ortolan" else "onnxruntime_pybind11_state"


def replace_once(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        if text.count(old) != 1:
            raise RuntimeError(f"{path}: expected {old!r} once")
        text = text.replace(old, new)
    path.write_text(text)


ALONE_CODE = '''def alone(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model, options)


@functools.cache'''

STILL = "none"  # the engine alone, with what is around a run
STILL_CODE = '''class Still:
    def __init__(self, model):
        session = ort.InferenceSession(model)
        self.inputs = session.get_inputs()
        self.shapes = {port.name: port.shape for port in session.get_outputs()}

    def get_inputs(self):
        return self.inputs

    def run(self, names, feeds):
        rows = len(next(iter(feeds.values())))
        return [np.zeros((rows, *self.shapes[name][1:]), np.float32) for name in names]


@functools.cache'''


class Spark(Way):
    name = environment_name = "spark"
    program = "score_with_spark.py"
    packages = ["pyspark==3.5.9", *ARROW]
    worker = "CoarseGrainedExecutorBackend"
    options = []

    def variables(self):
        return {**super().variables(), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(self.python)}

    def submit(self, *options):
        return [self.folder / "venv/bin/spark-submit", "--master", "local-cluster[2,1,1024]", "--conf", "spark.ui.enabled=false",
                "--conf", "spark.sql.files.minPartitionNum=32", *options]

    def command(self, sources, job, out):
        return [*self.submit(*self.extras(sources)), sources / self.program, *self.options, job.model, job.table, out,
                *job.results, "--batch", str(job.batch)]

    def extras(self, sources):
        return ["--py-files", sources / "scoring.py"]


class SparkPandas(Spark):
    name = "spark-pandas"
    options = ["--pandas", "--broadcast"]
    compares = False


class SparkJava(Spark):
    name = "spark-java"
    library = "libortolan_java.so"
    compares = False
    main, more = "ScoreWithSpark", ()

    def jar(self):
        return TOP / "build/bindings/java/ortolan.jar"

    def configuration(self):
        return []

    def sources(self, work, package):
        classes = work / "classes"
        jars = self.folder.glob("venv/lib/python3*/site-packages/pyspark/jars")
        subprocess.run(["javac", "--release", "17", "-nowarn", "-d", classes, "-cp", f"{self.jar()}:{next(jars)}/*",
                        JAVA_PROGRAMS / "ScoredRows.java", self.source()], check=True)
        program = work / "program.jar"
        subprocess.run(["jar", "--create", "--file", program, "-C", classes, "."], check=True)
        return program

    def source(self):
        return JAVA_PROGRAMS / f"{self.main}.java"

    def prepare(self, wheel, official):
        super().prepare(wheel, official)
        if not shutil.which("javac"):
            raise Missing("javac is missing; install the package default-jdk-headless")

    def variables(self):
        return {**super().variables(), "XDG_CACHE_HOME": str(self.folder / "cache")}

    def command(self, sources, job, out):
        return [*self.submit("--jars", self.jar(), *self.configuration(), "--class", self.main), sources, job.model, job.table,
                out, *job.results, str(job.batch)]


class SparkMicrosoft(SparkJava):
    name = "spark-microsoft"
    library = "libortolan.so.1"
    main = "MicrosoftOnSpark"

    def jar(self):
        return self.folder / "microsoft" / f"{'-'.join(MICROSOFT.split(':')[1:])}.jar"

    def source(self):
        return TOP / f"tests/engines/{self.main}.java"

    def configuration(self):
        return ["--conf", f"spark.executor.extraJavaOptions=-Donnxruntime.native.onnxruntime.path={COMPAT}/libonnxruntime.so.1"]

    def prepare(self, wheel, official):
        super().prepare(wheel, official)
        fetch_jars(MICROSOFT, self.folder / "microsoft")


class Synapseml(Spark):
    """Its jar of Microsoft's package asks for a library called libonnxruntime.so.1.8.1, in the driver too."""
    name = "synapseml"
    program = "score_with_synapseml.py"
    compares = False

    def prepare(self, wheel, official):
        super().prepare(wheel, official)
        fetch_jars(SYNAPSEML, self.folder / "synapseml")

    def variables(self):
        return {**super().variables(), "LD_LIBRARY_PATH": str(COMPAT)}

    def extras(self, sources):
        jars = sorted((self.folder / "synapseml").glob("*.jar"))
        java = " ".join([f"-Donnxruntime.native.onnxruntime.path={COMPAT}/libonnxruntime.so.1.8.1",
                         *(f"-Donnxruntime.native.onnxruntime_providers_{name}.skip=true" for name in ("shared", "cuda"))])
        return ["--jars", ",".join(map(str, jars)),
                "--py-files", ",".join(str(jar) for jar in jars if jar.name.startswith("synapseml-")),
                "--conf", f"spark.driver.extraJavaOptions={java}", "--conf", f"spark.executor.extraJavaOptions={java}",
                "--conf", f"spark.executorEnv.LD_LIBRARY_PATH={COMPAT}", "--conf", "spark.executorEnv.OMP_NUM_THREADS=1"]


class Ray(Way):
    name = environment_name = "ray"
    program = "score_with_ray.py"
    packages = ["ray[data,serve]==2.60.0", *ARROW]
    worker = "ray::"

    @contextlib.contextmanager
    def cluster(self, work):
        """Four processors: two for the workers and two for those that read and write, and one process for footers, not 32."""
        port = free_port(LOOPBACK)
        address = f"{LOOPBACK}:{port}"
        variables = {**self.variables(), "RAY_AUTH_MODE": "disabled", "RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "1",
                     "RAY_worker_niceness": "0"}
        short = tempfile.mkdtemp(prefix="ray")  # the path of a socket has 107 letters at most
        head = background([self.folder / "venv/bin/ray", "start", "--head", "--node-ip-address", LOOPBACK, "--port", str(port),
                           "--num-cpus", "4", "--object-store-memory", str(1 << 29), "--include-dashboard", "false",
                           "--disable-usage-stats", "--temp-dir", short, "--block"], work / "cluster.log", variables)
        try:
            until(lambda: head.poll() is not None or "Ray runtime started" in (work / "cluster.log").read_text(),
                  "the start of Ray")
            if head.poll() is not None:
                raise RuntimeError(f"Ray does not start; {work / 'cluster.log'} says why")
            yield {**variables, "RAY_ADDRESS": address}
        finally:
            processes.end_all()
            shutil.rmtree(short, ignore_errors=True)


class Serve(Ray):
    name = "serve"
    program = "serve_with_ray.py"
    compares = False

    def variables(self):
        """A loaded machine has time to start the proxy."""
        return {**super().variables(), "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60"}


class Dask(Way):
    name = environment_name = "dask"
    program = "score_with_dask.py"
    packages = ["dask==2026.8.0", "distributed==2026.8.0", *ARROW]
    worker = "multiprocessing.spawn"

    @contextlib.contextmanager
    def cluster(self, work):
        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        dask, variables = self.folder / "venv/bin/dask", self.variables()
        background([dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
                   work / "scheduler.log", variables)
        background([dask, "worker", address, "--host", "127.0.0.1", "--nworkers", "2", "--nthreads", "1", "--no-dashboard",
                    "--local-directory", work], work / "cluster.log", variables)
        until(lambda: (work / "scheduler.log").read_text().count("Register worker") >= 2, "the start of Dask")
        try:
            yield {**variables, "DASK_SCHEDULER_ADDRESS": address}
        finally:
            processes.end_all()


WAYS = {way.name: way for way in (Spark, SparkPandas, SparkJava, SparkMicrosoft, Synapseml, Ray, Serve, Dask)}
