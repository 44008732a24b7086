#!/bin/bash
# Real udevd and the project's rule: hot-add gives properties and the published file, remove takes it away; partitions get
# the disk's; guards hold.
# vm: -d plain:64M:nvme
. "${0%/*}/../lib.sh"
install_rules

sd=$(sdebug lbpws=1)
check_eq "$(prop "$sd" ZEROCAP_CLASS)" unknown "hot-add: class from nothing but claims is unknown"
check_eq "$(prop "$sd" ZEROCAP_EXPECTED)" fast "hot-add: the claims let one expect fast"
devnum=$(cat "/sys/block/$sd/dev")
published=/run/zerocap/$devnum.json
check "hot-add: the document is published" test -s "$published"
check_eq "$(stat -c %a "$published")" 644 "readable by all"
check_eq "$(json 'd["format"],d["class"],d["device"]["name"]' <"$published")" "(1, 'unknown', '$sd')" "the document speaks of this device"
from 5.15 check_eq "$(json 'd["device"]["diskseq"]' <"$published")" "$(cat "/sys/block/$sd/diskseq" 2>/dev/null)" "with its diskseq"
check_eq "$(prop "$sd" ZEROCAP_SET_WRITE_ZEROES_UNMAP_MAX_BYTES)" "" "nothing is to be written: the kernel's value is right"

echo 'start=2048, size=8192' | sfdisk -q "/dev/$sd" 2>/dev/null
wait_for 5 test -b "/dev/${sd}1"; settle "${sd}1"
check_eq "$(prop "${sd}1" ZEROCAP_EXPECTED)" fast "a partition has the disk's properties"

check "remove" sdebug_rm
settle
check "remove: the document is gone" test ! -e "$published"

nvme=$(disk plain)
udevadm trigger -s block --settle
check_eq "$(prop "$nvme" ZEROCAP_EXPECTED)" "$(if kernel_has 6.2; then echo fast; else echo unknown; fi)" "NVMe with DLFEAT 9: expected fast, where the kernel sends DEAC"
check_eq "$(prop "$nvme" ZEROCAP_CLASS)" unknown "and unknown until it is measured"
from 6.17 check "this kernel has the knob" test -e "/sys/block/$nvme/queue/write_zeroes_unmap_max_hw_bytes"

# The rule's own program answers alone once the rules of policy are compiled; where it cannot, the whole one does.
if [ -e /usr/lib/udev/zerocap ]; then
    for without in /usr/bin/zerocap /usr/lib/udev/zerocap; do
        mount --bind /bin/false $without
        udevadm trigger --settle "/sys/block/$nvme"
        check_eq "$(prop "$nvme" ZEROCAP_CLASS)" unknown "an event is answered without $without"
        umount $without
    done
    check_exit 0 "the whole program" env ACTION=change zerocap udev "/dev/$nvme"
    whole=$OUT
    check_exit 0 "the rule's own program" env ACTION=change /usr/lib/udev/zerocap "/dev/$nvme"
    check_eq "$OUT" "$whole" "both print the same"
    mkdir -p /etc/zerocap/policy.d
    printf '[[rule]]\nclass = "slow"\n' >/etc/zerocap/policy.d/50-test.toml
    check_exit 1 "rules that were changed are not its to read" env ACTION=change /usr/lib/udev/zerocap "/dev/$nvme"
    udevadm trigger --settle "/sys/block/$nvme"
    check_eq "$(prop "$nvme" ZEROCAP_CLASS)" slow "the event after it has the changed rules all the same"
    rm -r /etc/zerocap/policy.d
    udevadm trigger --settle "/sys/block/$nvme"
    check_eq "$(prop "$nvme" ZEROCAP_CLASS)" unknown "and the next has none again"
else
    not_run "there is no program of the rule beside the one under test"
fi

echo 'KERNEL=="'"$nvme"'", ENV{ZEROCAP_SKIP}="1"' >/etc/udev/rules.d/10-skip.rules
udevadm control --reload
# A worker that still runs may have the rules from before the reload: the event is asked for again.
skipped() { udevadm trigger --settle "/sys/block/$nvme"; [ -z "$(prop "$nvme" ZEROCAP_CLASS)" ]; }
check "ZEROCAP_SKIP=1 of an earlier rule is the escape" wait_for 20 skipped
rm /etc/udev/rules.d/10-skip.rules

check_exit 0 "udev never fails an event" env ACTION=add zerocap udev /dev/nothing
check_eq "$OUT" "" "and says nothing of a device that is not there"
