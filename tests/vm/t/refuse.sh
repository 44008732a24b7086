#!/bin/bash
# What must not be tested is refused in one clear line, with its documented exit code, and the content stays as it was: no
# device, wrong kinds of files, read-only, mounted, held, swap, ranges that do not fit, no permission; and a device that
# vanishes in the middle of a test.
# vm: -n one:64M:write_ms_per_mib=15 -n gone:64M:write_ms_per_mib=30
# takes: 60
. "${0%/*}/../lib.sh"
J="--journal /host/journal --data-ok --max-bytes 128MiB"
one=$(disk one) gone=$(disk gone)

# refuse CODE TEXT PART ARGS... : measure refuses, with one line that holds PART; where the place is the trouble, a second one says
# what lists the possible ones
refuse() {
    local code=$1 text=$2 part=$3
    shift 3
    timed check_exit "$code" "$text" timeout 60 zerocap measure "$@" $J
    check_eq "$(grep -vc "^zerocap: .zerocap measure [^ ]*. lists where a test is possible$" <<<"$ERR")" 1 "  in one line: $ERR"
    check_has "$(head -n 1 <<<"$ERR")" "$part" "  that says: $part"
}

fill "$one"
sfdisk -q "/dev/$one" <<'T'
label: gpt
start=2048, size=32768
start=34816, size=32768
start=67584, size=32768, name=zerocap-scratch
T
wait_for 5 test -b "/dev/${one}p3"; settle
before=$(sum "$one")

refuse 32 "a missing device" "no such device" /dev/nothing --scratch 0+4MiB
refuse 2 "bytes beside a partition" "counts from the start of one; name it: /dev/$one" "/dev/${one}p1" --scratch 1MiB+8MiB
refuse 32 "a directory" "on no block device" /tmp --scratch 0+4MiB
refuse 32 "a character device" "a character device" /dev/null --scratch 0+4MiB
refuse 32 "a plain file" "not a block device" /etc/passwd --scratch 0+4MiB
refuse 2 "a scratch that is no place" "--scratch" "/dev/$one" --scratch here
refuse 1 "a range outside the device" "ends beyond the end of the device" "/dev/$one" --scratch 60MiB+8MiB
refuse 1 "a range beyond any device" "ends beyond the end of the device" "/dev/$one" --scratch 1MiB+15000000TiB
refuse 1 "a misaligned range" "multiples of its block size, 512 bytes" "/dev/$one" --scratch 50MiB+4097
refuse 1 "a range that is too small" "larger scratch" "/dev/$one" --scratch 50MiB+4KiB
refuse 1 "a range in a partition" "partition 1" "/dev/$one" --scratch 2MiB+4MiB
refuse 1 "a range over the end of the table" "GPT" "/dev/$one" --scratch 50MiB+14MiB
refuse 1 "a partition of another disk" "is not a partition of it" "/dev/$gone" --scratch "/dev/${one}p3"
refuse 1 "the whole disk as scratch" "whole disk" "/dev/$one" --scratch "/dev/$one"

mkfs.ext4 -q "/dev/${one}p1"
refuse 1 "a partition with a file system" "ext4" "/dev/$one" --scratch "/dev/${one}p1"
mkdir -p /mnt/a; mount "/dev/${one}p1" /mnt/a
refuse 1 "a mounted partition" "/mnt/a" "/dev/$one" --scratch "/dev/${one}p1"
umount /mnt/a
mkswap -q "/dev/${one}p2"; swapon "/dev/${one}p2"
refuse 1 "a partition in use as swap" "${one}p2" "/dev/$one" --scratch "/dev/${one}p2"
swapoff "/dev/${one}p2"; wipefs -qa "/dev/${one}p2"
dmsetup create held --table "0 32768 linear /dev/${one}p2 0"
refuse 1 "a held partition" "dm-" "/dev/$one" --scratch "/dev/${one}p2"
dmsetup remove --retry held
before=$(sum "$one")
blockdev --setro "/dev/$one"
refuse 1 "a read-only device" "read-only" "/dev/$one" --scratch label
blockdev --setrw "/dev/$one"
mount "/dev/${one}p1" /mnt/a
check_exit 1 "a journal on the device under test" zerocap measure "/dev/$one" --scratch label --journal /mnt/a/journal
check_has "$ERR" "lies on the device itself" "  and it says so"
check_exit 1 "a journal in memory that nobody named" zerocap --state /run/state measure "/dev/$one" --scratch label
check_has "$ERR" "memory" "  and it says so"
umount /mnt/a
# Mounting wrote to the file system: what is compared is what was there from here on.
before=$(sum "$one")
check_exit 1 "no permission" setpriv --reuid 65534 --clear-groups zerocap measure "/dev/$one" --scratch label $J
check_has "$ERR" "/dev/$one" "  the node is named"
check_eq "$(sum "$one")" "$before" "after all of it the device holds what it held"

