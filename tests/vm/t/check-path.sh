#!/bin/bash
# `check PATH` on every file system and stack says what fallocate(FALLOC_FL_WRITE_ZEROES) then does: exit 0 where it
# succeeds, 8 with the reason where it fails, 4 where the device has no zeroing offload. All devices are pinned fast, so that
# nothing but the path and the offload decides.
# vm: -n one:512M: -n two:256M: -d vio:64M:virtio -m 768
. "${0%/*}/../lib.sh"
case $(uname -r) in [0-6].*) new='' ;; *) new=1 ;; esac
one=/dev/$(disk one) two=/dev/$(disk two)
mkdir -p /etc/zerocap/policy.d /m
printf '[[rule]]\nkind = ".*"\nclass = "fast"\n' >/etc/zerocap/policy.d/10-test.toml
check_exit 0 "the pin makes the device fast" zerocap check "$one"

# The call itself: rc 0, or the errno's name. The file is made 4 MiB long first.
call() {
    python3 - "$1" <<'PY'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
try:
    fd = os.open(sys.argv[1], os.O_RDWR)
except OSError as e:
    print(errno.errorcode[e.errno]); sys.exit()
if libc.fallocate(fd, 0x80, 1 << 20, 1 << 20):
    print(errno.errorcode[ctypes.get_errno()]); sys.exit()
os.fsync(fd)
print("0" if os.pread(fd, 1 << 20, 1 << 20).count(0) == 1 << 20 else "not zero")
PY
}
# agree WANT TEXT FILE [PATH] : what check says of PATH (default FILE) is what the call on FILE does; WANT on a new kernel
agree() {
    local want=$1 text=$2 file=$3 path=${4-$3} code=0 out rc
    [ -e "$file" ] || head -c 4194304 /dev/urandom >"$file"
    out=$(zerocap check "$path" 2>&1) || code=$?
    rc=$(call "$file")
    case $code:$rc in
    0:0 | 4:E* | 8:E* | 32:E*) ok "$text: exit $code, the call gives $rc" ;;
    *) fail "$text: exit $code, the call gives $rc" ;;
    esac
    note "$(head -n 1 <<<"$out")"
    if [ -n "$new" ] || [ "$want" = 32 ]; then check_eq "$code" "$want" "$text: exit $want"; fi
    SAID=$out
}
part() { # part DISK N... : N partitions of equal size
    local disk=$1 n=$2 size
    size=$(($(cat "/sys/block/${disk#/dev/}/size") / 2048 - 2))
    { echo label: gpt; for _ in $(seq "$n"); do echo "size=$((size / n))MiB"; done; } | sfdisk -q --wipe always "$disk"
    wait_for 5 test -b "${disk}p$n"; settle
}
at() { mkdir -p "/m/$1"; mount "${@:3}" "$2" "/m/$1"; }

# --- plain file systems, on partitions ---
part "$one" 2
mkfs.ext4 -q "${one}p1"; at ext4 "${one}p1"
agree 0 "ext4, a file" /m/ext4/file
check_has "$SAID" "device       ${one#/dev/} is fast" "the partition's disk is named"
agree 0 "ext4, its mount point" /m/ext4/file /m/ext4
mkdir "/m/ext4/a dir"; agree 0 "ext4, a directory" "/m/ext4/a dir/file" "/m/ext4/a dir"
ln -s /m/ext4/file /m/link; agree 0 "ext4, through a link" /m/ext4/file /m/link
mkdir "/m/b ind"; mount --bind "/m/ext4/a dir" "/m/b ind"; agree 0 "ext4, through a bind mount with a space" "/m/b ind/file"
umount "/m/b ind"
cd /m/ext4; agree 0 "ext4, relative" /m/ext4/file file; cd /
check_exit 32 "a file that is not there" zerocap check /m/ext4/none
check_has "$ERR" "name its directory" "and what to do"
cp /m/ext4/file /m/ext4/fixed; chattr +i /m/ext4/fixed; agree 8 "ext4, an immutable file" /m/ext4/fixed; chattr -i /m/ext4/fixed
mount -o remount,ro /m/ext4; agree 8 "ext4, read-only" /m/ext4/file; mount -o remount,rw /m/ext4
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1 # mkfs.xfs makes small file systems for tests only
mkfs.xfs -qf "${one}p2" && at xfs "${one}p2" && agree 0 "xfs, a file" /m/xfs/file
[ -n "$new" ] || check_has "$SAID" "$(if kernel_has 6.17; then echo since Linux 7.3; else echo came with Linux 6.17; fi)" "and since when xfs has it"

