#!/bin/bash
# An inactive swap partition as scratch: it gives the class, its first MiB and all the rest of the disk stay, nothing is journalled,
# and `auto` takes it where there is no label and no gap. Active swap and an image of hibernation refuse; swapon in the middle is
# kept out; after a kill recovery ends the intent and writes nothing.
# vm: -n swap:160M:write_ms_per_mib=16 -d mbr:96M:virtio
# takes: 100
. "${0%/*}/../lib.sh"
install_rules
swap=$(disk swap) mbr=$(disk mbr)
# DISK PARTITION : the checksum of all of the disk but the partition behind its first MiB
rest() {
    local start=$(($(cat "/sys/block/$1/$2/start") / 2048)) length=$(($(cat "/sys/block/$1/$2/size") / 2048))
    blockdev --flushbufs "/dev/$1"
    { dd if="/dev/$1" bs=1M count=$((start + 1)) iflag=direct status=none
      dd if="/dev/$1" bs=1M skip=$((start + length)) iflag=direct status=none; } | sha256sum | cut -d' ' -f1
}

# --- one disk: a file system with the state of zerocap, and swap to the end; no gap ---
fill "$swap"
sfdisk -q --wipe always "/dev/$swap" <<'T'
label: gpt
start=2048, size=81920
start=83968, type=swap
T
wait_for 5 test -b "/dev/${swap}p2"; settle "${swap}p2"
mkfs.ext4 -q "/dev/${swap}p1"; mkswap -q "/dev/${swap}p2" 2>/dev/null || mkswap "/dev/${swap}p2" >/dev/null; settle
mkdir -p /var/lib/zerocap; mount "/dev/${swap}p1" /var/lib/zerocap; chmod 700 /var/lib/zerocap; settle
sync
uuid=$(blkid -p -s UUID -o value "/dev/${swap}p2")
head_before=$(dd if="/dev/${swap}p2" bs=1M count=1 iflag=direct status=none | sha256sum)

check "it is active for now" swapon "/dev/${swap}p2"
check_exit 2 "the list, while the swap is active" zerocap measure "/dev/$swap"
check_has "$OUT" "/dev/${swap}p2 is active swap, so the kernel writes to it; run \`swapoff /dev/${swap}p2\` before the test" "says what would make it a place"
check_exit 1 "and a test there refuses" zerocap measure "/dev/$swap" --scratch "/dev/${swap}p2"
check_exit 1 "so does auto" zerocap measure "/dev/$swap" --scratch auto
check_has "$ERR" "/dev/${swap}p2: /dev/${swap}p2 is active swap" "and says so"
check "swapoff" swapoff "/dev/${swap}p2"

# The signature of an image of hibernation, put there by hand (kernel/power/swap.c: the last ten bytes of the first page).
printf 'S1SUSPEND\0' | dd of="/dev/${swap}p2" bs=1 seek=4086 conv=notrunc status=none; settle
check_eq "$(blkid -p -s TYPE -o value "/dev/${swap}p2")" swsuspend "an image of hibernation"
check_exit 1 "refuses" zerocap measure "/dev/$swap" --scratch "/dev/${swap}p2"
check_has "$ERR" "holds swap space with a hibernation image" "with what it is: $ERR"
check_exit 1 "and auto does not take it" zerocap measure "/dev/$swap" --scratch auto
printf 'SWAPSPACE2' | dd of="/dev/${swap}p2" bs=1 seek=4086 conv=notrunc status=none; settle

check_exit 2 "the list" zerocap measure "/dev/$swap"
sed 's/^/      | /' <<<"$OUT"
command=$(grep -m 1 -o 'zerocap measure .*' <<<"$OUT")
check_eq "$command" "zerocap measure /dev/$swap --scratch /dev/${swap}p2" "has the swap partition as the first place"
check_exit 0 "its plan" $command --dry-run
check_has "$OUT" "would journal nothing and put nothing back" "keeps nothing"

# --- killed in the middle: recovery ends the intent, the machine swaps to it as before ---
from=$(written "$swap")
$command >/tmp/out 2>&1 & pid=$!
check "it writes" wait_written "$swap" "$from" 8
check_eq "$(swapon "/dev/${swap}p2" 2>&1 >/dev/null | grep -oi 'busy')" busy "swapon in the middle is kept out by the claim"
check_eq "$(ls -A /var/lib/zerocap/journal 2>/dev/null)" "" "there is no journal"
kill -KILL $pid; wait $pid 2>/dev/null
check "the intent is left" test -n "$(ls /var/lib/zerocap/intent)"
check_exit 1 "no test before recovery" $command
wait_for 20 sh -c "[ \$(awk '{print \$9}' /sys/block/$swap/stat) = 0 ]"
before=$(dd if="/dev/${swap}p2" bs=1M skip=1 iflag=direct status=none | sha256sum)
check_exit 0 "recover" zerocap recover
check_has "$OUT" "there is nothing to put back" "says so: $OUT"
check_eq "$(dd if="/dev/${swap}p2" bs=1M skip=1 iflag=direct status=none | sha256sum)" "$before" "and writes nothing there"
check_eq "$(ls /var/lib/zerocap/intent)" "" "the intent has ended"
check_eq "$(dd if="/dev/${swap}p2" bs=1M count=1 iflag=direct status=none | sha256sum)" "$head_before" "the first MiB is as before"
check "swapon works after the kill" swapon "/dev/${swap}p2"; swapoff "/dev/${swap}p2"; settle

# --- the test ---
umount /var/lib/zerocap
before=$(rest "$swap" "${swap}p2")
check_exit 0 "the command of the list" zerocap measure "/dev/$swap" --scratch auto --json
note "$(json 'd["class"], d["measured"]["inconclusive"], [f["code"] for f in d["findings"]]' <<<"$OUT")"
timed check_eq "$(json 'd["class"], d["measured"]["scratch"]' <<<"$OUT")" "('fast', 'swap')" "gives the class"
check_eq "$(rest "$swap" "${swap}p2")" "$before" "the rest of the disk, the first MiB of the swap too, is as before"
check_eq "$(blkid -p -s UUID -o value "/dev/${swap}p2")" "$uuid" "it is found by the same UUID"
check "and is activated as before" swapon "/dev/${swap}p2"; swapoff "/dev/${swap}p2"; settle

# --- an MBR: the type 82 with the signature is taken by auto, one without the type only by its name ---
sfdisk -q "/dev/$mbr" <<'T'
label: dos
start=2048, size=65536, type=82
start=67584, type=83
T
wait_for 5 test -b "/dev/${mbr}2"; settle "${mbr}2"
mkswap "/dev/${mbr}1" >/dev/null; mkswap "/dev/${mbr}2" >/dev/null; settle
check_exit 0 "auto on an MBR" zerocap measure "/dev/$mbr" --scratch auto --dry-run
check_has "$OUT" "would use bytes 2097664+" "takes the swap partition by type and signature, behind its first MiB"
check_has "$OUT" "of /dev/${mbr}1" "the first"
sfdisk -q --part-type "/dev/$mbr" 1 83; settle "${mbr}1"
check_exit 1 "one that is not swap by its type" zerocap measure "/dev/$mbr" --scratch auto --dry-run
check_exit 0 "is taken where it is named" zerocap measure "/dev/$mbr" --scratch "/dev/${mbr}1" --dry-run