# --- somebody uses the bytes without a claim ---
sfdisk -q --part-type "/dev/$one" 2 21686148-6449-6E6F-744E-656564454649; settle
refuse 1 "a BIOS boot partition, which has no signature" "a BIOS boot partition" "/dev/$one" --scratch "/dev/${one}p2"
sfdisk -q --part-type "/dev/$one" 2 AF9B60A0-1431-4F62-BC68-3311714A69AD; settle
refuse 1 "data of a Windows dynamic disk" "LDM" "/dev/$one" --scratch "/dev/${one}p2"
sfdisk -q --part-type "/dev/$one" 2 E6D6D379-F507-44C2-A23C-238F2A3DF928; settle
refuse 1 "a partition that is meant for LVM" "LVM" "/dev/$one" --scratch "/dev/${one}p2"
sfdisk -q --part-type "/dev/$one" 2 0FC63DAF-8483-4772-8E79-3D69D8477DE4; settle
before=$(sum "$one")
check_exit 1 "content that nobody gave leave for" zerocap measure "/dev/$one" --scratch "/dev/${one}p2" --journal /host/journal
check_has "$ERR" "--data-ok" "  and what gives it"
check_exit 0 "of a partition named as scratch its name is leave enough" zerocap measure "/dev/$one" --scratch label --journal /host/journal --dry-run
check_has "$OUT" "is journalled and put back" "  and the plan says what lies there"
l=$(losetup -f --show -o $((20 << 20)) --sizelimit $((4 << 20)) "/dev/$one")
refuse 1 "a loop device over the bytes" "losetup -d $l" "/dev/$one" --scratch "/dev/${one}p2"
check_exit 0 "one beside them is no matter" zerocap measure "/dev/$one" --scratch label $J --dry-run
losetup -d "$l"
python3 -c 'import os, sys, time; os.open(sys.argv[1], os.O_RDWR); print("open", flush=True); time.sleep(600)' "/dev/$one" >/tmp/opened &
writer=$!
wait_for 10 test -s /tmp/opened
refuse 1 "a process that has the disk open for writing" "python3 (pid $writer) has /dev/$one" "/dev/$one" --scratch label
kill $writer; wait $writer 2>/dev/null
# A node of the same number may lie anywhere: that of a jail.
mkdir -p /jail; read -r major minor < <(tr : ' ' <"/sys/block/$one/dev"); mknod /jail/disk b "$major" "$minor"
python3 -c 'import os, sys, time; os.open(sys.argv[1], os.O_RDWR); print("open", flush=True); time.sleep(600)' /jail/disk >/tmp/jailed &
writer=$!
wait_for 30 grep -q open /tmp/jailed
refuse 1 "a process that has a node elsewhere open for writing" "python3 (pid $writer) has /dev/$one" "/dev/$one" --scratch label
kill "$writer"; wait "$writer" 2>/dev/null
# What keeps a file open when its descriptor is closed: a mapping, and an io_uring with which it is registered (io_uring_setup
# 425, io_uring_register 427, IORING_REGISTER_FILES 2, IORING_REGISTER_RING_FDS 20, on x86-64 and most others). Such a ring may
# be registered with itself, and its own descriptor closed.
cat >/tmp/keep.py <<'END'
import ctypes, mmap, os, sys, time
how, node = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(node, os.O_RDWR)
if how == "mapped":
    libc.mmap.restype = ctypes.c_void_p
    good = libc.mmap(None, ctypes.c_size_t(4096), 3, mmap.MAP_SHARED, fd, ctypes.c_long(0)) != ctypes.c_void_p(-1).value
else:
    ring = libc.syscall(425, 4, ctypes.create_string_buffer(120))
    file = -1 if how == "empty" else fd
    good = ring >= 0 and libc.syscall(427, ring, 2, (ctypes.c_int * 1)(file), 1) == 0
    if how == "self":
        kept = mmap.mmap(ring, 4096, mmap.MAP_SHARED)
        update = (ctypes.c_uint64 * 2)(0xffffffff, ring)
        good = good and libc.syscall(427, ring, 20, update, 1) == 1
        os.close(ring)
        # Python keeps a copy of the descriptor of what it maps.
        for other in os.listdir("/proc/self/fd"):
            try:
                if "io_uring" in os.readlink("/proc/self/fd/" + other): os.close(int(other))
            except OSError: pass
os.close(fd)
print("kept" if good else f"not kept: {ctypes.get_errno()}", flush=True)
time.sleep(600)
END
# keeps HOW NODE : a process that does so, whose number is in $writer
keeps() {
    rm -f /tmp/kept
    python3 /tmp/keep.py "$1" "$2" >/tmp/kept &
    writer=$!
    wait_for 30 grep -q . /tmp/kept
    check_eq "$(cat /tmp/kept)" kept "a process keeps $2 open ($1)"
}
ended() { kill "$writer"; wait "$writer" 2>/dev/null; }
for kept in "ring /dev/$one" "ring /jail/disk" "mapped /dev/$one" "mapped /jail/disk"; do
    # shellcheck disable=SC2086 # two words
    keeps $kept
    refuse 1 "$kept" "python3 (pid $writer) has /dev/$one" "/dev/$one" --scratch label
    ended
