#!/bin/bash
# What people call their devices, on a real kernel: LVM with a thin pool, a file system on it, a name of two devices; what an
# administrator sees on a terminal of 80 columns, and what selftest finds missing.
# vm: -n root:256M -n spare:64M
# takes: 40
. "${0%/*}/../lib.sh"
mkdir -p /etc/lvm; lvm() { command lvm "$@" 2>>/tmp/lvm.err; }
root=$(disk root) spare=$(disk spare)

printf 'label: gpt\nsize=32M, name=boot\nname=pv\n' | sfdisk -q "/dev/$root"
wait_for 5 test -b "/dev/${root}p2"; settle "${root}p2"
lvm pvcreate -qq -y "/dev/${root}p2"; lvm vgcreate -qq vg0 "/dev/${root}p2"
lvm lvcreate -qq -y -L 64M -n my-data vg0
lvm lvcreate -qq -y --type thin-pool -L 64M --poolmetadatasize 4M -n pool vg0
lvm lvcreate -qq -y -V 32M --thinpool pool -n thin vg0
settle
mkfs.ext4 -q "/dev/mapper/vg0-my--data"
mkdir -p "/run/my data" && mount "/dev/mapper/vg0-my--data" "/run/my data"
lv=$(basename "$(readlink -f /dev/mapper/vg0-my--data)")

# --- found ---
show() { check_exit "$1" "$2: exit code" zerocap show "$2" -o DEVICE --no-headings; }
for name in vg0/my-data /dev/vg0/my-data vg0-my--data "$lv"; do
    show 0 "$name"; check_eq "$OUT $ERR" "$lv " "found as $name"
done
show 0 "/run/my data"; check_eq "$OUT" "$lv" "found by its mount point"
check_has "$ERR" "its file system is on /dev/$lv; " "and that is told"
show 0 "${root}p1"; check_eq "$OUT" "$root" "a partition stands for its disk"
check_has "$ERR" "a partition of /dev/$root" "and that is told"
check_exit 2 "bytes beside a partition are refused" zerocap measure "/dev/${root}p1" --scratch 16M+32M --dry-run
check_has "$ERR" "name it: /dev/$root" "with the disk's name"
check_exit 5 "a directory is a path for check" zerocap check "/run/my data"
dmsetup create "$spare" --table "0 2048 linear /dev/$spare 0"; settle "$spare"
show 2 "$spare"; check_has "$ERR" "is a name of /dev/" "one name of two devices: $ERR"
show 0 "/dev/$spare"; check_eq "$OUT" "$spare" "a node is one device's"
dmsetup remove --retry "$spare"

# --- shown ---
check_exit 0 "a table with names" zerocap show --no-headings -o NAMES,MOUNTS
check_has "$OUT" "vg0/my-data  /run/my data" "the table has the names"
check_not "$OUT" "_tmeta" "parts of a pool are not listed"
check_exit 0 "all" zerocap show --all -o NAMES; check_has "$OUT" "vg0-pool_tmeta" "with --all they are"
check_exit 0 "JSON" zerocap show --json "$lv"
check_eq "$(json 'd[0]["device"]["names"], d[0]["device"]["mounts"]' <<<"$OUT")" "(['vg0/my-data', 'vg0-my--data'], ['/run/my data'])" \
    "JSON has the names"
check_exit 0 "a tree" zerocap show --tree -o DEVICE,NAMES --no-headings
check_has "$OUT" "-$lv" "a volume stands below its disk"
script -qec "stty cols 80; NO_COLOR=1 zerocap show; NO_COLOR=1 zerocap show --tree" /tmp/look >/dev/null
widest=$(grep -v '^Script' /tmp/look | tr -d '\r' | grep -v '^zerocap:' | awk '{ if (length($0) > n) n = length($0) } END { print n }')
check_eq "$([ "$widest" -le 80 ] && echo narrow)" narrow "tables fit 80 columns: $widest"
for call in "show" "show --tree --all" "show vg0/my-data" "measure vg0/my-data" "measure ${root}p2" "selftest"; do
    echo "      $ zerocap $call"
    # shellcheck disable=SC2086
    script -qec "stty cols 80; NO_COLOR=1 zerocap $call" /dev/null | tr -d '\r' | sed 's/^/      | /'
done
umount "/run/my data"
