#!/bin/bash
# ring: long
# A test in a file of a mounted file system (`--scratch DIR`): the disk's class on ext4, and through LVM; rates
# on xfs; its place in the list and in `auto`; refused where it would say nothing. The file beside, and all of the disk that is not
# the file system's, are as before. On a kernel before 6.17 the list says why it cannot be. The classes of devices of known truth
# are directory-truth's.
# vm: -m 1536 -n fast:256M:write_ms_per_mib=40 -n lvm:512M:write_ms_per_mib=20 -n xfs:512M:write_ms_per_mib=20
# takes: 150
. "${0%/*}/../lib.sh"
. "${0%/*}/../directories.sh"
install_rules
fast=$(disk fast)
prepare "$fast"
if [ ! -e "/sys/block/$fast/queue/write_zeroes_unmap_max_bytes" ]; then
    check_exit 2 "the list of a kernel before 6.17" zerocap measure "/dev/$fast" --journal /host/journal
    check_has "$OUT" "gives no class: ext4 has FALLOC_FL_WRITE_ZEROES since Linux 6.17, but this " "says why no class comes of files"
    check_exit 0 "what files gain is measured all the same" zerocap measure "/dev/$fast" --scratch "/mnt/$fast" --max-seconds 5 --json
    check_eq "$(json 'd["class"], d["measured"]' <<<"$OUT")" "('unknown', None)" "without a class"
    check_has "$ERR" "a test in files there gives no class" "which is said"
    exit 0
fi

before=$(beside "$fast") file=$(sha256sum <"/mnt/$fast/a/file") used=$(df --output=used "/mnt/$fast" | tail -1)
check_exit 0 "by a file" zerocap measure "/dev/$fast" --scratch "/mnt/$fast/a" $B --json
note "$(ratio) $(json '[f["code"] for f in d["findings"]], d["measured"]["proof"]' <<<"$OUT")"
timed check_eq "$(json 'd["class"]' <<<"$OUT")" fast "its class"
check_eq "$(json 'd["measured"]["scratch"], d["method"], d["zeroes_verified"], d["overwrite"]["gain"] > 0' <<<"$OUT")" "('directory /mnt/$fast (ext4)', 'write-zeroes', True, True)" "it says by what, and what files gain"
check_eq "$(beside "$fast")" "$before" "what is no part of the file system is as before"
check_eq "$(sha256sum <"/mnt/$fast/a/file")" "$file" "the file beside it is as before"
sync; check_eq "$(df --output=used "/mnt/$fast" | tail -1)" "$used" "no space is left used"
check_eq "$(ls "/mnt/$fast/a")" file "no file is left"
check "no intent and no journal is left" test -z "$(find /var/lib/zerocap /run/zerocap/intent -type f 2>/dev/null)"
check_has "$(zerocap show "/dev/$fast")" "in a file of /mnt/$fast (ext4)" "the detail says it too"

# --- the list, auto, a directory in place of a device ---
check_exit 2 "the list" zerocap measure "/dev/$fast" --journal /host/journal
sed 's/^/      | /' <<<"$OUT"
check_has "$OUT" "zerocap measure /dev/$fast --scratch /mnt/$fast" "has the directory"
check_has "$OUT" "without a journal" "with what it costs"
check_exit 2 "a directory in place of the device: nothing is tested" zerocap measure "/mnt/$fast/a" --journal /host/journal
check_has "$ERR" "its file system is on /dev/$fast; " "it stands for the disk below"
check_has "$OUT" "zerocap measure /dev/$fast --scratch /mnt/$fast" "whose places are listed"
check_exit 2 "bytes beside a directory" zerocap measure "/mnt/$fast/a" --scratch 1MiB+8MiB
check_exit 0 "the plan" zerocap measure "/mnt/$fast/a" --scratch "/mnt/$fast/a" --dry-run
check_has "$OUT" "would journal nothing and put nothing back" "says that nothing is put back: $(head -n 1 <<<"$OUT")"
sfdisk -q --delete "/dev/$fast" 2 2>/dev/null || partx -d --nr 2 "/dev/$fast"; settle
check_exit 0 "auto, with no other place" zerocap measure "/dev/$fast" --scratch auto --dry-run
check_has "$OUT" "would test in a file" "takes the file system"
check_has "$ERR" "the test uses a file in /mnt/$fast" "and says so: $ERR"

