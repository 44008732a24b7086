# Sourced by t/directory*.sh: disks with an ext4 that has files, and scratch beside it.
# shellcheck shell=bash
B="--max-bytes 256MiB --max-seconds 60"
# Two partitions: an ext4 with files, and scratch behind it.
prepare() {
    printf 'label: gpt\nstart=2048, size=421888\nstart=425984, size=40960, name=zerocap-scratch\n' | sfdisk -q "/dev/$1"
    wait_for 5 test -b "/dev/${1}p2"; settle "${1}p1" "${1}p2"
    mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "/dev/${1}p1"
    mkdir -p "/mnt/$1"; mount "/dev/${1}p1" "/mnt/$1"; mkdir "/mnt/$1/a"
    dd if=/dev/urandom of="/mnt/$1/a/file" bs=1M count=4 status=none
    dd if=/dev/urandom of="/dev/${1}p2" bs=1M oflag=direct status=none 2>/dev/null
    sync; settle
}
# beside DISK : what is no part of the file system
beside() {
    blockdev --flushbufs "/dev/$1"
    { dd if="/dev/$1" bs=1M count=1 iflag=direct status=none; dd if="/dev/$1" bs=1M skip=207 iflag=direct status=none; } | sha256sum
}
ratio() { json 'd["speedup"] and tuple(round(d["speedup"][k] or 0, 2) for k in ("median", "low", "high"))' <<<"$OUT"; }
