#!/bin/bash
# ring: long
# A logical volume as scratch gives the class of the disk below it: the same as a partition of that disk does, on a fast, a
# slow and a lying disk; all other bytes stay. Refused are volumes that are no linear map of the disk alone, or in use. A
# volume that is suspended or mapped anew in the middle, and a test that is killed: nothing is kept, and content comes back.
# vm: -n fast:160M:write_ms_per_mib=20 -n slow:160M:zero_ms_per_mib=12,write_ms_per_mib=12 -n lie:160M:zero=lie
# vm: -n other:64M:write_ms_per_mib=1
# takes: 120
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /etc/lvm; lvm() { command lvm "$@" 2>>/tmp/lvm.err; }
J="--journal /host/journal --data-ok --max-bytes 256MiB"
other=$(disk other)

# setup DISK : a partition that is left free, and one with LVM: a volume for the test, one that holds data and is mounted
setup() {
    local d=$1 vg=$2
    printf 'label: gpt\nstart=2048, size=65536\nstart=67584, size=245760\n' | sfdisk -q "/dev/$d"
    wait_for 5 test -b "/dev/${d}p2"; settle "${d}p2"
    lvm pvcreate -qq -y "/dev/${d}p2"; lvm vgcreate -qq "$vg" "/dev/${d}p2"
    lvm lvcreate -qq -y -n data -L 16M "$vg"; lvm lvcreate -qq -y -n test -L 32M "$vg"; settle
    dd if=/dev/urandom of="/dev/$vg/test" bs=1M oflag=direct status=none 2>/dev/null
    mkfs.ext4 -q "/dev/$vg/data"; mkdir -p "/mnt/$vg"; mount "/dev/$vg/data" "/mnt/$vg"; echo hello >"/mnt/$vg/file"
    sync; mount -o remount,ro "/mnt/$vg"; settle
}
class() { json 'd["class"], d["basis"], d["measured"]["scratch"]'; }
# same NAME WANT : the class by a partition and by a volume, the rest of the disk as before
same() {
    local name=$1 want=$2 vg=vg$1 d before partition
    d=$(disk "$name"); setup "$d" "$vg"; before=$(sum "$d")
    check_exit 0 "$name: measured on a partition" zerocap measure "/dev/$d" --scratch "/dev/${d}p1" $J --json
    partition=$(json 'd["class"]' <<<"$OUT")
    zerocap policy forget "/dev/$d"
    check_exit 0 "$name: measured on a logical volume" zerocap measure "/dev/$d" --scratch "/dev/$vg/test" $J --json
    timed check_eq "$(class <<<"$OUT")" "('$want', 'measured', 'lv')" "$name: $want"
    timed check_eq "$partition" "$want" "$name: by the partition too"
    check_has "$(json 'd["measured"]["proof"]' <<<"$OUT")" "is linear and leads only to /dev/$d through ${d}p2" "$name: and how is said"
    check_eq "$(sum "$d")" "$before" "$name: the whole disk is as before"
}
same fast fast
same slow slow
same lie broken
fast=$(disk fast) slow=$(disk slow)
dm=$(basename "$(readlink -f /dev/vgfast/test)")
M="zerocap measure /dev/$fast $J --scratch"
check_exit 0 "the plan" $M /dev/vgfast/test --dry-run
sed 's/^/      | /' <<<"$OUT"

# --- what is refused ---
before=$(sum "$fast")
refused() { check_exit 1 "refused: $1" $M "$2" --dry-run; check_has "$ERR" "$3" "$ERR"; }
refused "a mounted volume" /dev/vgfast/data "is mounted"
refused "a volume of another disk" /dev/vgslow/test "and not on this device alone"
lvm pvcreate -qq -y "/dev/$other"; lvm vgextend -qq vgfast "/dev/$other"
lvm lvcreate -qq -y -n both -i 2 -L 8M vgfast
refused "a striped volume" /dev/vgfast/both "a part of it is striped"
lvm lvremove -qq -y vgfast/both
lvm lvcreate -qq -y -n span -L 8M vgfast "/dev/${fast}p2"; lvm lvextend -qq vgfast/span -L 16M "/dev/$other"
refused "a volume on two disks" /dev/vgfast/span "and not on this device alone"
lvm lvremove -qq -y vgfast/span
lvm lvcreate -qq -y --type raid1 -m 1 -n mirror -L 8M vgfast
refused "a mirror" /dev/vgfast/mirror "a part of it is raid"
refused "a leg of it" /dev/mapper/vgfast-mirror_rimage_0 "is used by"
lvm lvremove -qq -y vgfast/mirror
dmsetup create over --table "0 8192 linear /dev/vgfast/test 0"; settle
refused "a volume that something stands on" /dev/vgfast/test "is used by dm-"
refused "what is no volume of LVM" /dev/mapper/over "is not a logical volume of LVM"
dmsetup remove --retry over
dmsetup create beside --table "0 2048 linear /dev/${fast}p2 $(($(dmsetup table "/dev/vgfast/test" | cut -d' ' -f5) + 2048))"; settle
refused "another table that leads to the same bytes" /dev/vgfast/test "also maps bytes of the range"
dmsetup remove --retry beside
mkswap -q /dev/vgfast/test; swapon /dev/vgfast/test
refused "swap" /dev/vgfast/test ""
swapoff /dev/vgfast/test
refused "with a signature" /dev/vgfast/test "holds swap space"
wipefs -qa /dev/vgfast/test; dd if=/dev/urandom of=/dev/vgfast/test bs=1M count=1 oflag=direct status=none; settle
exec 7<>/dev/vgfast/test
refused "open for writing elsewhere" /dev/vgfast/test "open for writing"
exec 7>&-; settle
lvm lvchange -qq -pr vgfast/test
refused "read-only" /dev/vgfast/test "is read-only"
lvm lvchange -qq -prw vgfast/test; settle
lvm vgreduce -qq vgfast "/dev/$other"; lvm pvremove -qq "/dev/$other"

