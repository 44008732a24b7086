#!/bin/bash
# ring: long
# What one event costs beside the cheapest programs that ask one device one thing: wall time, the least of interleaved runs;
# the peak of the memory; system calls, where strace is given (a directory with it and its libraries as first argument; the
# number of runs is the second). Printed, and held only loosely: the goals are ratios in one run.
# vm: -m 768 -d plain:64M:nvme
. "${0%/*}/../lib.sh"
tools=${1-} runs=${2:-40}
install_rules
# As installed: with the shipped rules of policy.
mkdir -p /usr/lib/zerocap/policy.d
cp "${0%/*}"/../../../rules/policy.d/*.toml /usr/lib/zerocap/policy.d/
sleep 1.2
sd=$(sdebug lbpws=1)
nvme=$(disk plain)
udevadm trigger -c change -s block --settle
cat >/tmp/cost.py <<'PY'
import json, os, sys, time
tools, runs, devices = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
null = os.open("/dev/null", os.O_RDWR)
def run(command, env):
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.waitpid(pid, 0)
    return time.perf_counter() - start
def calls(name, command, env):
    if not tools: return "calls and memory not asked"
    out = "/tmp/calls"
    run([tools + "/strace", "-f", "-qq", "-o", out, "-E", "LD_LIBRARY_PATH", *command], dict(env, LD_LIBRARY_PATH=tools))
    text = [l for l in open(out) if "(" in l and "F_GETFD" not in l and "resumed>" not in l]
    open(f"/host/calls.{name.replace('event', 'zerocap').replace(' ', '-')}.{os.path.basename(command[-1])}", "w").writelines(text)
    # What it held is asked while it waits before its end: what its parent held before counts in wait4.
    pid = os.posix_spawn(tools + "/strace", [tools + "/strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=exit_group:delay_enter=900000",
        "-E", "LD_LIBRARY_PATH", *command], dict(env, LD_LIBRARY_PATH=tools), file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    peak, until = 0, time.monotonic() + 8
    while time.monotonic() < until and os.waitpid(pid, os.WNOHANG)[0] == 0:
        for child in open(f"/proc/{pid}/task/{pid}/children").read().split():
            try:
                if os.readlink(f"/proc/{child}/exe") == os.path.realpath(command[0]):
                    peak = max([peak] + [int(l.split()[1]) for l in open(f"/proc/{child}/status") if l.startswith("VmHWM")])
            except OSError: pass
        time.sleep(0.05)
    return f"{len(text)} calls, peak {peak} KiB"
bad = 0
for device in devices:
    major, minor = open(f"/sys/block/{device}/dev").read().strip().split(":")
    # What udev gives a program: a property each.
    env = dict(l.strip().split("=", 1) for l in os.popen(f"udevadm info -q property /dev/{device}"))
    env = dict(env, ACTION="change", SUBSYSTEM="block", PATH="/usr/sbin:/usr/bin")
    node = "/dev/" + device
    programs = {"true": ["/bin/true"], "event": ["/usr/lib/udev/zerocap", node], "whole": ["/usr/bin/zerocap", "udev", node]}
    if device.startswith("nvme"):
        programs["nvme id-ns"] = ["/usr/sbin/nvme", "id-ns", node]
    else:
        programs["sg_vpd"] = ["/usr/bin/sg_vpd", "--page=0xb2", node]
        programs["sg_readcap"] = ["/usr/bin/sg_readcap", "--16", node]
    found = {name: [] for name in programs}
    for _ in range(runs):
        for name, command in programs.items():
            found[name].append(run(command, env))
    for name, command in programs.items():
        least = min(found[name])
        print(f"      {device} {name:11} {least * 1e3:7.2f} ms  {calls(name, command, env)}")
    least = {name: min(found[name]) for name in programs}
    if "sg_vpd" in least:
        print(f"      {device}: event / sg_vpd = {least['event'] / least['sg_vpd']:.2f} (goal 1.15), whole / sg_vpd = {least['whole'] / least['sg_vpd']:.2f}")
    else:
        print(f"      {device}: event / nvme id-ns = {least['event'] / least['nvme id-ns']:.2f}")
    bad += least["event"] >= least["whole"]
sys.exit(bad)
PY
for dev in "$sd" "$nvme"; do
    check_exit 0 "$dev: the program of the rule answers" env ACTION=change /usr/lib/udev/zerocap "/dev/$dev"
done
cheaper() { python3 /tmp/cost.py "$tools" "$runs" "$sd" "$nvme" >/tmp/cost; }
timed check "an event is cheaper by the rule's own program" cheaper
cat /tmp/cost
for calls in /host/calls.zerocap.*; do
    [ ! -e "$calls" ] || check "${calls##*.}: at most 90 system calls" test "$(wc -l <"$calls")" -le 90
done
