#!/bin/bash
# ring: long
# Files that zeroing ahead of use cannot help, or helps less: what `check PATH` and `estimate` say of each kind, beside what
# fallocate(FALLOC_FL_WRITE_ZEROES) itself does there, where the bytes lie before and after a later write, and how much that writes.
# kernel: 7.3 xfs has FALLOC_FL_WRITE_ZEROES
# vm: -m 900 -n one:600M: -n two:256M: -e "$("$here/extra" filesystems f2fs-tools nilfs-tools)"
. "${0%/*}/../lib.sh"
export PATH=$PATH:/persist/usr/sbin
one=$(disk one) two=$(disk two) m=/m
mkdir -p /etc/zerocap/policy.d $m /m2
printf '[[rule]]\nkind = ".*"\nclass = "fast"\n' >/etc/zerocap/policy.d/10-test.toml

# A file of 12 MiB: a third written, a third allocated, a third a hole; and what is done with it.
cat >/tmp/see.py <<'PY'
import ctypes, errno, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
M = 1 << 20
def fallocate(fd, mode, at, length):
    return "0" if libc.fallocate(fd, mode, at, length) == 0 else errno.errorcode[ctypes.get_errno()]
def places(fd, at, length): # where the bytes lie, whatever their flags
    b = bytearray(struct.pack("<QQLLLL", at, length, 1, 0, 200, 0) + bytes(56 * 200))
    fcntl.ioctl(fd, 0xc020660b, b, True)
    found = []
    for i in range(struct.unpack_from("<L", b, 20)[0]):
        lo, ph, ln = struct.unpack_from("<QQQ", b, 32 + 56 * i)
        end, lo2 = min(lo + ln, at + length), max(lo, at)
        found += [(p, ph + p - lo) for p in range(lo2 - lo2 % 4096, end, 4096)]
    return found
what, path = sys.argv[1:3]
at = int(sys.argv[3]) * M if len(sys.argv) > 3 else 0
fd = os.open(path, os.O_RDWR | os.O_CREAT)
if what == "make":
    os.pwrite(fd, os.urandom(4 * M), 0); os.ftruncate(fd, 12 * M); fallocate(fd, 0, 4 * M, 4 * M); os.fsync(fd)
elif what == "zeroes": # written, not asked for
    os.pwrite(fd, bytes(M), at); os.fsync(fd)
elif what == "call": # the errno's name, or whether the bytes moved
    before = places(fd, at, M)
    said = fallocate(fd, 0x80, at, M); os.fsync(fd)
    if said == "0" and os.pread(fd, M, at).count(0) != M: said = "not zero"
    print(said if said != "0" else "stays" if before == places(fd, at, M) else "moves")
elif what == "write": # 64 writes of 4 KiB, each synchronous; or one of a MiB
    one = len(sys.argv) > 4
    before = places(fd, at, M if one else 64 * 4096)
    out = os.open(path, os.O_WRONLY | (0 if one else os.O_DSYNC))
    for i in range(1 if one else 64): os.pwrite(out, os.urandom(M if one else 4096), at + i * 4096)
    os.fsync(out)
    print("stays" if before == places(fd, at, M if one else 64 * 4096) else "moves")
elif what == "raw": # whether the device holds zeroes where the file does
    dev = os.open(sys.argv[4], os.O_RDONLY | os.O_DIRECT)
    b = mmap.mmap(-1, 4096); os.preadv(dev, [b], places(fd, at, M)[0][1])
    print("zero" if b[:] == bytes(4096) else "not zero")
