# Sourced by the tests in the guest: . "${0%/*}/../lib.sh"
# Checks count themselves; at the end of the test a line "N passed, N failed" is printed. Exit code 1: a check failed.
# Exit code 75: only such checks failed as depend on time, because they are marked with `timed` or come after a `wait_for`
# that ran out. They are printed as LATE with the pressure on the machine, and run-all runs the test again alone.
# shellcheck shell=bash
VM_PASSED=0 VM_FAILED=0 VM_LATE=0 VM_NOT_RUN=0 VM_TIMED=
VM_RAN_OUT=$(mktemp) # a file, since a wait may stand in a subshell; not empty once one ran out

ok() { VM_PASSED=$((VM_PASSED + 1)); printf 'ok    %s\n' "$*"; }
fail() {
    if [ -z "$VM_TIMED" ] && [ ! -s "$VM_RAN_OUT" ]; then
        VM_FAILED=$((VM_FAILED + 1)); printf 'FAIL  %s\n' "$*"
    else
        VM_LATE=$((VM_LATE + 1)); printf 'LATE  %s\n' "$*"; pressure
    fi
}
note() { printf '      %s\n' "$*"; }
# timed COMMAND... : a check that also depends on how much of the machine the guest gets, for instance the class of a disk
# whose costs are emulated. It is marked as one whole; what comes after it is not.
timed() {
    local VM_TIMED=1
    "$@"
}
# kernel_has VERSION : this kernel is of that release or newer
kernel_has() { [ "$(printf '%s\n' "$1" "$(uname -r | grep -oE '^[0-9]+\.[0-9]+')" | sort -V | head -n 1)" = "$1" ]; }
# from VERSION COMMAND... : a check of what came with that kernel; on an older one it is said, and not made
from() {
    local version=$1
    shift
    if kernel_has "$version"; then "$@"; else note "not here, it came with $version: ${!#}"; fi
}
# not_run TEXT : a check that cannot be made here. Where CI=true it is a failure: the guest's root has all that is needed.
not_run() {
    VM_NOT_RUN=$((VM_NOT_RUN + 1)); printf 'not run: %s\n' "$*"
    [ "${CI-}" != true ] || fail "not run, although this is CI: $*"
}
# pressure : how busy the machine is that the guest runs on (the runner keeps the file up to date), or the one we are on
pressure() {
    if [ -s /host/.pressure ]; then note "pressure: $(cat /host/.pressure)"; else
        note "pressure: $(grep -H some /proc/pressure/* 2>/dev/null | sed 's,.*/,,' | tr '\n' ' ')load $(cat /proc/loadavg)"
    fi
}

# check_eq GOT WANT TEXT
check_eq() {
    if [ "$1" = "$2" ]; then ok "$3"; else fail "$3"; note "got:  $1"; note "want: $2"; fi
}
# check_has GOT PART TEXT : PART is a plain string
check_has() {
    case $1 in *"$2"*) ok "$3" ;; *) fail "$3"; note "got:  $1"; note "want it to hold: $2" ;; esac
}
check_not() { # check_not GOT PART TEXT : the opposite
    case $1 in *"$2"*) fail "$3"; note "got:  $1"; note "must not hold: $2" ;; *) ok "$3" ;; esac
}
# check TEXT COMMAND... : the command succeeds; its output is shown only when it does not
check() {
    local text=$1 out rc=0
    shift
    out=$("$@" 2>&1) || rc=$?
    if [ $rc = 0 ]; then ok "$text"; else fail "$text"; note "exit $rc of: $*"; printf '%s\n' "$out" | sed 's/^/      /'; fi
}
# check_exit CODE TEXT COMMAND... : the command's exit code; its output stays in $OUT (stdout) and $ERR (stderr)
check_exit() {
    local want=$1 text=$2 rc=0
    shift 2
    OUT=$("$@" 2>/tmp/.err) || rc=$?
    ERR=$(cat /tmp/.err)
    if [ $rc = "$want" ]; then ok "$text"; else
        # 75 and 99 are a guest's of a host driver: late itself, or without a result.
        case $rc in 75 | 99) timed fail "$text" ;; *) fail "$text" ;; esac
        note "exit $rc, want $want, of: $*"
        printf '%s\n' "$OUT" "$ERR" | sed 's/^/      /'
    fi
}

vm_summary() {
    local rc=$?
    # A test that stopped half-way (set -e, exit, syntax error) has not passed.
    [ $rc = 0 ] || fail "the test ended early with exit code $rc"
    # A test that made no check has shown nothing.
    [ $((VM_PASSED + VM_FAILED + VM_LATE)) -gt 0 ] || fail "the test made no check"
    rm -f "$VM_RAN_OUT"
    printf '%s passed, %s failed' $VM_PASSED $VM_FAILED
    [ $VM_LATE = 0 ] || printf ', %s late' $VM_LATE
    [ $VM_NOT_RUN = 0 ] || printf ', %s not run' $VM_NOT_RUN
    echo
    [ $VM_FAILED = 0 ] || exit 1
    [ $VM_LATE = 0 ] || exit 75
    exit 0
}
trap vm_summary EXIT

