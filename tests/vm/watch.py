# Ends a guest that makes no progress. Progress is what the guest prints, what its kernel prints, and what its disks do: a
# busy machine makes all of this slower and stops none of it. Seconds in which it is busy count as the part that the guest can
# have had of them, by /proc/pressure, and a tenth at least.
# Meanwhile it keeps /host/.pressure up to date, which tells a failing check how busy that was.
#
#   watch.py PID QUIET TOTAL RUNDIR HOSTDIR
#
# PID is QEMU's. After QUIET such seconds without progress, or TOTAL seconds in all, why it is ended is written to RUNDIR/hung.
import json
import os
import signal
import socket
import sys
import time

pid, quiet, total = (int(a) for a in sys.argv[1:4])
run, host = sys.argv[4:6]
EVERY = 2  # seconds between two looks


def size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


class Monitor:
    """QEMU's own account of what was read from and written to each disk."""

    def __init__(self):
        self.stream = None

    def ask(self, command):
        self.stream.write(json.dumps({"execute": command}) + "\n")
        while True:  # events come in between
            line = json.loads(self.stream.readline() or "{}")
            if not line or "return" in line or "error" in line:
                return line.get("return")

    def disks(self):
        try:
            if self.stream is None:
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(5)
                connection.connect(os.path.join(run, "watch.qmp"))
                self.stream = connection.makefile("rw", buffering=1)
                self.stream.readline()  # its greeting
                self.ask("qmp_capabilities")
            counted = lambda d: [v for k, v in sorted(d["stats"].items()) if k.endswith(("_operations", "_bytes"))]
            return [counted(d) for d in self.ask("query-blockstats") or []]
        except (OSError, ValueError, KeyError):
            self.stream = None  # not there yet, or too busy to answer: the next look tries again
            return None


def share():
    """Which part of the last seconds a process can have had of the processors."""
    try:
        with open("/proc/pressure/cpu") as f:
            waited = float(f.readline().split()[1].removeprefix("avg10="))
        return max(0.1, 1 - waited / 100)
    except (OSError, ValueError, IndexError):
        return 1.0  # a kernel that does not tell


def pressure():
    """One line: of the last 10 and 60 seconds the share in which some process waited for that, in per cent."""
    words = []
    for name in ("cpu", "io", "memory"):
        try:
            with open("/proc/pressure/" + name) as f:
                some = dict(word.split("=") for word in f.readline().split()[1:])
            words.append(f"{name} {some['avg10']}/{some['avg60']} %")
        except OSError:
            pass  # a kernel without it
    with open("/proc/loadavg") as f:
        words.append("load " + f.read().split()[0])
    with open(os.path.join(host, ".pressure.new"), "w") as f:
        f.write(", ".join(words) + "\n")
    os.rename(os.path.join(host, ".pressure.new"), os.path.join(host, ".pressure"))


def end(why):
    with open(os.path.join(run, "hung"), "w") as f:
        f.write(why)
    for s in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, s)
        except ProcessLookupError:
            return
        time.sleep(5)


monitor = Monitor()
silent = spent = 0.0
last = time.monotonic()
before = None
disks = []
while os.path.exists(f"/proc/{pid}"):
    disks = monitor.disks() or disks
    state = (size(os.path.join(run, "out")), size(os.path.join(run, "console")), disks)
    now = time.monotonic()
    had, last = (now - last) * share(), now
    silent, spent = silent + had, spent + had
    if state != before:
        before, silent = state, 0.0
    if silent > quiet:
        end(f"no progress for {quiet} s (more on a busy machine): it printed nothing, and its disks did nothing")
        break
    if spent > total:
        end(f"no result within {total} s in all (more on a busy machine), although it still made progress")
        break
    pressure()
    time.sleep(EVERY)
