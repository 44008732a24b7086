#!/bin/bash
# Disks without an identity (virtio without a serial number): kept and found again by the sequence number, and on kernels that
# have none (before 5.15) by boot, number and size. A liar stays broken, a killed test gives the content back, and the next disk
# of the number is not taken for the one before. Any kernel: run -k 5.10.
# vm: -n lie:64M:bus=none,zero=lie -n cut:96M:bus=none,write_ms_per_mib=20,zero_ms_per_mib=5 -m 768
# vm: -- -device virtio-blk-pci,drive=lie,id=lie -device virtio-blk-pci,drive=cut,id=cut
# takes: 60
. "${0%/*}/../lib.sh"
install_rules
by_size() { # by_size MIB : the virtio disk of this size
    local d
    for d in /sys/block/vd*; do [ "$(cat "$d/size")" != $(($1 * 2048)) ] || echo "${d##*/}"; done
}
lie=$(by_size 64) cut=$(by_size 96)
note "kernel $(uname -r), sequence number: $(cat "/sys/block/$lie/diskseq" 2>&1)"
class() { zerocap show "/dev/$1" --json | json 'd[0]["class"]'; }

# --- a liar ---
zerocap measure "/dev/$lie" --scratch 8MiB+48MiB --data-ok --journal /host/journal >/tmp/out 2>&1
check_has "$(cat /tmp/out)" "old-data-left" "measure says what the liar did"
check_eq "$(class "$lie")" broken "it stays broken"
udevadm trigger --settle "/sys/block/$lie"
check_eq "$(prop "$lie" ZEROCAP_CLASS)" broken "and an event says so"
check_exit 6 "check: broken" zerocap check -q "/dev/$lie"
check_eq "$(echo "/dev/$lie" | python3 "${0%/*}/../../clients/consult/consult.py")" "write, never zero or discard" "the page's client in Python says so"
check_eq "$(echo "/dev/$lie" | sh "${0%/*}/../../clients/consult/consult.sh")" "write, never zero or discard" "and that in shell"

# --- a test that is killed ---
fill "$cut"
before=$(sum "$cut")
start=$(written "$cut")
zerocap measure "/dev/$cut" --scratch 8MiB+64MiB --data-ok --journal /host/journal >/tmp/out 2>&1 &
wait_written "$cut" "$start" 100
kill -KILL $!; wait $! 2>/dev/null
check_not "$(sum "$cut")" "$before" "the test was cut off with content away"
check_exit 1 "another test is refused" zerocap measure "/dev/$cut" --scratch 8MiB+64MiB --data-ok
check_has "$ERR" "zerocap recover" "and says what to do"
check_exit 0 "recover" zerocap recover
note "$OUT"
check_eq "$(sum "$cut")" "$before" "the content is as before, byte for byte"
check_exit 0 "a test is possible again" zerocap measure "/dev/$cut" --scratch 8MiB+64MiB --data-ok --journal /host/journal
check_has "fast slow unknown" "$(class "$cut")" "with an answer"
timed check_eq "$(class "$cut")" fast "which is the right one"

# --- the next disk of the number ---
number=$(cat "/sys/block/$lie/dev")
echo 1 >"/sys/block/$lie/device/../remove"
wait_for 20 test ! -e "/sys/block/$lie"; settle
check "at the remove event nothing is kept of its number" test ! -e "/run/zerocap/kept/$number.json"

# --- without an event: a loop whose file is exchanged ---
truncate -s 64M /tmp/one /tmp/two
loop=$(losetup -f --show /tmp/one)
zerocap measure "$loop" --scratch 8MiB+32MiB --data-ok --journal /host/journal >/tmp/out 2>&1
timed check_eq "$(zerocap show "$loop" --json | json 'd[0]["basis"]')" measured "a loop is measured: $(head -n 3 /tmp/out)"
udevadm control --stop-exec-queue
losetup -d "$loop"
check_eq "$(losetup -f --show /tmp/two)" "$loop" "another file takes its number before any event"
check_eq "$(zerocap show "$loop" --json | json 'd[0]["class"]')" unknown "and is not taken for it"
udevadm control --start-exec-queue