# --- in the middle ---
before=$(sum "$fast") slowbefore=$(sum "$slow")
begin() { zerocap policy forget "/dev/$1" >/dev/null 2>&1; from=$(written "$1"); zerocap measure "/dev/$1" $J --scratch "/dev/$2/test" "${@:3}" >/tmp/out 2>/tmp/err & pid=$!; wait_written "$1" "$from" 12; }
nothing_kept() { check_eq "$(zerocap show "/dev/$1" --json | json 'd[0]["class"]')" unknown "nothing is kept"; }
child_gone() { wait_for 30 sh -c '! pgrep -f port-chil[d]'; }
for who in measure child; do
    begin "$fast" vgfast
    if [ $who = measure ]; then kill -9 $pid; wait $pid 2>/dev/null; else pkill -9 -f 'port-chil[d]'; wait $pid; fi
    child_gone
    check_exit 0 "recover after kill -9 of the $who" zerocap recover
    note "$OUT $ERR"
    check_eq "$(sum "$fast")" "$before" "the whole disk is as before"
done
begin "$fast" vgfast; kill -9 $pid; wait $pid 2>/dev/null; child_gone
lvm lvchange -qq -an vgfast/test; settle
check_exit 1 "recover while the volume is not active" zerocap recover
check_has "$OUT$ERR" "is not active" "says so: $ERR"
lvm lvrename -qq vgfast test new; lvm lvchange -qq -ay vgfast/new; settle
check_exit 0 "and puts back once it is, under another name" zerocap recover
lvm lvrename -qq vgfast new test; settle
mount -o remount,ro /mnt/vgfast; check_eq "$(sha256sum </dev/vgfast/test)" "$(dd if="/dev/${fast}p2" bs=1M skip=17 count=32 status=none | sha256sum)" "it lies where it lay"
before=$(sum "$fast")

begin "$fast" vgfast; dmsetup suspend /dev/vgfast/test; sleep 3; dmsetup resume /dev/vgfast/test
wait $pid; rc=$?; note "exit $rc: $(cat /tmp/err)"
check_eq "$rc" 1 "suspended for a moment in the middle: no answer"
nothing_kept "$fast"
check_eq "$(sum "$fast")" "$before" "and the whole disk is as before"

begin "$fast" vgfast; table=$(dmsetup table /dev/vgfast/test)
dmsetup load /dev/vgfast/test --table "$table"
wait $pid; rc=$?; note "exit $rc: $(cat /tmp/err)"
check_eq "$rc" 1 "another table that waits in the middle: no answer"
check_has "$(cat /tmp/err)" "map of" "which says why"
dmsetup clear /dev/vgfast/test; nothing_kept "$fast"
check_eq "$(sum "$fast")" "$before" "and the whole disk is as before"

begin "$fast" vgfast; dmsetup suspend --noflush /dev/vgfast/test; dmsetup load /dev/vgfast/test --table "$(sed 's/linear/flakey/; s/$/ 3600 0/' <<<"$table")" && dmsetup resume /dev/vgfast/test
wait $pid; rc=$?; note "exit $rc: $(cat /tmp/err)"
check_eq "$rc" 1 "mapped anew in the middle: no answer"
dmsetup load /dev/vgfast/test --table "$table"; dmsetup suspend /dev/vgfast/test; dmsetup resume /dev/vgfast/test; settle
zerocap recover >/dev/null 2>&1; nothing_kept "$fast"
check_eq "$(sum "$fast")" "$before" "and the whole disk is as before"

begin "$slow" vgslow --deadline 5; dmsetup suspend --noflush /dev/vgslow/test
wait $pid; rc=$?; note "exit $rc: $(cat /tmp/err)"
check_eq "$rc" 1 "suspended until the deadline: no answer"
check_exit 1 "recover waits for the call" zerocap recover; note "$ERR"
dmsetup resume /dev/vgslow/test; child_gone
check_exit 0 "and puts back once it has ended" zerocap recover; note "$OUT"
check_eq "$(zerocap show "/dev/$slow" --json | json 'd[0]["class"]')" unknown "the disk is not accused"
check_eq "$(sum "$slow")" "$slowbefore" "and the whole disk is as before"
