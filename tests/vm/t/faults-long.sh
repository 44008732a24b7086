#!/bin/bash
# ring: long
# What goes wrong beside the test, and what must come of it: the disk's content is whole in the end, and a healthy disk is not
# accused. Blocks of 4096 bytes behind sectors of 512, a disk that grew, an administrator's zeroing_mode, a journal and an
# intent on a disk that fails, a disk that turns read-only, is suspended or reserved by another host in the middle of a test.
# vm: -m 768 -n work:64M:write_ms_per_mib=15,zero_ms_per_mib=5 -d state:96M:virtio
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /tmp/j /jm
J="--journal /tmp/j --data-ok"
child_gone() { wait_for "${1:-20}" sh -c '! pgrep -f port-chil[d]'; }
mode() { cat /sys/block/"$1"/device/scsi_disk/*/zeroing_mode; }
# kill_at DISK MIB ARGS... : a test of the disk, killed when so much was written
kill_at() {
    local disk=$1 mib=$2 from pid
    shift 2
    from=$(written "$disk")
    zerocap measure "/dev/$disk" "$@" >/tmp/out 2>/tmp/err &
    pid=$!
    wait_written "$disk" "$from" "$mib"
    kill -9 $pid; wait $pid 2>/dev/null
    child_gone
}
class() { zerocap show --json "/dev/$1" | json 'd[0]["class"]'; }
hazards() { zerocap show --json "/dev/$1" | json '[f["code"] for f in d[0]["findings"] if f["severity"] == "error"]'; }

# --- physical blocks of 4096 bytes, logical ones of 512 ---
sd=$(sdebug physblk_exp=3 lbpws=1 lbpu=1)
fill "$sd"; before=$(sum "$sd")
check_eq "$(q "$sd" logical_block_size)/$(q "$sd" physical_block_size)" 512/4096 "the disk has both sizes"
check_exit 1 "a range that shares a physical block with other data is refused" zerocap measure "/dev/$sd" --scratch $((8 << 20 | 512))+8MiB $J --thin-ok
check_has "$ERR" "4096" "  and the size is named: $ERR"
check_exit 0 "a whole test" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --thin-ok --max-bytes 192MiB
check_eq "$(sum "$sd")" "$before" "  the whole disk is as before"
kill_at "$sd" 40 --scratch 8MiB+16MiB $J --thin-ok
check_exit 0 "recover after a kill" zerocap recover --journal /tmp/j
check_eq "$(sum "$sd")" "$before" "  the whole disk is as before"
check "remove" sdebug_rm

# --- a disk that grew after the test was cut off ---
sd=$(sdebug lbpws=1 lbpu=1)
fill "$sd"; before=$(sum "$sd")
kill_at "$sd" 40 --scratch 8MiB+16MiB $J --thin-ok
check "the content is away" test "$(sum "$sd")" != "$before"
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/virtual_gb
echo 1 >"/sys/block/$sd/device/rescan"; settle
check_eq "$(cat "/sys/block/$sd/size")" $((1 << 21)) "the disk has 1 GiB now"
check_exit 0 "recover puts it back all the same" zerocap recover --journal /tmp/j
check_eq "$(dd if="/dev/$sd" bs=1M count=64 iflag=direct status=none | sha256sum | cut -d' ' -f1)" "$before" "  its content is as before"
check "remove" sdebug_rm

# --- a kill in the middle of --tune: the mode that an administrator had set comes back with the content ---
sd=$(sdebug lbpws=1 lbpu=1 lbpws10=1)
fill "$sd"; before=$(sum "$sd"); own=$(mode "$sd")
echo writesame_10_unmap >/sys/block/"$sd"/device/scsi_disk/*/zeroing_mode
from=$(written "$sd")
zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --thin-ok --tune >/tmp/out 2>/tmp/err &
pid=$!
other_mode() { [ "$(mode "$sd")" != writesame_10_unmap ]; }
wait_for 60 other_mode; wait_written "$sd" "$from" 24
note "killed while the mode is $(mode "$sd")"
kill -9 $pid; wait $pid 2>/dev/null
child_gone
note "after the kill it is $(mode "$sd"); the kernel's own is $own"
check_exit 0 "recover" zerocap recover --journal /tmp/j
check_eq "$(mode "$sd")" writesame_10_unmap "the mode is the administrator's again"
check_eq "$(sum "$sd")" "$before" "  and the content as before"
check_eq "$(class "$sd")/$(hazards "$sd")" "unknown/[]" "  nothing is held against the disk"
check "remove" sdebug_rm

# --- the disk of the journal and of the intent fails ---
work=$(disk work) state=$(disk state)
size=$(blockdev --getsz "/dev/$state")
state_table() { # state_table linear|error : what the disk of the state does from now on
    dmsetup suspend --nolockfs --noflush state
    if [ "$1" = linear ]; then dmsetup load state --table "0 $size linear /dev/$state 0"; else dmsetup load state --table "0 $size error"; fi
    dmsetup resume state; echo 3 >/proc/sys/vm/drop_caches
}
dmsetup create state --table "0 $size linear /dev/$state 0"; settle
mkfs.ext4 -q /dev/mapper/state; mount /dev/mapper/state /jm
fill "$work"; before=$(sum "$work")
from=$(written "$work")
state_table error
check_exit 1 "a journal that cannot be written: no test" zerocap measure "/dev/$work" --scratch 8MiB+16MiB --journal /jm --data-ok
check_has "$ERR" "/jm" "  the path is named: $ERR"
check_eq "$(written "$work")" "$from" "  the disk was not written to"
umount /jm; state_table linear; mount /dev/mapper/state /jm
zerocap recover --journal /jm >/tmp/out 2>&1; note "recover: $(head -n 1 /tmp/out)"
kill_at "$work" 40 --scratch 8MiB+16MiB --journal /jm --data-ok
umount /jm; mount /dev/mapper/state /jm
left=$(sum "$work")
state_table error
check_exit 1 "a journal that cannot be read at recovery" zerocap recover --journal /jm
check_has "$ERR" "/jm" "  the path is named: $ERR"
check_eq "$(sum "$work")" "$left" "  nothing was touched"
umount /jm; state_table linear; mount /dev/mapper/state /jm
check_exit 0 "once it can be read" zerocap recover --journal /jm
check_eq "$(sum "$work")" "$before" "  the content is as before"
check "  and nothing is left" test -z "$(find /jm /var/lib/zerocap/intent -type f)"
# The intent itself cannot be written any more, in the middle of the test.
mkdir -p /jm/state
from=$(written "$work")
zerocap measure "/dev/$work" --scratch 8MiB+16MiB --journal /tmp/j --data-ok --state /jm/state >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$work" "$from" 24; state_table error
wait $pid; code=$?
check_eq "$code" 1 "an intent that cannot be written ends the test: $(cat /tmp/err)"
umount /jm; state_table linear; mount /dev/mapper/state /jm
check_eq "$(sum "$work")" "$before" "  the content is as before"
check_exit 1 "  recover cannot know that" zerocap recover --journal /tmp/j --state /jm/state
check_has "$ERR" "holds all of the old content" "  and says what it sees: $ERR"
check_exit 0 "  what it names ends it" zerocap recover --give-up "/dev/$work" --journal /tmp/j --state /jm/state
check_eq "$(hazards "$work")" "[]" "  nothing is held against the disk"
rm -rf /jm/state

# --- the disk turns read-only in the middle ---
from=$(written "$work")
zerocap measure "/dev/$work" --scratch 8MiB+16MiB $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$work" "$from" 24; blockdev --setro "/dev/$work"
wait $pid; code=$?
check_eq "$code" 1 "a disk that turns read-only ends the test: $(cat /tmp/err)"
check_eq "$(hazards "$work")" "[]" "  nothing is held against it"
check_exit 1 "recover while it is read-only" zerocap recover --journal /tmp/j
note "$ERR"
check "  the journal is kept" test -n "$(ls /tmp/j)"
blockdev --setrw "/dev/$work"
check_exit 0 "recover when it can be written again" zerocap recover --journal /tmp/j
check_eq "$(sum "$work")" "$before" "  the content is as before"

umount /jm; dmsetup remove --retry state

# --- the kernel serves it to others ---
T=/sys/kernel/config/target
modprobe -a target_core_mod target_core_iblock
core=$T/core/iblock_1/lio
mkdir -p "$core"; echo "udev_path=/dev/$work" >"$core/control"; echo 1 >"$core/enable"
check_exit 1 "a disk that LIO serves is refused" zerocap measure "/dev/$work" --scratch 8MiB+16MiB $J
check_has "$ERR" "LIO" "  and LIO is named: $ERR"
rmdir "$core"

# --- another host reserves the disk in the middle: each command ends with the status RESERVATION CONFLICT ---
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
sd=$(sdebug)
fill "$sd"; before=$(sum "$sd")
errors=/sys/kernel/debug/scsi_debug/$(basename "$(readlink -f "/sys/block/$sd/device")")/error
from=$(written "$sd")
zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$sd" "$from" 24
for op in 0x2a 0x8a 0x93 0x41; do echo "2 1 $op 0x0 0x0 0x18 0x0 0x0 0x0" >"$errors"; done
wait $pid; code=$?
check_eq "$code" 1 "a reservation ends the test: $(cat /tmp/err)"
check_exit 1 "recover while it is reserved" zerocap recover --journal /tmp/j
note "$ERR"
for op in 0x2a 0x8a 0x93 0x41; do echo "- 2 $op" >"$errors"; done
check_exit 0 "recover when it is free" zerocap recover --journal /tmp/j
check_eq "$(sum "$sd")" "$before" "  the content is as before"
check_eq "$(hazards "$sd")" "[]" "  nothing is held against it"

# --- a disk that is gone for good: its journal is given up by its name ---
kill_at "$sd" 24 --scratch 8MiB+16MiB $J
check "remove" sdebug_rm
check_exit 1 "recover without the disk" zerocap recover --journal /tmp/j
check_has "$ERR" "not present" "  says so: $ERR"
name=$(cd /tmp/j && ls -- *.journal); name=${name%.journal}
check_exit 0 "  given up by the name that it printed" zerocap recover --give-up "$name" --journal /tmp/j
check "no journal and no intent is left" test -z "$(find /tmp/j /var/lib/zerocap/intent -type f)"

# --- a device-mapper device is suspended in the middle, for longer than the deadline of a call ---
before=$(sum "$work")
dmsetup create over --table "0 $(blockdev --getsz "/dev/$work") linear /dev/$work 0"; settle
dm=$(basename "$(readlink -f /dev/mapper/over)")
from=$(written "$dm")
zerocap measure "/dev/$dm" --scratch 8MiB+16MiB $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$dm" "$from" 24; dmsetup suspend over
wait $pid; code=$?
check_eq "$code" 1 "a device that is suspended ends the test: $(cat /tmp/err)"
check_exit 1 "recover while the child waits" timeout 120 zerocap recover --journal /tmp/j
check_has "$ERR" "flight" "  says that a call is still in flight: $ERR"
dmsetup resume over; child_gone
check_exit 0 "recover after it was resumed" zerocap recover --journal /tmp/j
check_eq "$(sum "$work")" "$before" "  the content is as before"
check_eq "$(hazards "$dm")$(hazards "$work")" "[][]" "  nothing is held against the devices"
dmsetup remove --retry over
check "no journal and no intent is left" test -z "$(find /tmp/j /var/lib/zerocap/intent -type f)"