# settle [DISK...] : udev has answered for these, and for all that it knows of. A new disk is named: its node is there
# before its event, and udev's queue may still be empty then. Without udevd there is nothing to wait for.
settle() {
    [ -e /run/udev/control ] || return 0
    [ $# = 0 ] || udevadm wait --timeout=20 "${@/#//dev/}" >&2
    udevadm settle
}

# wait_for SECONDS COMMAND... : until it succeeds. Counted in rounds of a tenth of a second and one try, so that on a busy
# machine, where each try takes longer, the wait is longer too. Where it runs out, what fails afterwards is LATE.
wait_for() {
    local rounds=$(($1 * 10)) seconds=$1
    shift
    until "$@" >/dev/null 2>&1; do
        if [ $((rounds--)) -le 0 ]; then
            echo "$*" >>"$VM_RAN_OUT"
            note "waited for in vain ($seconds s, longer on a busy machine): $*" >&2
            return 1
        fi
        sleep 0.1
    done
}

# written DISK : sectors written to it so far (field 7 of its statistics)
written() { awk '{print $7}' "/sys/block/$1/stat"; }
# wait_written DISK FROM MIB : until so much more was written to it than FROM. This is how a test is cut off in its middle: how
# long it takes to get there depends on the machine.
wait_written() { wait_for 60 sh -c "set -- \$(cat /sys/block/$1/stat); [ \$7 -ge $(($2 + $3 * 2048)) ]"; }

# q DISK ATTRIBUTE : a queue attribute, "-" if there is none
q() { cat "/sys/block/${1#/dev/}/queue/$2" 2>/dev/null || echo -; }
# prop DISK KEY : a property from udev's database
prop() { udevadm info -q property --property="$2" --value -n "/dev/${1#/dev/}" 2>/dev/null; }

# disk SERIAL : the name (nvme0n1) of the disk that the runner attached under this name. Names follow no order.
disk() {
    local d p
    for d in /sys/block/*; do
        case ${d##*/} in loop* | ram* | dm-* | md*) continue ;; esac
        # the head of an NVMe multipath disk has the node, its paths (nvme0c0n1) have none
        [ -b "/dev/${d##*/}" ] || continue
        # virtio keeps the serial at the disk, NVMe at the controller, SCSI in a page (binary before the text),
        # USB at the stick, some levels above the disk
        p=$(readlink -f "$d/device")
        for p in "$d/serial" "$p/serial" "$p/vpd_pg80" "$p/../../../../serial"; do
            if [ -r "$p" ] && [ "$(tr -dc '[:graph:]' 2>/dev/null <"$p")" = "$1" ]; then echo "${d##*/}"; return 0; fi
        done
    done
    echo "no disk with serial '$1'" >&2
    return 1
}

# sdebug PARAMS... : loads scsi_debug, waits for its disks, prints their names
sdebug() {
    modprobe scsi_debug ndelay=1000 dev_size_mb=64 "$@" || return 1
    wait_for 20 sdebug_disks || return 1
    # shellcheck disable=SC2046 # a list of names
    settle $(sdebug_disks)
    sdebug_disks
}
sdebug_disks() {
    local h found=1 n
    for h in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/*; do
        n=${h##*/}
        [ -b "/dev/$n" ] && [ "$(cat "/sys/block/$n/size")" -gt 0 ] && { echo "$n"; found=0; }
    done
    return $found
}
# sdebug_rm : unloads it. udev may have a disk open right after an event, so it is tried again.
sdebug_rm() {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        settle
        modprobe -qr scsi_debug && return 0
        sleep 0.3
    done
    modprobe -r scsi_debug
}

# --- zerocap ---
# install_rules : the project's udev rule, as `make install` would put it
install_rules() {
    mkdir -p /etc/udev/rules.d
    sed 's,@BINDIR@,/usr/bin,g; s,@UDEVDIR@,/usr/lib/udev,g' "${BASH_SOURCE[0]%/*}/../../rules/90-zerocap.rules" >/etc/udev/rules.d/90-zerocap.rules
    [ ! -e /run/udev/control ] || udevadm control --reload
}
# install_units DIR : the project's units, as `make install` would put them
install_units() {
    local u
    mkdir -p "$1"
    for u in "${BASH_SOURCE[0]%/*}"/../../rules/units/*; do sed 's,@BINDIR@,/usr/bin,g' "$u" >"$1/${u##*/}"; done
}
# fill DISK : pseudo-random content, so that anything that is lost or moved shows in the checksum
fill() {
    openssl enc -aes-128-ctr -nosalt -pass pass:zerocap -in /dev/zero 2>/dev/null | dd of="/dev/$1" bs=1M iflag=fullblock oflag=direct count=$(($(cat "/sys/block/$1/size") / 2048)) status=none 2>/dev/null ||
        python3 - "/dev/$1" <<'PY'
import os, random, sys
r = random.Random(1)
fd = os.open(sys.argv[1], os.O_WRONLY)
n = os.lseek(fd, 0, os.SEEK_END)
os.lseek(fd, 0, os.SEEK_SET)
block = r.randbytes(1 << 20)
for i in range(n >> 20):
    os.write(fd, i.to_bytes(8, "little") + block[8:])
os.fsync(fd)
PY
    settle
}
# sum DISK : checksum of the whole medium, past the page cache
sum() { blockdev --flushbufs "/dev/$1"; sha256sum "/dev/$1" | cut -d' ' -f1; }
# json FILE|- EXPRESSION : a Python expression over the document d
json() { python3 -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
