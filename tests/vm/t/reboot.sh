#!/bin/bash
# host-driver
# A guest that is restarted with the same /etc gives the same verdict unmeasured; one that is cut off in the middle of a
# test puts the content back in the next boot, byte for byte.
. "$VM_LIB"
repo=$(cd "$(dirname "$0")/../../.." && pwd)
common=$(cat <<SH
. "$repo/tests/vm/lib.sh"; trap - EXIT
mkdir -p /persist/etc /persist/var /etc/zerocap /var/lib/zerocap
mount --bind /persist/etc /etc/zerocap; mount --bind /persist/var /var/lib/zerocap
install_rules
d=\$(disk d) c=\$(disk c)
SH
)
cat >"$VM_TMP/first" <<SH
$common
fill \$d; fill \$c
sum \$d >/persist/sum.d; sum \$c >/persist/sum.c
zerocap measure /dev/\$d --scratch 16MiB+16MiB --journal /persist/journal --data-ok --max-bytes 128MiB >/dev/null || exit 1
settle; cut -d/ -f1 <<<"\$(prop \$d ZEROCAP_CLASS)/"
from=\$(written \$c)
zerocap measure /dev/\$c --scratch 16MiB+16MiB --journal /persist/journal --data-ok --max-bytes 128MiB >/dev/null 2>&1 &
wait_written \$c \$from 24
# The power goes: no sync, no unmount.
echo o >/proc/sysrq-trigger; sleep 30
SH
cat >"$VM_TMP/second" <<SH
$common
udevadm trigger -s block --settle
echo "\$(prop \$d ZEROCAP_CLASS)/\$(prop \$d ZEROCAP_BASIS)"
zerocap check -q /dev/\$d; echo "check \$?"
[ "\$(sum \$d)" = "\$(cat /persist/sum.d)" ] && echo "content of d as before"
[ "\$(sum \$c)" != "\$(cat /persist/sum.c)" ] && echo "content of c was cut"
zerocap check /dev/\$c; echo "check \$?"
zerocap recover || echo "recover \$?"
[ "\$(sum \$c)" = "\$(cat /persist/sum.c)" ] && echo "content of c as before"
find /persist/journal /var/lib/zerocap/intent -type f
zerocap show /dev/\$c | grep -o 'test-interrupted' | head -1
SH
disks=(-n "d:64M:file=$VM_TMP/d.raw,write_ms_per_mib=12" -n "c:64M:file=$VM_TMP/c.raw,write_ms_per_mib=25,zero_ms_per_mib=5")
"$VM" -e "$VM_TMP/keep" "${disks[@]}" "$VM_TMP/first" >"$VM_TMP/out" 2>/dev/null
timed check_eq "$(head -1 "$VM_TMP/out")" fast "first boot: measured fast"
check_exit 0 "second boot" "$VM" -e "$VM_TMP/keep" "${disks[@]}" "$VM_TMP/second"
note "$OUT"
timed check_has "$OUT" "fast/measured" "the same verdict by udev, unmeasured"
timed check_has "$OUT" "check 0" "and by check"
check_has "$OUT" "content of d as before" "the measured device holds what it held"
check_has "$OUT" "content of c was cut" "the cut came in the middle of the test"
check_has "$OUT" "check 5" "the device whose test was cut off is unknown"
check_has "$OUT" "bytes were put back and read back" "recover put the content back"
check_has "$OUT" "content of c as before" "byte for byte"
check_not "$OUT" "/persist/journal/" "no journal is left"
check_has "$OUT" "test-interrupted" "and the finding stays"
