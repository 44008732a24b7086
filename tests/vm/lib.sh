# Sourced by the tests in the guest: . "${0%/*}/../lib.sh"
# Checks count themselves; at the end of the test a line "N passed, N failed" is printed and failures give exit code 1.
# shellcheck shell=bash
VM_PASSED=0 VM_FAILED=0

ok() { VM_PASSED=$((VM_PASSED + 1)); printf 'ok    %s\n' "$*"; }
fail() { VM_FAILED=$((VM_FAILED + 1)); printf 'FAIL  %s\n' "$*"; }
note() { printf '      %s\n' "$*"; }

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
        fail "$text"
        note "exit $rc, want $want, of: $*"
        printf '%s\n' "$OUT" "$ERR" | sed 's/^/      /'
    fi
}

vm_summary() {
    local rc=$?
    # A test that stopped half-way (set -e, exit, syntax error) has not passed.
    [ $rc = 0 ] || fail "the test ended early with exit code $rc"
    printf '%s passed, %s failed\n' $VM_PASSED $VM_FAILED
    [ $VM_FAILED = 0 ] && exit 0
    exit 1
}
trap vm_summary EXIT

# settle [DISK...] : udev has answered for these, and for all that it knows of. A new disk is named: its node is there
# before its event, and udev's queue may still be empty then. Without udevd there is nothing to wait for.
settle() {
    [ -e /run/udev/control ] || return 0
    [ $# = 0 ] || udevadm wait --timeout=20 "${@/#//dev/}" >&2
    udevadm settle
}

# wait_for SECONDS COMMAND... : until it succeeds
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

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
    sed 's,@BINDIR@,/usr/bin,g' "${BASH_SOURCE[0]%/*}/../../rules/90-zerocap.rules" >/etc/udev/rules.d/90-zerocap.rules
    [ ! -e /run/udev/control ] || udevadm control --reload
}
# install_units DIR : the project's units, as `make install` would put them
install_units() {
    local u
    mkdir -p "$1"
    for u in "${BASH_SOURCE[0]%/*}"/../../rules/units/*.service; do sed 's,@BINDIR@,/usr/bin,g' "$u" >"$1/${u##*/}"; done
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
