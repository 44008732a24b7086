#!/bin/bash
# `is-zero` finds the one byte wherever it is, at device speed, and `initial_state` says what is known without reading.
# vm: -d plain:64M:nvme -d thin:64M:virtio -m 768
. "${0%/*}/../lib.sh"
plain=$(disk plain)

# --- reading ---
check_exit 0 "an empty disk" zerocap is-zero "/dev/$plain"
check_has "$OUT" "is zero: all 64 MiB" "says so"
size=$((64 << 20))
for at in 0 1 511 512 1048575 1048576 33554431 $((size - 1)); do
    printf x | dd of="/dev/$plain" bs=1 seek=$at conv=notrunc status=none
    check_exit 7 "a byte at $at" zerocap is-zero "/dev/$plain"
    check_has "$OUT" "block $((at / 512)) of 512 bytes is the first that is not (byte $at)" "and names it"
    printf '\0' | dd of="/dev/$plain" bs=1 seek=$at conv=notrunc status=none
done
check_exit 0 "quiet" zerocap is-zero -q "/dev/$plain"; check_eq "$OUT$ERR" "" "prints nothing"
printf x | dd of="/dev/$plain" bs=1 seek=$((40 << 20)) conv=notrunc status=none
printf x | dd of="/dev/$plain" bs=1 seek=$((20 << 20)) conv=notrunc status=none
check_has "$(zerocap is-zero --json "/dev/$plain" | json '(d["zero"], d["first_nonzero_byte"], d["first_nonzero_block"])')" "(False, 20971520, 40960)" "of two bytes the first"
blkdiscard -z "/dev/$plain"
printf 'label: gpt\nstart=2048, size=20480\n' | sfdisk -q "/dev/$plain"; wait_for 5 test -b "/dev/${plain}p1"
check_exit 0 "a partition is read itself" zerocap is-zero "/dev/${plain}p1"
check_exit 7 "and the table is on the disk" zerocap is-zero "/dev/$plain"
check_has "$OUT" "block 0" "in block 0"
check_exit 32 "no device" zerocap is-zero /dev/none

# --- at device speed: a command takes 20 ms, and several can be on their way ---
sd=$(sdebug ndelay=20000000 lbpu=1 lbpws=1 lbprz=1)
# depth COMMAND... : how many requests were in flight on average, times ten, by the kernel's own account (stat: time in the
# queue over time busy). One by one is the measure, since the kernel splits what is large.
depth() {
    local before after
    read -ra before <"/sys/block/$sd/stat"
    "$@" >/tmp/read 2>/dev/null
    read -ra after <"/sys/block/$sd/stat"
    echo $(((after[10] - before[10]) * 10 / (after[9] - before[9] + 1)))
}
alone=$(depth dd if="/dev/$sd" of=/dev/null bs=1M iflag=direct)
together=$(depth zerocap is-zero --json "/dev/$sd")
note "64 MiB in $(json 'int(d["seconds"] * 1000)' </tmp/read) ms; in flight on average, in tenths: $together, one by one $alone"
timed check "requests are in flight together" test "$together" -ge $((alone * 3 / 2))
printf x | dd of="/dev/$sd" bs=1 seek=$((1 << 20)) conv=notrunc,fsync status=none
read=$(zerocap is-zero --json "/dev/$sd" | json 'd["read_bytes"]')
[ "$read" -le $((20 << 20)) ] && ok "it stops early ($read bytes read)" || fail "it stops early ($read bytes read)"
settle; check "scsi_debug goes away" sdebug_rm

# --- what is known without reading ---
state() { zerocap show --json "$1" | json '(d[0]["initial_state"]["state"], d[0]["initial_state"]["how"])'; }
truncate -s 32M /tmp/img; loop=$(losetup -f --show /tmp/img)
check_eq "$(state "$loop")" "('zero', 'loop-holes')" "a loop over holes"
printf x | dd of="$loop" bs=1 seek=5000 conv=notrunc,fsync status=none
check_eq "$(state "$loop")" "('data', 'loop-holes')" "with a byte in it"
check_exit 7 "which reading finds" zerocap is-zero "$loop"
losetup -d "$loop"
thin=/dev/$(disk thin)
pvcreate -qq -y "$thin" >/dev/null; vgcreate -qq vg "$thin" >/dev/null
nocheck='global/thin_check_executable=""'
lvcreate -qq -y --config "$nocheck" -L 40M -T vg/pool >/dev/null 2>&1
lvcreate -qq -y --config "$nocheck" -V 64M -T vg/pool -n vol >/dev/null 2>&1; settle
if [ -b /dev/vg/vol ]; then
    check_eq "$(state /dev/vg/vol)" "('zero', 'dm-thin')" "a thin volume"
    check_exit 0 "which reading confirms" zerocap is-zero /dev/vg/vol
    printf x | dd of=/dev/vg/vol bs=1 seek=$((10 << 20)) conv=notrunc,fsync status=none
    check_eq "$(state /dev/vg/vol)" "('data', 'dm-thin')" "with a byte in it"
else fail "a thin volume was made"; fi
sd=$(sdebug lbpu=1 lbpws=1 lbprz=1)
check_eq "$(state "$sd")" "('zero', 'scsi-lba-status')" "a SCSI disk with nothing mapped"
dd if=/dev/urandom of="/dev/$sd" bs=4096 seek=100 count=1 oflag=direct status=none
check_eq "$(state "$sd")" "('data', 'scsi-lba-status')" "with a block mapped"
settle; check "scsi_debug goes away" sdebug_rm
check_eq "$(state "$plain")" "('unknown', None)" "NVMe without thin provisioning says nothing"