done
keeps self "/dev/$one"
refuse 1 "a ring that is registered with itself and has no descriptor" "python3 (pid $writer) has an io_uring that does not show" "/dev/$one" --scratch label
ended
keeps empty /dev/null
check_exit 0 "a ring with an empty place for a file is no matter" zerocap measure "/dev/$one" --scratch label $J --dry-run
ended
python3 -c 'import os, sys, time; os.open(sys.argv[1], os.O_RDONLY); print("open", flush=True); time.sleep(600)' "/dev/$one" >/tmp/reading &
reader=$!
wait_for 10 test -s /tmp/reading
check_exit 0 "a reader refuses nothing" zerocap measure "/dev/$one" --scratch label $J --dry-run
check_has "$OUT" "python3 (pid $reader) has it open for reading" "  and is told"
kill $reader; wait $reader 2>/dev/null
if modprobe nvmet 2>/dev/null && { mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config; }; then
    ns=/sys/kernel/config/nvmet/subsystems/all/namespaces/1
    mkdir -p "$ns"; ln -sf "/dev/$one" /dev/served
    echo -n /dev/served >$ns/device_path; echo 1 >$ns/enable
    refuse 1 "a disk that is served to other machines" "nvmet) serves /dev/served" "/dev/$one" --scratch label
    echo 0 >$ns/enable; rmdir $ns /sys/kernel/config/nvmet/subsystems/all
else
    not_run "a disk that nvmet serves: no module nvmet here"
fi
# In the middle of a test somebody opens the disk: it ends, the content is back, and nothing is kept.
from=$(written "$one")
zerocap measure "/dev/$one" --scratch label $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$one" "$from" 8
python3 -c 'import os, sys, time; os.open(sys.argv[1], os.O_RDWR); time.sleep(600)' "/dev/$one" &
writer=$!
wait $pid; code=$?
kill $writer; wait $writer 2>/dev/null
check_eq "$code" 1 "a process that opens the disk in the middle ends the test"
check_has "$(cat /tmp/err)" "python3 (pid $writer)" "  and is named: $(cat /tmp/err)"
check_eq "$(sum "$one")" "$before" "  with the content as before"
timed check_exit 5 "  and nothing is kept" zerocap check "/dev/$one"

# A limit that is set on the test's own control group in the middle ends it too: it would be measured in place of the device.
mkdir -p /sys/fs/cgroup/mid; echo +io >/sys/fs/cgroup/cgroup.subtree_control
from=$(written "$one")
sh -c 'echo $$ >/sys/fs/cgroup/mid/cgroup.procs; exec "$@"' sh zerocap measure "/dev/$one" --scratch label $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$one" "$from" 8
echo "$(cat "/sys/block/$one/dev") wbps=104857600" >/sys/fs/cgroup/mid/io.max
wait $pid; code=$?
check_eq "$code" 1 "a limit on its control group in the middle ends the test"
check_has "$(cat /tmp/err)" "/sys/fs/cgroup/mid/io.max says" "  and its file is named"
check_eq "$(sum "$one")" "$before" "  with the content as before"

check_exit 0 "and it can be measured" zerocap measure "/dev/$one" --scratch label $J
check_eq "$(sum "$one")" "$before" "with the content as before"

# --- a file system that starts in the range of a disk without a table ---
fill "$gone"
mkfs.ext4 -q -F -E offset=$((16 << 20)) "/dev/$gone" 16M
refuse 1 "a range with a file system in it" "ext4" "/dev/$gone" --scratch 16MiB+16MiB
fill "$gone"
mkfs.ext4 -q -F "/dev/$gone"
refuse 1 "a range inside a file system" "ext4" "/dev/$gone" --scratch 32MiB+16MiB
fill "$gone"
before=$(sum "$gone")

# --- the device vanishes in the middle ---
from=$(written "$gone")
zerocap measure "/dev/$gone" --scratch 16MiB+16MiB $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$gone" "$from" 24
echo 1 >"$(readlink -f "/sys/block/$gone/device/device")/remove"
wait_for 60 sh -c "! kill -0 $pid"
wait $pid; code=$?
check_eq "$code" 1 "a device that vanishes: exit 1"
note "$(cat /tmp/err)"
check_has "$(cat /tmp/err)" "/dev/" "  the device is named"
check "  the journal is kept" test -n "$(ls /host/journal/*.journal)"
echo 1 >/sys/bus/pci/rescan; wait_for 20 disk gone; settle
check_exit 0 "back again, recover puts the content back" zerocap recover --journal /host/journal
note "$OUT"
check_eq "$(sum "$(disk gone)")" "$before" "byte for byte"
