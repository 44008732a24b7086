#!/bin/bash
# ring: long
# The Debian package that tests/debian/package trixie has built, in a running system with udevd and systemd: the disks that
# are there are answered once it is installed, one that is added is answered at once, an upgrade loses nothing, and when it is
# removed its answers and settings are gone.
# vm: -S -m 768
# vm: -n there:64M:write_ms_per_mib=12,zero_ms_per_mib=40
# takes: 100
. "${0%/*}/../lib.sh"
if [ -n "${VM_BEFORE-}" ]; then trap - EXIT; exit; fi
here=${0%/*}
deb=$(echo "$here"/../../../target/dist/trixie/zerocap_*.deb)
if [ ! -e "$deb" ]; then not_run "no package: run tests/debian/package trixie before"; exit; fi
umount /usr/bin/zerocap # the binary under test is that of the package
rm -f /usr/bin/zerocap
! mountpoint -q /usr/lib/udev/zerocap || umount /usr/lib/udev/zerocap
rm -f /usr/lib/udev/zerocap
there=$(disk there)
published() { echo "/run/zerocap/$(cat "/sys/block/$1/dev").json"; }

check_eq "$(prop "$there" ZEROCAP_CLASS)" "" "before: udev knows nothing of zeroing"
check "dpkg installs it" dpkg --install "$deb"
settle "$there"
check_eq "$(prop "$there" ZEROCAP_CLASS)" unknown "the disk that was there is answered without another event"
check "and published" test -s "$(published "$there")"
check_eq "$(systemctl is-enabled zerocap-recover.service)" enabled "recovery is enabled"
check "and was skipped when asked for: nothing is to be put back" systemctl start zerocap-recover.service
check_eq "$(systemctl show -P ConditionResult zerocap-recover.service)" no "by its condition"

added=$(sdebug lbpws=1)
check_eq "$(prop "$added" ZEROCAP_CLASS)" unknown "a disk that is added is answered in its own event"
check_eq "$(prop "$added" ZEROCAP_EXPECTED)" fast "with what its claims let one expect"
check "and published" test -s "$(published "$added")"
check_has "$(zerocap show "$added")" "$added" "show answers"
modprobe null_blk nr_devices=1
settle nullb0
check_eq "$(prop nullb0 ZEROCAP_CLASS)" none "one without an offload: none"
check_exit 4 "check says so by its exit code" zerocap check nullb0

# A measurement, and what it sets: the offload is slower than writing, so the knob is wanted to be 0.
mkdir -p /host/journal
check "the disk that was there is measured" zerocap measure "/dev/$there" --scratch 16MiB+16MiB --data-ok --journal /host/journal --max-bytes 256MiB
settle "$there"
timed check_eq "$(prop "$there" ZEROCAP_CLASS)" slow "it is slow, as it is"
hw=$(q "$there" write_zeroes_unmap_max_hw_bytes)
timed check_eq "$(q "$there" write_zeroes_unmap_max_bytes)" 0 "and the knob is off (hardware: $hw)"

kept=$(cat /etc/zerocap/devices/*.json | sha256sum)
check "an upgrade" dpkg --install "$deb"
settle "$there"
check_eq "$(cat /etc/zerocap/devices/*.json | sha256sum)" "$kept" "keeps what was measured"
timed check_eq "$(prop "$there" ZEROCAP_CLASS)" slow "and the answer"

# An /etc that cannot be written to, as in some images: nothing may look kept that is not.
mount --bind /etc /etc
mount -o remount,ro,bind /etc
from=$(written "$added")
check_exit 1 "where /etc is read-only no test is made" zerocap measure "/dev/$added" --thin-ok --scratch 16MiB+16MiB --data-ok --journal /host/journal --max-bytes 256MiB
check_has "$ERR" /etc/zerocap "and names the place"
note "$ERR"
umount /etc
check_eq "$(written "$added")" "$from" "and nothing was written"
check "nothing is left to be put back" test -z "$(find /var/lib/zerocap /host/journal -type f 2>/dev/null)"

check "dpkg removes it" dpkg --remove zerocap
settle "$there"
check_eq "$(prop "$there" ZEROCAP_CLASS)$(prop "$added" ZEROCAP_CLASS)" "" "removed: udev's answers are gone"
check "what was published is gone" test ! -e /run/zerocap
check_eq "$(q "$there" write_zeroes_unmap_max_bytes)" "$hw" "the knob is as the kernel had it"
check "what was measured stays" test -n "$(ls /etc/zerocap/devices)"
check "dpkg purges it" dpkg --purge zerocap
check_eq "$(ls -d /etc/zerocap /var/lib/zerocap /run/zerocap /etc/systemd/system/*/zerocap* 2>/dev/null)" "" "nothing is left"
sdebug_rm
