#!/bin/bash
# Where a test may write, and how it ends before its time: `gap` on a GPT disk beside data; a signal between acts puts back
# and keeps nothing; progress on a terminal; a journal that an earlier test left is never thrown away.
# vm: -n gap:256M:write_ms_per_mib=16 -n sig:64M:write_ms_per_mib=25,zero_ms_per_mib=5
# takes: 110
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 128MiB"
gap=$(disk gap) sig=$(disk sig)
nothing_left() {
    check "no journal, intent or partition is left" test -z "$(find /host/journal /var/lib/zerocap/intent /run/zerocap/intent -type f; ls -d /sys/block/"$1"/"$1"p250 2>/dev/null)"
}

# --- gap ---
fill "$gap"
check_exit 1 "no table: no gap" zerocap measure "/dev/$gap" --scratch gap $J
check_has "$ERR" "no partition table" "and it says so"
# From sector 208896 on free: 102 MiB to 240 MiB, and 18 MiB to 22 MiB. Only the second half of the large one reads zero.
sfdisk -q "/dev/$gap" <<'T'
label: gpt
start=2048, size=34816
start=45056, size=163840
T
wait_for 5 test -b "/dev/${gap}p2"; settle "${gap}p2"
mkfs.ext4 -q "/dev/${gap}p2"; mkdir -p /mnt/a; mount "/dev/${gap}p2" /mnt/a; echo hello >/mnt/a/file; sync
check_exit 1 "gaps that hold data are refused" zerocap measure "/dev/$gap" --scratch gap $J --dry-run
check_has "$ERR" "between its partitions holds data" "and it says so"
dd if=/dev/zero of="/dev/$gap" bs=1M seek=18 count=4 oflag=direct status=none
dd if=/dev/zero of="/dev/$gap" bs=1M seek=102 count=64 oflag=direct status=none
echo x | dd of="/dev/$gap" bs=512 seek=$(((102 + 64) * 2048)) conv=notrunc status=none
# Read-only from here on: what the file system writes by itself would pass for damage.
sync; mount -o remount,ro /mnt/a; settle
before=$(sum "$gap")
check_exit 0 "the plan" zerocap measure "/dev/$gap" --scratch gap $J --dry-run
check_has "$OUT" "the gap at byte $((102 << 20)) reads as zero for 52 MiB" "the largest gap, and only as much of it as is used"
check_has "$OUT" "the partition table is intact" "the table is part of the proof"
check_exit 0 "measure in the gap, beside a mounted file system" zerocap measure "/dev/$gap" --scratch gap $J --json
timed check_eq "$(json 'd["class"], d["measured"]["scratch"]' <<<"$OUT")" "('fast', 'gap')" "fast, and it says where"
check_eq "$(sum "$gap")" "$before" "the whole device, tables and file system included, is as before"
nothing_left "$gap"
# A byte at the start of the large gap: the small one is next.
printf x | dd of="/dev/$gap" bs=1 seek=$((102 << 20)) conv=notrunc status=none; sync; settle
before=$(sum "$gap")
check_exit 0 "the next gap" zerocap measure "/dev/$gap" --scratch gap $J --dry-run
check_has "$OUT" "the gap at byte $((102 << 20)) is not used" "the first is passed over"
check_has "$OUT" "the gap at byte $((18 << 20)) reads as zero for 4 MiB" "the second is taken"
# One copy of the table damaged: nobody knows what is free.
dd if=/dev/zero of="/dev/$gap" bs=512 seek=$((256 * 2048 - 1)) count=1 oflag=direct status=none; settle
check_exit 1 "a damaged copy of the table is refused" zerocap measure "/dev/$gap" --scratch gap $J
check_has "$ERR" "intact GPT" "and it says so"
umount /mnt/a

