# nbdkit plugin: a RAM disk whose zero, write, trim and read commands behave as a test wants them to.
# Attached by the runner as an emulated disk (vm -n NAME:SIZE:param=value,...). Sizes take K, M, G.
#
#   zero=ok|lie|half|eio      lie: success reported, old data kept; half: the second half of each command keeps its data;
#                             eio: fails at once
#   trim=ok|lie|eio           ok: trimmed bytes read as zero
#   zero_ms_per_mib= write_ms_per_mib= trim_ms_per_mib= read_ms_per_mib=
#                             cost by length, one command after the other, as one medium has one bandwidth
#   zero_ms= write_ms= trim_ms= read_ms=   cost per command whatever its length
#   bimodal=PCT:MS            PCT per cent of the commands that write or zero take MS longer
#   owe_ms_per_mib= owe_most_mib=   zeroing is put off: it costs this much later, while the disk reads or is idle, and at once
#                             where more than so many MiB wait already (as a queue of deallocations does that is full)
#   eio_after=BYTES           zero commands fail once so many bytes were zeroed
#   hang_after=N              zero commands after the first N never return; reads and writes go on
#   hang_writes=1             ... and writes neither
#   fill=BYTE                 what the disk holds at first (0xff: slow for big disks)
#   file=PATH                 content kept in a file of this size (for tests with a second boot)
#   quick=PATH                no command costs anything while this file is there (filling a disk is not what is timed)
#   log=PATH                  one line per command: name offset length [fua] (not for reads)
import errno
import mmap
import os
import random
import threading
import time

import nbdkit

API_VERSION = 2
MIB = 1 << 20
params = {}
state = {"zeroed": 0, "zeros": 0, "owed": 0.0, "since": 0.0}
medium = threading.Lock()  # held for the length of a command's cost: bandwidth is shared
counters = threading.Lock()
dice = random.Random(1)  # the same sequence in every run
disk = None
log = None


def number(text):
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 0)
    return int(text[:-1], 0) * scale if scale else int(text, 0)


def ms(key):
    return float(params.get(key, 0))


KNOWN = set(
    "size zero trim bimodal owe_ms_per_mib owe_most_mib eio_after hang_after hang_writes fill file log quick".split()
    + [c + s for c in ("zero", "write", "trim", "read") for s in ("_ms", "_ms_per_mib")]
)


def config(key, value):
    if key not in KNOWN:
        raise ValueError("unknown parameter " + key)
    params[key] = value


def thread_model():
    return nbdkit.THREAD_MODEL_PARALLEL


def get_ready():
    global disk, log
    size = number(params["size"])
    if "file" in params:
        fd = os.open(params["file"], os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, size)
        disk = mmap.mmap(fd, size)
    else:
        disk = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    if "fill" in params:
        for at in range(0, size, MIB):
            disk[at : at + MIB] = bytes([number(params["fill"])]) * min(MIB, size - at)
    if "log" in params:
        log = os.open(params["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def open(readonly):
    return 1


def get_size(h):
    return len(disk)


def block_size(h):
    return (512, 4096, 32 * MIB)


def can_fua(h):
    return nbdkit.FUA_NATIVE


def can_fast_zero(h):
    return True  # else a client that asks for "fast or fail" gets a refusal and writes instead


def can_multi_conn(h):
    return True


def cost(name, length):
    if "quick" in params and os.path.exists(params["quick"]):
        return
    delay = ms(name + "_ms_per_mib") * length / MIB + ms(name + "_ms")
    if name in ("zero", "write") and "bimodal" in params:
        share, extra = params["bimodal"].split(":")
        with counters:
            if dice.random() * 100 < float(share):
                delay += float(extra)
    owe = number(params.get("owe_ms_per_mib", "0"))
    if delay or owe and name == "zero":
        with medium:
            if owe:
                pay(owe * length / MIB if name == "zero" else 0, owe * number(params["owe_most_mib"]))
            time.sleep(delay / 1000)
            state["since"] = time.monotonic()


def pay(more, most):
    """What is owed, in milliseconds, grows by zeroing and shrinks while nothing is written; beyond the most it is paid now."""
    idle = (time.monotonic() - state["since"]) * 1000
    state["owed"] = max(0.0, state["owed"] - idle) + more
    if state["owed"] > most:
        time.sleep((state["owed"] - most) / 1000)
        state["owed"] = most


def note(name, offset, length):
    if log is not None:
        os.write(log, b"%s %d %d\n" % (name.encode(), offset, length))


def fail(code):
    nbdkit.set_error(code)
    raise OSError(code, os.strerror(code))


def clear(offset, length):
    if "file" not in params and offset % 4096 == 0 and length % 4096 == 0 and length:
        disk.madvise(mmap.MADV_DONTNEED, offset, length)  # gives the memory back: big disks stay cheap
    else:
        disk[offset : offset + length] = bytes(length)


def pread(h, buf, offset, flags):
    cost("read", len(buf))
    buf[:] = disk[offset : offset + len(buf)]


def pwrite(h, buf, offset, flags):
    note("write", offset, len(buf))
    if "hang_writes" in params and state["zeros"] > number(params.get("hang_after", "0")):
        hang()
    cost("write", len(buf))
    disk[offset : offset + len(buf)] = bytes(buf)


def hang():
    while True:
        time.sleep(3600)


def zero(h, length, offset, flags):
    note("zero", offset, length)
    with counters:
        state["zeros"] += 1
        state["zeroed"] += length
        zeros, zeroed = state["zeros"], state["zeroed"]
    if "hang_after" in params and zeros > number(params["hang_after"]):
        hang()
    cost("zero", length)
    kind = params.get("zero", "ok")
    if kind == "eio" or ("eio_after" in params and zeroed > number(params["eio_after"])):
        fail(errno.EIO)
    if kind == "half":
        length //= 2
    if kind != "lie":
        clear(offset, length)


def trim(h, length, offset, flags):
    note("trim", offset, length)
    cost("trim", length)
    kind = params.get("trim", "ok")
    if kind == "eio":
        fail(errno.EIO)
    if kind == "ok":
        clear(offset, length)


def flush(h, flags):
    note("flush", 0, 0)
