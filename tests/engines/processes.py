"""The processes that this one started, with all that they started in turn."""
import ctypes
import os
import pathlib
import signal
import time

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def adopt_orphans():
    """From now on a process whose parent has ended is a child of this one."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def parents():
    """The parent of every process, by id."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            pass  # it has ended meanwhile
    return found


def descendants():
    """The ids of those that this process started, directly or not."""
    above, mine = parents(), set()
    for pid in above:
        line, upper = [], pid
        while upper in above and upper not in mine and upper != os.getpid():
            line.append(upper)
            upper = above[upper]
        if upper == os.getpid() or upper in mine:
            mine.update(line)
    return mine


def reads(pid, file):
    try:
        return pathlib.Path("/proc", str(pid), file).read_text(errors="replace")
    except OSError:
        return ""


def with_library(name):
    """Those of the descendants that have loaded a library whose file's name begins so."""
    return {pid for pid in descendants() if f"/{name}" in reads(pid, "maps")}


def upwards(pid):
    """The process and those above it, up to this one."""
    above = parents()
    while pid in above and pid != os.getpid():
        yield pid
        pid = above[pid]


def end_all():
    """Ends every descendant."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 10
        while (left := descendants()) and time.monotonic() < deadline:
            for pid in left:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            reap()
            time.sleep(0.2)


def reap():
    """Takes leave of children that have ended and that no Popen waits for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
