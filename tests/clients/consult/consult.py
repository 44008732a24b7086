# Reads device nodes, one on each line, and prints what to do with a range that has to read as zero, by the published document.
import json, os, sys

def document(node):
    rdev = os.stat(node).st_rdev
    path = os.path.realpath(f"/sys/dev/block/{os.major(rdev)}:{os.minor(rdev)}")
    if os.path.exists(path + "/partition"):
        path = os.path.dirname(path)
    try:
        with open(path + "/dev") as number, open(path + "/size") as size:
            number, size = number.read().strip(), int(size.read()) * 512
        diskseq = None
        if os.path.exists(path + "/diskseq"):  # since Linux 5.15; before that compare the size
            with open(path + "/diskseq") as f:
                diskseq, size = int(f.read()), None
        with open(f"/run/zerocap/{number}.json") as f:
            d = json.load(f)
    except (OSError, ValueError):
        return {}
    same = d.get("format") == 1 and d["device"]["diskseq"] == diskseq and size in (None, d["device"]["size_bytes"])
    return d if same else {}

for line in sys.stdin:
    d = document(line.strip())
    codes = [finding["code"] for finding in d.get("findings", [])]
    if d.get("class") == "broken":
        act = "write, never zero or discard"
    elif d.get("class") != "fast":
        act = "write"
    elif "deferred-cost" in codes:
        act = "zero only what stays empty"
    elif d.get("zeroes_verified"):
        act = "zero"
    else:
        act = "zero, read back a sample"
    print(act, flush=True)
