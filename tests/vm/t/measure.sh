#!/bin/bash
# The main job: measure, right class for fast, throttled and lying devices, content byte for byte as before, the knob, the
# answer after re-add without measuring, and another device of the same model that is not taken for the measured one.
# vm: -n fast:64M:write_ms_per_mib=12 -n slow:64M:zero_ms_per_mib=12,write_ms_per_mib=12
# vm: -n slower:64M:zero_ms_per_mib=80,write_ms_per_mib=4 -n twin:64M:write_ms_per_mib=12
# takes: 70
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 256MiB"

fast=$(disk fast) slow=$(disk slow) slower=$(disk slower) twin=$(disk twin)
for d in $fast $slow $slower; do fill "$d"; done

# --- fast, on a byte range of a disk without a partition table ---
before=$(sum "$fast")
check_exit 0 "dry run" zerocap measure "/dev/$fast" --scratch 16MiB+16MiB $J --dry-run
check_has "$OUT" "no signature on the whole disk" "the proof is printed"
check_eq "$(sum "$fast")" "$before" "a dry run changes nothing"
check_exit 0 "measure the fast device" zerocap measure "/dev/$fast" --scratch 16MiB+16MiB $J
note "$(head -1 <<<"$OUT")"
timed check_has "$(head -1 <<<"$OUT")" "zeroes fast" "the first line is the answer"
check_eq "$(sum "$fast")" "$before" "the whole device has the content that it had before"
check_not "$(zerocap show "/dev/$fast")" other-io "the device served nobody else"
check "no partition is left" test ! -e "/sys/block/$fast/${fast}p250"
check "no journal is left" test -z "$(ls /host/journal)"
check "no intent is left" test -z "$(find /var/lib/zerocap/intent /run/zerocap/intent -type f)"
timed check_exit 0 "check says fast" zerocap check -q "/dev/$fast" --require measured --require verified
timed from 6.17 check_exit 0 "and its knob is on" zerocap check -q "/dev/$fast" --require knob-on
settle
timed check_eq "$(prop "$fast" ZEROCAP_CLASS)/$(prop "$fast" ZEROCAP_BASIS)" fast/measured "the change event published it for udev"
check_eq "$(prop "$fast" ZEROCAP_METHOD)" punch-hole "with its method"
kept=$(ls /etc/zerocap/devices)
check_eq "$(wc -w <<<"$kept")" 1 "one kept file: $kept"

# --- slow, on a partition beside a mounted one ---
sfdisk -q "/dev/$slow" <<'T'
label: gpt
start=2048, size=40960
start=43008, size=40960, name=zerocap-scratch
T
wait_for 5 test -b "/dev/${slow}p2"; settle "${slow}p2"
mkfs.ext4 -q "/dev/${slow}p1"; mkdir -p /mnt/a; mount "/dev/${slow}p1" /mnt/a; echo hello >/mnt/a/file; umount /mnt/a
# Read-only: a file system that is mounted for writing changes its own blocks when it likes.
mount -o ro "/dev/${slow}p1" /mnt/a
before=$(sum "$slow")
check_exit 1 "a mounted partition is refused" zerocap measure "/dev/$slow" --scratch "/dev/${slow}p1" $J
check_has "$ERR" "/mnt/a" "and the mount point is named"
check_exit 1 "a range in a partition is refused" zerocap measure "/dev/$slow" --scratch 2MiB+8MiB $J
check_exit 1 "a range over the table is refused" zerocap measure "/dev/$slow" --scratch 0+8MiB $J
check_exit 0 "measure the slow device on its labelled partition" zerocap measure "/dev/$slow" --scratch label $J
note "$(head -1 <<<"$OUT")"
timed check_exit 3 "check says slow" zerocap check "/dev/$slow"
check_eq "$(sum "$slow")" "$before" "the whole device, table and file system included, is as before"
check_eq "$(cat /mnt/a/file)" hello "the file beside it reads"
umount /mnt/a

# --- slower than writing: the knob goes off, and comes back ---
check_exit 0 "measure the device that zeroes slower than it writes" zerocap measure "/dev/$slower" --scratch 16MiB+16MiB $J
settle
timed from 6.17 check_eq "$(q "$slower" write_zeroes_unmap_max_bytes)" 0 "the rule turned the knob off"
timed from 6.17 check_eq "$(prop "$slower" ZEROCAP_WANT_WRITE_ZEROES_UNMAP_MAX_BYTES)" 0 "and the property says it is wanted"
check_eq "$(q "$fast" write_zeroes_unmap_max_bytes)" "$(q "$fast" write_zeroes_unmap_max_hw_bytes)" "the fast device's knob is on"

# --- another device of the same model ---
check_eq "$(cat "/sys/block/$twin/device/model")" "$(cat "/sys/block/$fast/device/model")" "the twin is of the same model"
check_exit 5 "the twin is not taken for the measured one" zerocap check "/dev/$twin"
udevadm trigger --settle "/sys/block/$twin"
check_eq "$(prop "$twin" ZEROCAP_CLASS)" unknown "nor by udev"

# --- re-plug: same verdict, unmeasured ---
written=$(awk '{print $7}' "/sys/block/$fast/stat")
pci=$(readlink -f "/sys/block/$fast/device/device")
echo 1 >"$pci/remove"; wait_for 10 test ! -e "/sys/block/$fast"; settle
echo 1 >/sys/bus/pci/rescan; wait_for 20 disk fast; settle "$(disk fast)"
again=$(disk fast)
timed check_eq "$(prop "$again" ZEROCAP_CLASS)/$(prop "$again" ZEROCAP_BASIS)" fast/measured "after re-plug the same verdict"
check_eq "$(awk '{print $7}' "/sys/block/$again/stat")" 0 "without a write to the device (it was written $written sectors before)"

# --- others read from it meanwhile: it is said ---
while :; do dd if="/dev/$again" of=/dev/null bs=64k count=32 iflag=direct status=none; sleep 0.3; done & reader=$!
check_exit 0 "measure while somebody reads" zerocap measure "/dev/$again" --scratch 16MiB+16MiB $J
kill $reader; wait $reader 2>/dev/null
check_has "$(zerocap show "/dev/$again")" "others read" "what others read is said"
check_not "$(zerocap show "/dev/$again")" "and wrote" "and nobody else wrote"

pci=$(readlink -f "/sys/block/$slower/device/device")
echo 1 >"$pci/remove"; wait_for 10 test ! -e "/sys/block/$slower"; settle
echo 1 >/sys/bus/pci/rescan; wait_for 20 disk slower; settle "$(disk slower)"
timed from 6.17 check_eq "$(q "$(disk slower)" write_zeroes_unmap_max_bytes)" 0 "after re-plug the knob is off again"
zerocap show
