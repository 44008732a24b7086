#!/bin/bash
# ring: long
# `measure --all`: several disks on NVMe, SCSI and virtio controllers, one of which hangs, one lies, one has no place and one is
# pulled out in the middle. Each gets its own answer, two on one SCSI host never run at a time, an interrupt ends all of them with
# their content back.
# vm: -m 640 -n a:96M:write_ms_per_mib=12 -n hang:96M:hang_after=9,bus=virtio -n s1:96M:write_ms_per_mib=16,bus=scsi
# vm: -n s2:96M:write_ms_per_mib=16,bus=scsi -n half:96M:zero=half -d full:32M:virtio
# takes: 200
. "${0%/*}/../lib.sh"
install_rules
for name in a hang s1 s2 half full; do declare "$name=$(disk $name)"; [ -n "${!name}" ] || exit 1; done
# A hanging NVMe disk would hold up all of the emulation once the kernel resets it. The SCSI disks of the emulation are thin.
J="--journal /host/journal --max-bytes 256MiB --max-seconds 40 --deadline 12 --thin-ok"
for d in $a $hang $s1 $s2 $half; do
    printf 'label: gpt\nstart=2048, size=16384\n' | sfdisk -q "/dev/$d"
    dd if=/dev/urandom of="/dev/$d" bs=1M seek=1 count=8 oflag=direct status=none
done
settle
line() { grep "^$1 " <<<"$OUT" | tr -s ' '; } # the line of a device
kept() { ls /etc/zerocap/devices 2>/dev/null | wc -l; }

check_exit 2 "without a policy there is nothing to test" zerocap measure --all
check_has "$ERR" "--scratch auto" "and what would be is said: $ERR"
check_exit 2 "a place for many devices can only be auto" zerocap measure --all --scratch 16MiB+16MiB
check_exit 2 "and a device and all of them are not typed together" zerocap measure --all "/dev/$a"

# --- a policy, a dry run ---
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\nserial = "a|s1"\nmeasure = "auto"\nscratch = "auto"\n' >/etc/zerocap/policy.d/20-auto.toml
from=$(written "$a")
check_exit 0 "a dry run of what policy allows" zerocap measure --all --dry-run $J
check_eq "$(grep -c 'would be tested' <<<"$OUT")" 2 "has the two devices of the rule"
check_eq "$(written "$a")" "$from" "and writes nothing"

# --- everywhere ---
before=$(for d in $a $s1 $s2 $half; do sum "$d"; done)
check_exit 64 "all that have a place" zerocap measure --all --scratch auto --jobs 3 --verbose $J
sed 's/^/      | /' <<<"$OUT"
check_has "$(line "$a")" " gap" "the NVMe disk was tested in its gap: $(line "$a")"
timed check_has "$(line "$a")" "$a fast " "and is fast"
check_has "$(line "$s1")" " gap" "so was the first SCSI disk"
check_has "$(line "$s2")" " gap" "and the second"
check_has "$(line "$half")" "$half broken " "the liar is broken"
check_has "$(line "$hang")" "$hang failed - " "the one that hangs has no answer here"
check_has "$(line "$hang")" "was not answered in 12 s" "and why: $(line "$hang")"
check_has "$(line "$full")" "left out: " "the one without a place is left out: $(line "$full")"
# Of the lines of pairs in their order of time: each SCSI disk's stand together.
order=$(grep -oE "^zerocap: ($s1|$s2): pair" <<<"$ERR" | uniq | wc -l)
check_eq "$order" 2 "two disks of one SCSI host were not tested at a time"
check_eq "$(for d in $a $s1 $s2 $half; do sum "$d"; done)" "$before" "what lies on them is as before"
check_eq "$(prop "$half" ZEROCAP_CLASS)" broken "udev knows the liar"
check_eq "$(prop "$a" ZEROCAP_CLASS)" "$(line "$a" | cut -d' ' -f2)" "and the other"

# --- an interrupt ---
from=$(written "$a")
zerocap measure --all --scratch auto --jobs 3 $J >/tmp/out 2>/tmp/err & pid=$!
check "it writes" wait_written "$a" "$from" 8
kill -INT $pid
wait $pid; code=$?
OUT=$(cat /tmp/out); sed 's/^/      | /' /tmp/out
# 64 where one was through before.
check "an interrupt ends all of them" test "$code" = 1 -o "$code" = 64
check_has "$(line "$a")" "interrupted; the content was put back" "the one that ran put its content back"
check_has "$(line "$s2")" "interrupted before its turn" "the one that waited was not begun"
check_has "$(line "$hang")" "$hang failed - " "what hung before has no answer either"
check_eq "$(for d in $a $s1 $s2 $half; do sum "$d"; done)" "$before" "everything is as before"

# --- pulled out in the middle ---
printf '[[rule]]\nserial = "a|s1"\nmeasure = "auto"\nscratch = "auto"\n' >/etc/zerocap/policy.d/20-auto.toml
from=$(written "$s1")
zerocap measure --all $J >/tmp/out 2>/tmp/err & pid=$!
check "the SCSI disk is written to" wait_written "$s1" "$from" 4
echo 1 >"/sys/block/$s1/device/delete"
wait $pid; code=$?
OUT=$(cat /tmp/out); sed 's/^/      | /' /tmp/out
check_eq "$code" 64 "one of two failed"
check_has "$(line "$s1")" "$s1 failed - " "the one that is gone: $(line "$s1")"
check_has "$(line "$a")" " gap" "the other has its answer"
timed check_has "$(line "$a")" "$a fast " "as without it"