# --- the knob, while mounted ---
knob=/sys/block/${one#/dev/}/queue/write_zeroes_unmap_max_bytes
if [ -n "$new" ]; then
    hw=$(cat "${knob%_bytes}_hw_bytes" 2>/dev/null || q "$one" write_zeroes_unmap_max_hw_bytes)
    echo 0 >"$knob"
    agree 8 "ext4, knob off" /m/ext4/file; check_has "$SAID" "write_zeroes_unmap_max_bytes is 0" "the knob is named"
    check_has "$SAID" "write $hw there to allow it" "and what to write"
    agree 8 "xfs, knob off" /m/xfs/file
    check_exit 7 "the disk, knob off" zerocap check "$one" --require knob-on
    check_has "$ERR" "not met: knob-on" "by name"
    check_exit 7 "the path, knob off" zerocap check /m/ext4 --require knob-on
    echo "$hw" >"$knob"
    agree 0 "ext4, knob on again" /m/ext4/file
    check_exit 7 "a pin is no measurement" zerocap check /m/ext4 --require measured
    check_has "$(zerocap check --json /m/ext4/file | json '(d["format"], d["filesystem"], d["write_zeroes"], d["devices"][0]["leaves"])')" "(1, 'ext4', True, ['${one#/dev/}'])" "JSON for a path"
    check_exit 0 "max-age holds where nothing was measured" zerocap check /m/ext4 --max-age 1s
fi

# --- overlay ---
mkdir -p /m/ext4/lower /m/ext4/upper /m/ext4/work; head -c 4194304 /dev/urandom >/m/ext4/lower/old
mkdir /m/over; mount -t overlay overlay -o lowerdir=/m/ext4/lower,upperdir=/m/ext4/upper,workdir=/m/ext4/work /m/over
agree 0 "overlay, a file of the upper layer" /m/over/new; check_has "$SAID" "upper layer /m/ext4/upper" "the layer is named"
agree 0 "overlay, a file of a lower layer" /m/over/old; check_has "$(zerocap check /m/over)" "overlay on /m/over" "the overlay is named"
umount /m/over
mkdir /m/tmp; mount -t tmpfs tmpfs /m/tmp; mkdir /m/tmp/u /m/tmp/w
mount -t overlay overlay -o lowerdir=/m/ext4/lower,upperdir=/m/tmp/u,workdir=/m/tmp/w /m/over
agree 32 "overlay on tmpfs" /m/over/new; umount /m/over
mount -t overlay overlay -o lowerdir=/m/ext4/lower:/m/ext4/upper /m/over
code=0; zerocap check /m/over/old >/dev/null 2>&1 || code=$?; check_eq "$code/$(call /m/over/old)" 32/EROFS "an overlay without an upper layer"
umount /m/over

# --- no block device below ---
agree 32 "tmpfs" /m/tmp/file; check_has "$SAID" "in memory" "and says so"
agree 32 "9p" /host/file; check_has "$SAID" "9p" "and says so"
code=0; zerocap check /proc/self/status 2>/dev/null || code=$?; check_eq $code 32 "proc"

# --- loop on a file ---
truncate -s 64M /m/ext4/img; loop=$(losetup -f --show /m/ext4/img); mkfs.ext4 -q "$loop"; at loop "$loop"
agree 8 "ext4 on a loop" /m/loop/file; umount /m/loop; losetup -d "$loop"

# --- ext4 without extents, ext3 ---
vio=/dev/$(disk vio)
mkfs.ext4 -q -O ^extent,^64bit "$vio"; at old "$vio"; agree 8 "ext4 without extents" /m/old/file; umount /m/old
mkfs.ext3 -q "$vio"; at old "$vio" -t ext3; agree 8 "ext3" /m/old/file; umount /m/old
mkfs.ext4 -q "$vio"; at old "$vio"; agree 8 "ext4 on virtio, which has no unmap limit" /m/old/file; umount /m/old
umount /m/ext4 /m/xfs 2>/dev/null

# --- stacks ---
part "$one" 2; part "$two" 2
pvcreate -qq -ff -y "${one}p1" "${two}p1" >/dev/null; vgcreate -qq vg "${one}p1" "${two}p1" >/dev/null
lvcreate -qq -y -l 100%FREE -n lin vg >/dev/null; settle
mkfs.ext4 -q /dev/vg/lin; at lvm /dev/vg/lin; agree 0 "ext4 on LVM over two disks" /m/lvm/file
# In the order of names, and which disk got which name is chance.
both=$(printf '%s\n' "${one#/dev/}" "${two#/dev/}" | sort | paste -sd, | sed 's/,/, /')
check_has "$SAID" "(made of $both)" "down to both disks"
umount /m/lvm; vgremove -qq -f vg >/dev/null; settle
lvm pvremove -qq -ff -y "${one}p1" "${two}p1" >/dev/null
for level in 0 1; do
    mdadm -q --create /dev/md0 --run --level=$level -n 2 --assume-clean --metadata=1.2 "${one}p1" "${two}p1" >/dev/null 2>&1; settle
    mkfs.ext4 -q /dev/md0; at md /dev/md0
    agree $((level * 4)) "ext4 on md raid$level" /m/md/file; check_has "$SAID" "md0 (made of" "md raid$level: down to its disks"
    umount /m/md; mdadm -q --stop /dev/md0 2>/dev/null; mdadm -q --zero-superblock "${one}p1" "${two}p1"; settle
done
echo -n secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "${one}p1" - &&
    echo -n secret | cryptsetup open --key-file - "${one}p1" crypt
settle; mkfs.ext4 -q /dev/mapper/crypt; at crypt /dev/mapper/crypt; agree 4 "ext4 on crypt" /m/crypt/file
check_has "$SAID" "(made of ${one#/dev/})" "crypt: down to its disk"; umount /m/crypt; cryptsetup close crypt
mkfs.btrfs -qf "${one}p1" "${two}p1" 2>/dev/null || mkfs.btrfs -qf --mixed "${one}p1" "${two}p1"
modprobe btrfs; [ -e /dev/btrfs-control ] || mknod /dev/btrfs-control c 10 234; btrfs device scan >/dev/null; at btrfs "${one}p1"; agree 8 "btrfs on two disks" /m/btrfs/file; check_has "$SAID" "btrfs has no FALLOC_FL_WRITE_ZEROES" "why"
check_has "$SAID" "device       ${two#/dev/} is fast" "btrfs: the second disk too"
btrfs -q subvolume create /m/btrfs/sub >/dev/null; agree 8 "btrfs, in a subvolume" /m/btrfs/sub/file
printf '[[rule]]\npath = "^%s$"\nclass = "slow"\n' "$two" >/etc/zerocap/policy.d/20-two.toml
check_exit 3 "the weakest of two disks is the class" zerocap check /m/btrfs/file
umount /m/btrfs