# --- signals ---
fill "$sig"
before=$(sum "$sig")
for at in INT:0.4 INT:3 TERM:4.5 HUP:5; do
    s=${at%:*} wait=${at#*:}
    # Through a shell of its own: bash has background jobs ignore SIGINT.
    python3 - "$s" "$wait" "/dev/$sig" >/tmp/out 2>/tmp/err <<'P' &
import os, signal, subprocess, sys, time
p = subprocess.Popen(["zerocap", "measure", sys.argv[3], "--scratch", "16MiB+16MiB", "--journal", "/host/journal", "--data-ok"])
time.sleep(float(sys.argv[2]))
p.send_signal(getattr(signal, "SIG" + sys.argv[1]))
sys.exit(p.wait() % 256)
P
    wait $!; rc=$?
    # On a busy machine the signal may come before the program has taken it over, or after its end.
    timed check_eq "$rc" 1 "SIG$s after $wait s: exit 1"
    timed check_has "$(cat /tmp/err)" "interrupted; " "and it says so: $(cat /tmp/err)"
    check_eq "$(sum "$sig")" "$before" "content as before"
    nothing_left "$sig"
done
timed check_eq "$(ls /etc/zerocap/devices | wc -l)" 1 "nothing is kept: one file, of the other disk"
timed check_exit 5 "and nothing is known" zerocap check "/dev/$sig"
# systemd sends SIGTERM to the whole group: the acting child must live on for the put-back.
from=$(written "$sig")
zerocap measure "/dev/$sig" --scratch 16MiB+16MiB $J >/tmp/out 2>/tmp/err &
pid=$!
wait_written "$sig" "$from" 24
pkill -TERM -f port-child; kill -TERM $pid; wait $pid
check_has "$(cat /tmp/err)" "the content was put back" "a signal to parent and child alike"
check_eq "$(sum "$sig")" "$before" "content as before"
nothing_left "$sig"

# --- what it says ---
check_exit 0 "quiet, where nobody sits at a terminal" zerocap measure "/dev/$sig" --scratch 16MiB+4MiB $J
check_eq "$ERR" "" "nothing on standard error"
check_exit 0 "-v" zerocap measure "/dev/$sig" --scratch 16MiB+4MiB $J -v
check_has "$ERR" "pair 3: write " "a line a pair"
script -qec "zerocap measure /dev/$sig --scratch 16MiB+4MiB $J" /tmp/typescript >/dev/null
check "a progress line on a terminal" grep -aq ' %, at most [0-9]* s left; pair [0-9]*, ratio [0-9.]*' /tmp/typescript

# --- a journal without its word ---
mkdir -p /tmp/keep; from=$(written "$sig"); zerocap measure "/dev/$sig" --scratch 16MiB+16MiB $J >/dev/null 2>&1 & pid=$!
wait_written "$sig" "$from" 6; kill -9 $pid; wait $pid 2>/dev/null
wait_for 10 sh -c '! pgrep -f port-chil[d]'
mv /var/lib/zerocap/intent/* /tmp/keep/; rm -f /run/zerocap/intent/*
check_exit 1 "an earlier test's journal refuses a new test" zerocap measure "/dev/$sig" --scratch 16MiB+16MiB $J
check_has "$ERR" "zerocap recover" "and names the cure"
check "it is still there" test -n "$(ls /host/journal/*.journal)"
# Where the test had zeroed something by then, only the word says that these zeroes are its own: they are left and named.
code=0; zerocap recover --journal /host/journal >/tmp/out 2>/tmp/err || code=$?
if [ $code = 0 ]; then ok "recover"; else
    check_has "$(cat /tmp/err)" "they are left as they are" "zeroes that no word names are named"
    check "and the word names some" grep -q '"zeroed": *\[ *\[' /tmp/keep/*
    mv /tmp/keep/* /var/lib/zerocap/intent/
    check_exit 0 "with the word all is put back" zerocap recover --journal /host/journal
fi
check_eq "$(sum "$sig")" "$before" "content as before"
