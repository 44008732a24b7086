#!/bin/bash
# Proves the rig itself: devices report what they should, real udev runs rules, tuned disks behave as tuned.
# kernel: 7.0 it proves that the newest kernel is the one under test
# vm: -n fast:64M:write_ms_per_mib=12 -n slow:64M:zero_ms_per_mib=15,write_ms_per_mib=15 -n liar:64M:zero=lie,log=1 -n half:64M:zero=half
# vm: -r "$here/t/smoke.rules" -n brk:64M:eio_after=8M -d plain:64M:nvme -d sc:64M:scsi -E SMOKE=yes
. "${0%/*}/../lib.sh"

check_eq "$SMOKE" yes "environment handed in"
case $(uname -r) in 7.*|[89].*) ok "kernel $(uname -r)" ;; *) fail "kernel $(uname -r)" ;; esac

# --- real udev ---
sd=$(sdebug lbpws=1)
check_eq "$(q "$sd" write_zeroes_unmap_max_hw_bytes)" 33553920 "scsi_debug lbpws=1: write_zeroes_unmap_max_hw_bytes"
check_eq "$(prop "$sd" SMOKE_PROP)" "$sd" "IMPORT{program} of a rule sets a property"
check_eq "$(prop "$sd" ID_VENDOR)" Linux "the distribution's own rules ran"

# --- tools ---
mkfs.ext4 -q "/dev/$sd"
check_eq "$(blkid -o value -s TYPE -p "/dev/$sd")" ext4 "blkid sees ext4"
truncate -s 16M /tmp/img
loop=$(losetup -f --show /tmp/img)
check "losetup gives a disk" test -b "$loop"
losetup -d "$loop"
check "scsi_debug goes away" sdebug_rm

# --- emulated disks ---
check_has "$(nvme id-ns "/dev/$(disk plain)")" "dlfeat  : 9" "QEMU's NVMe disk: DLFEAT 9"
check_eq "$(q "$(disk plain)" write_zeroes_unmap_max_hw_bytes)" 524288 "QEMU's NVMe disk: unmap limit"
check_eq "$(q "$(disk sc)" write_zeroes_unmap_max_hw_bytes)" 0 "QEMU's SCSI disk: no unmap limit"

# --- tuned disks: fill 16 MiB, zero them, look at what is left, in the guest's own time ---
probe=$(cat <<'PY'
import ctypes, fcntl, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
m, n = 1 << 20, 16
buf = mmap.mmap(-1, m)
buf[:] = b"\xaa" * m
t = time.monotonic()
for i in range(n):
    os.pwrite(fd, buf, i * m)
w = time.monotonic() - t
t = time.monotonic()
for i in range(n):
    if libc.fallocate(fd, 0x80, i * m, m):
        print("error at", i, os.strerror(ctypes.get_errno())); sys.exit()
z = time.monotonic() - t
clean = 0
for i in range(n):
    os.preadv(fd, [buf], i * m)
    clean += buf[:].count(0)
print("write %d zero %d clean %d%%" % (n / w, n / z, clean * 100 // (n * m)), "ratio", "fast" if z * 3 < w else "even" if z < w * 2 else "slow")
PY
)
for d in fast slow liar half brk; do
    out=$(python3 -c "$probe" "/dev/$(disk $d)" 2>&1)
    note "$d: $out"
    case $d in
    fast) timed check_has "$out" "clean 100% ratio fast" "fast disk" ;;
    slow) timed check_has "$out" "clean 100% ratio even" "slow disk: zeroing costs as much as writing" ;;
    liar) check_has "$out" "clean 0%" "liar: success and old data" ;;
    half) check_has "$out" "clean 50%" "half liar" ;;
    brk) check_has "$out" "error at 8" "fails after 8 MiB" ;;
    esac
done
check_eq "$(grep -c ^zero /host/liar.log)" 32 "the liar's log counts 32 zero commands of 512 KiB"
if [ -e /in/zerocap ]; then check "the binary under test runs" zerocap --version; fi
