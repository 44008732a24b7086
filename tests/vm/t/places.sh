#!/bin/bash
# `measure DEV` without --scratch lists where a test is possible on the disk as it is, each with its command, and why elsewhere
# it is not; the command that it lists is then typed. A machine with one disk, whose state lies on that disk, needs no --journal.
# vm: -n gpt:256M:write_ms_per_mib=16 -d mbr:256M:virtio -d full:64M:virtio -d blank:128M:virtio
# takes: 100
. "${0%/*}/../lib.sh"
install_rules
gpt=$(disk gpt) mbr=$(disk mbr) full=$(disk full) blank=$(disk blank)
# The rest of the disk, without the file system of the state, which changes of itself: from this MiB on.
rest() { blockdev --flushbufs "/dev/$1"; dd if="/dev/$1" bs=1M skip="$2" iflag=direct status=none | sha256sum | cut -d' ' -f1; }

# --- a GPT: the state of zerocap on an ext4 of the disk itself, a gap behind it, a partition with data, one without ---
sfdisk -q "/dev/$gpt" <<'T'
label: gpt
start=2048, size=163840
start=296960, size=65536
start=362496, size=65536
T
wait_for 5 test -b "/dev/${gpt}p3"; settle "${gpt}p3"
mkfs.ext4 -q "/dev/${gpt}p1"; mkfs.ext4 -q "/dev/${gpt}p2"
dd if=/dev/urandom of="/dev/${gpt}p3" bs=1M oflag=direct status=none 2>/dev/null
mkdir -p /var/lib/zerocap; mount "/dev/${gpt}p1" /var/lib/zerocap; chmod 700 /var/lib/zerocap; settle
before=$(rest "$gpt" 82)
check_exit 2 "without a place nothing is tested" zerocap measure "/dev/$gpt"
sed 's/^/      | /' <<<"$OUT"
check_has "$(head -n 1 <<<"$OUT")" "/dev/$gpt: nothing was tested. Choose one of these commands, which name where the test may write:" "the first line says what to do"
check_has "$OUT" "zerocap measure /dev/$gpt --scratch gap" "the gap is possible"
check_has "$OUT" "label: no GPT partition is named zerocap-scratch" "label is not, and why"
check_has "$OUT" "/dev/${gpt}p1: " "nor is the mounted partition"
check_has "$OUT" "/dev/${gpt}p2: ${gpt}p2 holds an ext4 file system" "nor the one with a file system"
check_has "$OUT" "/dev/${gpt}p3: " "nor the one with data, whose journal would lie on the disk itself"
check_has "$OUT" "  /var/lib/zerocap: /var/lib/zerocap has " "nor files of the mounted file system, which has no room"
check_eq "$(rest "$gpt" 82)" "$before" "nothing was written"
command=$(grep -m 1 -o 'zerocap measure .*' <<<"$OUT")
check_exit 0 "the first command of the list" $command --json
timed check_eq "$(json 'd["class"], d["measured"]["scratch"]' <<<"$OUT")" "('fast', 'gap')" "gives the class"
check_eq "$(rest "$gpt" 82)" "$before" "and the rest of the disk is as before"
check_exit 0 "auto takes the same" zerocap measure "/dev/$gpt" --scratch auto --dry-run
check_has "$OUT" "on $gpt itself: the bytes read as zero" "with the journal on the disk itself"
check_exit 2 "with data allowed and a journal elsewhere" zerocap measure "/dev/$gpt" --data-ok --journal /host/journal
check_has "$OUT" "zerocap measure /dev/$gpt --scratch /dev/${gpt}p3 --data-ok --journal /host/journal" "the partition with data is possible too"
dd if=/dev/zero of=/var/lib/zerocap/filler bs=1M count=40 status=none; sync
check_exit 1 "a journal for which there is no room" zerocap measure "/dev/$gpt" --scratch gap
check_has "$ERR" "are free in /var/lib/zerocap" "is told before anything is written: $ERR"
umount /var/lib/zerocap

# --- an MBR with an extended partition, and a hole behind it ---
sfdisk -q "/dev/$mbr" <<'T'
label: dos
start=2048, size=65536, type=83
start=67584, size=131072, type=5
start=69632, size=65536, type=83
T
wait_for 5 test -b "/dev/${mbr}5"; settle "${mbr}5"
mkfs.ext4 -q "/dev/${mbr}1"; mkfs.ext4 -q "/dev/${mbr}5"; settle
before=$(sum "$mbr")
check_exit 0 "a hole of an MBR" zerocap measure "/dev/$mbr" --scratch gap --journal /host/journal --max-bytes 256MiB --json
check_eq "$(json 'd["measured"]["scratch"]' <<<"$OUT")" gap "is tested"
check_eq "$(sum "$mbr")" "$before" "the whole disk is as before"

# --- a file system to the end of the disk: nothing is possible, and that is said with a way out ---
printf 'label: gpt\nstart=2048\n' | sfdisk -q "/dev/$full"
wait_for 5 test -b "/dev/${full}1"; settle "${full}1"; mkfs.ext4 -q "/dev/${full}1"; settle
check_exit 2 "a full disk" zerocap measure "/dev/$full"
check_has "$(head -n 1 <<<"$OUT")" "no test is possible, because" "the first line is the answer"
check_has "$OUT" "an empty partition with the GPT name zerocap-scratch" "and what would make one possible"
check_exit 1 "auto refuses" zerocap measure "/dev/$full" --scratch auto
check_has "$ERR" "there is no place for a test on it; label: " "with the reasons: $ERR"

# --- a disk without a table ---
check_exit 2 "a blank disk" zerocap measure "/dev/$blank" --journal /host/journal
command=$(grep -m 1 -o 'zerocap measure .*' <<<"$OUT")
check_has "$command" "--scratch 16MiB+64MiB" "a range is offered"
check_exit 0 "which is tested" $command --max-bytes 256MiB
check_eq "$(sum "$blank")" "$(head -c 128M /dev/zero | sha256sum | cut -d' ' -f1)" "and reads zero as before"

# --- an /etc that cannot be written to: what a test says could not be kept, so there is none ---
mount --bind /etc /etc; mount -o remount,ro,bind /etc
from=$(written "$gpt")
check_exit 1 "where /etc is read-only no test is made" zerocap measure "/dev/$gpt" --scratch gap --journal /host/journal
check_has "$ERR" "/etc/zerocap" "and the place is named: $ERR"
check_eq "$(written "$gpt")" "$from" "and nothing was written"
umount /etc

# --- the table of what nobody has measured ends with the next step, on standard error ---
zerocap policy forget "/dev/$gpt" >/dev/null; settle
check_exit 0 "show" zerocap show
check_has "$ERR" "lists where a test is possible" "says what to do next: $ERR"
check_exit 0 "show one" zerocap show "/dev/$full"
check_has "$(tail -n 1 <<<"$OUT")" "\`zerocap measure /dev/$full\` lists where a test is possible" "its detail ends with the command"