PY
see() { python3 /tmp/see.py "$@" 2>&1 | tail -n 1; }
# encrypted MOUNT DIR : a directory whose files are encrypted
encrypted() {
    python3 - "$@" <<'PY'
import fcntl, os, struct, sys
key = bytearray(struct.pack("<LL32sLL8L", 2, 0, b"", 64, 0, *[0] * 8) + os.urandom(64))
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0xc0506617, key, True)
os.mkdir(sys.argv[2])
policy = bytearray(struct.pack("<8B", 2, 1, 4, 0, 0, 0, 0, 0) + bytes(key[8:24]))
fcntl.ioctl(os.open(sys.argv[2], os.O_RDONLY), 0x800c6613, policy, True)
PY
}
# Nothing of the file system is to be written later, beside what is counted.
whole=(-E lazy_itable_init=0,lazy_journal_init=0)
# cost COMMAND... : KiB that the disks write for it in all
cost() {
    local before=$(($(written "$one") + $(written "$two")))
    "$@" >/dev/null
    echo $((($(written "$one") + $(written "$two") - before) / 2))
}
# finding PATH CODE : "holds effect share" of the answer, or "-"
finding() {
    zerocap check --json "$1" 2>/dev/null | python3 -c 'import json,sys
a = json.load(sys.stdin)
f = [f for f in a["findings"] if f["code"] == sys.argv[1]]
print(f[0]["holds"], f[0]["effect"], f[0]["share"] if f[0]["share"] is None else round(f[0]["share"], 2)) if f else print("-")' "$2"
}
codes() { zerocap check --json "$1" 2>/dev/null | json '" ".join(f["code"] for f in d["findings"])'; }
# agree PATH CODE WANT CALL TEXT : what is said of CODE, and what the call does at MiB 2 of the file
agree() {
    local said call
    said=$(finding "$1" "$2") call=$(see call "$1" 2)
    check_eq "$said" "$3" "$5: $2 is said"
    check_eq "$call" "$4" "$5: the call"
    case $said:$call in *fails*:E* | *works*:[sm]* | *writes*:[sm]* | *gains-less*:[sm]*) ok "$5: both agree" ;; *) fail "$5: $said, but the call gives $call" ;; esac
    note "$(zerocap check "$1" 2>/dev/null | grep " $2: ")"
}
wipe() { umount $m 2>/dev/null; wipefs -qa "/dev/$one"; settle; }
ext4() { mkfs.ext4 "${whole[@]}" -qF -O encrypt "/dev/$one"; mount "$@" "/dev/$one" $m; }

# --- ext4 ---
ext4
see make $m/plain
check_eq "$(codes $m/plain)" "file-holes unwritten-extents" "ext4: nothing but holes and unwritten space"
agree $m/plain file-holes "True works 0.33" stays "ext4"
check_eq "$(finding $m/plain unwritten-extents)" "True works 0.33" "ext4: unwritten space is said"
new=$(cost see write $m/plain 6) hole=$(cost see write $m/plain 10)
check_eq "$(see call $m/plain 5) $(see call $m/plain 9)" "stays moves" "ext4: the call works there"
zeroed=$(cost see write $m/plain 5) was_hole=$(cost see write $m/plain 9)
note "64 writes of 4 KiB write: $new KiB into unwritten space, $hole into a hole, $zeroed and $was_hole where it was zeroed"
check "ext4: writes into zeroed space are less than half of those into unwritten space" test $((zeroed * 2)) -lt "$new"
check "ext4: and of those into a hole" test $((was_hole * 2)) -lt "$hole"
check_eq "$(see raw $m/plain 2 "/dev/$one")" zero "ext4: the device holds the zeroes"
check_eq "$(zerocap check --json $m | json 'd["file"], d["findings"]')" "(None, [])" "ext4: a directory has no map"
check_has "$(zerocap estimate $m/plain 1MiB)" "file-holes: 2" "estimate says it too"
touch $m/mark; chattr +j $m/mark; see make $m/mark
check_not "$(codes $m/mark)" data-journal "chattr +j is not heeded while allocation is delayed"
check "and what is written is written once" test $(($(cost see write $m/mark 1) * 2)) -lt "$new"
encrypted $m $m/enc; see make $m/enc/file
agree $m/enc/file file-encrypted "True writes None" stays "ext4, encrypted"
check_eq "$(see raw $m/enc/file 2 "/dev/$one")" "not zero" "ext4, encrypted: the device holds ciphertext"
check_has "$(zerocap check $m/enc 2>&1)" file-encrypted "ext4: a directory whose files will be"
umount $m; mount -o nodelalloc "/dev/$one" $m
agree $m/mark data-journal "True gains-less None" stays "ext4, chattr +j and nodelalloc"
check "it is written twice and more" test "$(cost see write $m/mark 2)" -gt $((zeroed * 2))
check_not "$(codes $m/plain)" data-journal "ext4, nodelalloc: the file beside it"
wipe; ext4 -o data=journal; see make $m/file
agree $m/file data-journal "True gains-less None" stays "ext4, data=journal"
check_has "$(zerocap check $m/file 2>/dev/null | head -n 1)" "gain less" "the first line says so"
note "data=journal: 64 writes of 4 KiB write $(cost see write $m/file 2) KiB where it was zeroed"
umount $m; tune2fs -o journal_data "/dev/$one" >/dev/null; mount "/dev/$one" $m
check_not "$(grep " $m " /proc/self/mountinfo)" data=journal "the mount table does not say it where it is the default"
agree $m/file data-journal "True gains-less None" stays "ext4, data=journal by default"

