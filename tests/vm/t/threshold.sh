#!/bin/bash
# ring: long
# A thin device that calls attention to its pool (unit attention 38h/07h) stops the test, as no space does; also below
# another device.
# vm: -m 768
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 128MiB"

# --- a threshold of the pool: the command succeeds by the kernel's retry, only its event tells (sense 6/38/07) ---
sd=$(sdebug lbpws=1)
inject=/sys/kernel/debug/scsi_debug/$(basename "$(readlink -f "/sys/block/$sd/device")")/error
dd if=/dev/urandom of="/dev/$sd" bs=1M count=32 oflag=direct status=none; settle
before=$(sum "$sd")
for op in 0x93 0x2a; do # WRITE SAME(16), WRITE(10)
    echo "2 -1 $op 0 0 0x2 6 0x38 7" >"$inject"
    check_exit 1 "a threshold reached at command $op" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --thin-ok
    check_has "$ERR" "unit attention 38h/07h" "is said"
    check_eq "$(sum "$sd")" "$before" "the content is as before"
    check "no journal is left" test -z "$(ls /host/journal)"
    check_exit 5 "the device is not broken by it" zerocap check "/dev/$sd"
    echo "- 2 $op" >"$inject"
done
echo "2 -1 0x93 0 0 0x2 6 0x38 7" >"$inject"
check_exit 1 "in a network of its own, as the unit has" unshare -n zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --thin-ok
check_has "$ERR" "unit attention 38h/07h" "it is heard too"
echo "2 -1 0x93 0 0 0x2 6 0x2a 1" >"$inject"
check_exit 0 "another attention (mode parameters changed) stops nothing" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --thin-ok
# below another device
echo "2 -1 0x93 0 0 0x2 6 0x38 7" >"$inject"
dmsetup create over --table "0 65536 linear /dev/$sd 0"; settle
check_exit 1 "a device over a thin one" zerocap measure /dev/mapper/over --scratch 8MiB+16MiB $J
check_has "$ERR" "$sd below it: " "is thin"
check_exit 1 "and hears of its threshold" zerocap measure /dev/mapper/over --scratch 0+16MiB $J --thin-ok
check_has "$ERR" "unit attention 38h/07h" "too"
dmsetup remove --retry over
check_eq "$(sum "$sd")" "$before" "the content is as before"
check "remove" sdebug_rm
