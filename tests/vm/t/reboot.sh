#!/bin/bash
# host-driver
# ring: long
# Proves that what lies in a persistent directory survives from one boot to the next, and so does a disk's content.
. "$VM_LIB"
disk="$VM_TMP/disk.raw"
cat >"$VM_TMP/first" <<'SH'
echo one >/persist/file
printf kept | dd of=/dev/nvme0n1 bs=512 conv=sync,fsync status=none
SH
cat >"$VM_TMP/second" <<'SH'
cat /persist/file
head -c 4 /dev/nvme0n1
SH
check "first boot" "$VM" -e "$VM_TMP/etc" -n d:64M:file="$disk" "$VM_TMP/first"
check_exit 0 "second boot" "$VM" -e "$VM_TMP/etc" -n d:64M:file="$disk" "$VM_TMP/second"
check_eq "$OUT" "one
kept" "file and disk kept"
check_exit 99 "a guest that gives no answer ends in time" "$VM" -U -t 15 /dev/stdin <<'SH'
sleep 100
SH
check_has "$ERR" "no result within 15 s" "and it says so"