# --- xfs: a copy by reflink ---
wipe; mkfs.xfs -qf "/dev/$one"; mount "/dev/$one" $m
see make $m/file
check_eq "$(codes $m/file)" "file-holes unwritten-extents" "xfs: nothing shared"
check_eq "$(see call $m/file 1) $(see write $m/file 1)" "moves stays" "xfs: zeroed, and written in place"
cp --reflink=always $m/file $m/copy; sync
check_eq "$(finding $m/file shared-extents)" "True works 0.33" "xfs: shared extents are said"
check_eq "$(see write $m/file 1) $(see write $m/file 1)" "moves stays" "xfs: what was zeroed before the copy moves at the next write"
agree $m/file shared-extents "True works 0.31" moves "xfs, shared"
check_eq "$(see write $m/file 2)" stays "xfs: zeroed after the copy it is written in place"
chmod 600 $m/file
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups zerocap "$@"; }
check_eq "$(nobody check --json $m/file 2>/dev/null | json '[f["holds"] for f in d["findings"] if f["code"] == "shared-extents"], d["file"]["hole_bytes"]')" \
    "([None], None)" "who may not read the file is told that it is not known"
check_eq "$(zerocap check $m/file >/dev/null 2>&1; echo $?)" 0 "the exit code is that of the call"

# --- btrfs ---
wipe; mkfs.btrfs -qf "/dev/$one"; modprobe btrfs; [ -e /dev/btrfs-control ] || mknod /dev/btrfs-control c 10 234
mount "/dev/$one" $m; see make $m/file
agree $m/file copy-on-write "True fails None" ENOTSUP "btrfs"
check_eq "$(see write $m/file 1) $(see write $m/file 1)" "moves moves" "btrfs: every write moves"
check_not "$(zerocap check $m/file 2>/dev/null)" "write zeroes into the file once, then keep" "btrfs: writing once is not advised"
chmod 600 $m/file
check_eq "$(nobody check --json $m/file 2>/dev/null | json '[f["holds"] for f in d["findings"] if f["code"] == "copy-on-write"]')" "[None]" "btrfs: flags that cannot be read"
btrfs -q subvolume create $m/sub; touch $m/sub/file; chattr +C $m/sub/file; see make $m/sub/file
check_not "$(codes $m/sub/file)" copy-on-write "btrfs, chattr +C: written in place"
check_eq "$(see call $m/sub/file 2) $(see write $m/sub/file 1) $(see write $m/sub/file 1)" "ENOTSUP stays stays" "btrfs, chattr +C: it is"
check_has "$(zerocap check $m/sub/file 2>/dev/null)" "write zeroes into the file once, then keep" "btrfs, chattr +C: writing once is advised"
btrfs -q subvolume snapshot $m/sub $m/snap >/dev/null; sync
agree $m/sub/file shared-extents "True fails 0.67" ENOTSUP "btrfs, chattr +C, after a snapshot"
check_eq "$(see write $m/sub/file 1) $(see write $m/sub/file 1)" "moves stays" "btrfs: the first write after it moves"
touch $m/small $m/zeroes; chattr +c $m/small $m/zeroes; see make $m/small
agree $m/small file-compressed "True fails None" ENOTSUP "btrfs, chattr +c"
check_eq "$(see write $m/small 1)" moves "btrfs, chattr +c: it moves"
check "btrfs, chattr +c: a MiB of written zeroes is next to nothing" test "$(cost see zeroes $m/zeroes 0)" -lt 512
check_eq "$(finding $m/zeroes file-compressed)" "True fails 1.0" "btrfs, chattr +c: and its share is said"
umount $m; mount -o compress=zstd "/dev/$one" $m; see make $m/option
agree $m/option file-compressed "True fails None" ENOTSUP "btrfs, compress=zstd"
check_not "$(codes $m/sub/file)" file-compressed "btrfs, compress=zstd: what is written in place is not compressed"
umount $m; mount -o nodatacow "/dev/$one" $m
check_eq "$(codes $m)" "" "btrfs, nodatacow: what is made there is written in place"
see make $m/new; check_eq "$(see write $m/new 1)" stays "btrfs, nodatacow: it is"
check_has "$(codes $m/file)" copy-on-write "btrfs, nodatacow: an older file is not"