# --- refused: the knob, what goes through the page cache ---
hw=$(q "$fast" write_zeroes_unmap_max_hw_bytes)
echo 0 >"/sys/block/$fast/queue/write_zeroes_unmap_max_bytes"
check_exit 1 "with the knob off" zerocap measure "/dev/$fast" --scratch "/mnt/$fast"
check_has "$ERR" "write $hw there to allow it" "it says how to set it"
echo "$hw" >"/sys/block/$fast/queue/write_zeroes_unmap_max_bytes"
umount "/mnt/$fast"; mount -o data=journal "/dev/${fast}p1" "/mnt/$fast"
check_exit 1 "data=journal" zerocap measure "/dev/$fast" --scratch "/mnt/$fast" $B
check_has "$ERR" "journal" "is refused: $ERR"
umount "/mnt/$fast"

# --- through LVM, and through a cipher ---
lvm=$(disk lvm)
pvcreate -qq "/dev/$lvm"; vgcreate -qq vg0 "/dev/$lvm"; lvcreate -qq -L 240M -n a vg0; lvcreate -qq -L 160M -n b vg0
settle
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/vg0/a
mkdir -p /mnt/a /mnt/b; mount /dev/vg0/a /mnt/a
before=$(sha256sum </dev/vg0/b)
check_exit 0 "through LVM" zerocap measure /mnt/a --scratch /mnt/a $B --json
check_eq "$(json 'd["device"]["name"], d["measured"]["scratch"]' <<<"$OUT")" "('$lvm', 'directory /mnt/a (ext4)')" "the answer is the disk's"
timed check_eq "$(json 'd["class"]' <<<"$OUT")" fast "and its class"
check_eq "$(sha256sum </dev/vg0/b)" "$before" "the other volume is as before"
dmsetup create secret --table "0 $(blockdev --getsz /dev/vg0/b) crypt aes-xts-plain64 $(printf '%064d' 7) 0 /dev/vg0/b 0"
settle; mkfs.ext4 -q /dev/mapper/secret; mount /dev/mapper/secret /mnt/b
check_exit 1 "through a cipher" zerocap measure "/dev/$lvm" --scratch /mnt/b
check_has "$ERR" "reach the disk as ciphertext" "there is no class of the disk: $ERR"
umount /mnt/b; dmsetup remove --retry secret; umount /mnt/a

# --- xfs moves the bytes of a file at each zeroing ---
xfs=$(disk xfs)
mkfs.xfs -q "/dev/$xfs"; mkdir -p /mnt/x; mount "/dev/$xfs" /mnt/x; settle
dd if=/dev/urandom of=/mnt/x/file bs=1M count=4 status=none; sync
file=$(sha256sum </mnt/x/file)
check_exit 0 "xfs" zerocap measure /mnt/x --scratch /mnt/x $B --json
note "$(json 'd["class"], d["zero_bytes_per_second"], d["write_bytes_per_second"], [f["text"] for f in d["findings"]]' <<<"$OUT")"
check_eq "$(json 'd["class"], d["speedup"], d["zeroes_verified"]' <<<"$OUT")" "('unknown', None, False)" "gives no class"
check_eq "$(json 'd["overwrite"]["gain"] > 0, "moved-by-filesystem" in [f["code"] for f in d["findings"]]' <<<"$OUT")" "(True, True)" "says why, and what zeroing gains"
check_eq "$(sha256sum </mnt/x/file)" "$file" "the file beside it is as before"