# --- f2fs, nilfs2 ---
wipe; modprobe f2fs; mkfs.f2fs -q -f -O extra_attr,compression "/dev/$one"; mount -t f2fs "/dev/$one" $m; see make $m/file
check_not "$(codes $m/file)" copy-on-write "f2fs, a small one: written in place"
check_eq "$(see write $m/file 1) $(see write $m/file 3 whole)" "stays stays" "f2fs, a small one: it is"
echo 16 >"/sys/fs/f2fs/$one/ipu_policy" # that of one of 16 GiB and more
agree $m/file copy-on-write "True fails None" ENOTSUP "f2fs"
check_eq "$(see write $m/file 1) $(see write $m/file 3 whole)" "stays moves" "f2fs: small synchronous writes stay, large ones move"
python3 - $m/pinned <<'PY'
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.ioctl(fd, 0x4004f50d, struct.pack("<L", 1)) # F2FS_IOC_SET_PIN_FILE
os.posix_fallocate(fd, 0, 4 << 20)
os.pwrite(fd, bytes(4 << 20), 0); os.fsync(fd)
PY
check_not "$(codes $m/pinned)" copy-on-write "f2fs, pinned: written in place"
check_eq "$(see write $m/pinned 1) $(see write $m/pinned 3 whole) $(see call $m/pinned 2)" "stays stays ENOTSUP" "f2fs, pinned: it is"
touch $m/small; chattr +c $m/small; see make $m/small
agree $m/small file-compressed "True fails None" ENOTSUP "f2fs, chattr +c"
umount $m; mount -t f2fs -o mode=lfs "/dev/$one" $m; see make $m/log
agree $m/log copy-on-write "True fails None" ENOTSUP "f2fs, mode=lfs"
check_eq "$(see write $m/log 1) $(see write $m/log 3 whole)" "moves moves" "f2fs, mode=lfs: all of it moves"
wipe; modprobe nilfs2; mkfs.nilfs2 -q "/dev/$one"; mount -i -t nilfs2 "/dev/$one" $m; see make $m/file
agree $m/file copy-on-write "True fails None" ENOTSUP "nilfs2"
check_eq "$(see write $m/file 1)" moves "nilfs2: it moves"
note "not made here: bcachefs (no kernel of Debian has it), xfs that copies always (a zoned device; a kernel for debugging)"

# --- snapshots below ---
wipe; modprobe dm-snapshot; modprobe dm-thin-pool
thin=(--config 'global/thin_check_executable=""')
pvcreate -qq -ff -y "/dev/$one" "/dev/$two" >/dev/null; vgcreate -qq vg "/dev/$one" "/dev/$two" >/dev/null
lvcreate -qq -y -L 200M -n lin vg "/dev/$one" >/dev/null; settle
mkfs.ext4 "${whole[@]}" -qF /dev/vg/lin; mount /dev/vg/lin $m; see make $m/file
check_eq "$(codes $m/file) $(see call $m/file 2)" "file-holes unwritten-extents stays" "ext4 on LVM: no snapshot"
lvcreate -qq -y -s -L 60M -n snap vg/lin "/dev/$two" >/dev/null; settle
agree $m/file snapshot-below "True fails None" ENOTSUP "the origin of a snapshot"
check_has "$(zerocap check $m/file 2>/dev/null)" "has a snapshot (dm-snapshot)" "by its kind"
first=$(cost see write $m/file 2) again=$(cost see write $m/file 2)
note "64 writes of 4 KiB where it was zeroed before the snapshot write $first KiB, once more $again"
check "the first write copies, the next does not" test "$first" -gt $((again * 2))
mount /dev/vg/snap /m2; agree /m2/file snapshot-below "True fails None" ENOTSUP "a snapshot"
check_has "$(zerocap check /m2/file 2>/dev/null)" "is a snapshot (dm-snapshot)" "by its kind"
umount /m2 $m; lvremove -qq -y vg/snap vg/lin >/dev/null
lvcreate -qq "${thin[@]}" -y -L 200M -T vg/pool "/dev/$one" >/dev/null 2>&1; lvcreate -qq "${thin[@]}" -y -V 150M -T vg/pool -n thin >/dev/null 2>&1; settle
mkfs.ext4 "${whole[@]}" -qF /dev/vg/thin; mount /dev/vg/thin $m; see make $m/file
check_eq "$(codes $m/file) $(see call $m/file 2)" "file-holes unwritten-extents ENOTSUP" "a thin volume without a snapshot"
see write $m/file 2 >/dev/null
lvcreate -qq "${thin[@]}" -y -s -n tsnap vg/thin >/dev/null 2>&1; settle
agree $m/file snapshot-below "True fails None" ENOTSUP "a thin volume with a snapshot"
check_has "$(zerocap check $m/file 2>/dev/null)" "is a thin volume that shares blocks" "by its kind"
first=$(cost see write $m/file 2) again=$(cost see write $m/file 2)
note "64 writes of 4 KiB where it was written before the snapshot write $first KiB, once more $again"
check "the first write copies, the next does not" test $((first * 2)) -gt $((again * 3))
check_eq "$(nobody check --json $m/file 2>/dev/null | json '[f["holds"] for f in d["findings"] if f["code"] == "snapshot-below"]')" "[None]" "who may not ask device mapper is told so"
umount $m
