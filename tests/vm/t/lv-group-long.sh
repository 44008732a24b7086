#!/bin/bash
# ring: long
# `vg:VG`: a logical volume that is made for the test and removed after it gives the class of the disk, without a journal, and
# whenever the test is killed `recover` removes it. Outside of its extents and LVM's metadata every byte stays.
# vm: -n fast:300M:write_ms_per_mib=20 -n slow:300M:zero_ms_per_mib=12,write_ms_per_mib=12 -n lie:300M:zero=lie
# takes: 150
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /etc/lvm; lvm() { command lvm "$@" 2>>/tmp/lvm.err; }
B="--max-bytes 256MiB"
# The state lies in memory here; a disk's own file system would do.
mount --bind /host /var/lib/zerocap 2>/dev/null || { mkdir -p /var/lib/zerocap; mount --bind /host /var/lib/zerocap; }
chmod 700 /var/lib/zerocap
setup() {
    local d=$1 vg=$2
    printf 'label: gpt\nstart=2048, size=16384\nstart=18432, size=581632\n' | sfdisk -q "/dev/$d"
    wait_for 5 test -b "/dev/${d}p2"; settle "${d}p2"
    lvm pvcreate -qq -y "/dev/${d}p2"; lvm vgcreate -qq "$vg" "/dev/${d}p2"; lvm lvcreate -qq -y -n data -L 16M "$vg"; settle
    mkfs.ext4 -q "/dev/$vg/data"; mkdir -p "/mnt/$vg"; mount "/dev/$vg/data" "/mnt/$vg"; echo hello >"/mnt/$vg/file"
    sync; mount -o remount,ro "/mnt/$vg"; settle
}
# rest DISK FIRST LENGTH : checksum of all but LVM's metadata (the first MiB of the partition) and these bytes
rest() {
    python3 - "/dev/$1" "$2" "$3" <<'P'
import hashlib, os, subprocess, sys
disk, first, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
subprocess.run(["blockdev", "--flushbufs", disk])
f = open(disk, "rb", buffering=0); size = f.seek(0, 2); h = hashlib.sha256()
for a, b in ((0, 9 << 20), (10 << 20, first), (first + length, size)):
    f.seek(a)
    while a < b:
        piece = f.read(min(1 << 20, b - a)); h.update(piece); a += len(piece)
print(h.hexdigest())
P
}
place() { sed -n "s/.*: bytes \([0-9]*\)+\([0-9]*\) of the disk, without a signature/\1 \2/p" <<<"$1"; }
left() {
    check_eq "$(lvm lvs --noheadings -o lv_name -S lv_tags=zerocap)" "" "$1: no volume is left"
    check_eq "$(find /var/lib/zerocap/intent /var/lib/zerocap/journal /run/zerocap/intent -type f 2>/dev/null)" "" "$1: nor a word or a journal"
}
same() {
    local name=$1 want=$2 vg=vg$1 d before
    d=$(disk "$name"); setup "$d" "$vg"
    check_exit 0 "$name: the plan" zerocap measure "/dev/$d" --scratch "vg:$vg" $B --dry-run
    at=$(place "$OUT"); before=$(rest "$d" $at)
    check_has "$OUT" "this writes LVM's metadata twice, and the old content of these extents is lost" "$name: the plan says what it costs"
    check_exit 0 "$name: measured, with the journal on the disk that is there" zerocap measure "/dev/$d" --scratch "vg:$vg" $B --json
    timed check_eq "$(json 'd["class"], d["basis"], d["measured"]["scratch"]' <<<"$OUT")" "('$want', 'measured', 'vg')" "$name: $want"
    check_eq "$ERR" "" "$name: nothing on standard error"
    check_eq "$(rest "$d" $at)" "$before" "$name: the rest of the disk is as before"
    left "$name"
}
same fast fast
same slow slow
same lie broken
fast=$(disk fast) slow=$(disk slow)

# --- the list, and auto ---
check_exit 2 "without a place the list" zerocap measure "/dev/$fast"
sed 's/^/      | /' <<<"$OUT"
check_has "$OUT" "zerocap measure /dev/$fast --scratch vg:vgfast" "has the group"
check_has "$OUT" "/dev/vgfast/data: " "and why not the volume that is mounted"
check_exit 0 "auto takes it where label and gap are not possible" zerocap measure "/dev/$fast" --scratch auto --dry-run
check_has "$OUT" "would make the logical volume vgfast/zerocap-" "and says so"

# --- what is refused ---
refused() { check_exit 1 "refused: $1" zerocap measure "/dev/$fast" --scratch "$2" --dry-run; check_has "$ERR" "$3" "$ERR"; }
refused "no such group" vg:nosuch "there is no volume group nosuch"
refused "a group of another disk" vg:vgslow "free on this disk"
lvm lvcreate -qq -y -n full -l 90%FREE vgfast
refused "a group that is nearly full" vg:vgfast "a test uses at most a tenth of that"
lvm lvremove -qq -y vgfast/full
lvm vgexport -qq vgslow 2>/dev/null || { umount /mnt/vgslow; lvm lvchange -qq -an vgslow; lvm vgexport -qq vgslow; }
check_exit 1 "refused: an exported group" zerocap measure "/dev/$slow" --scratch vg:vgslow --dry-run; check_has "$ERR" "exported" "$ERR"
lvm vgimport -qq vgslow; lvm lvchange -qq -ay vgslow
lvm lvcreate -qq -y -s -n snap -L 4M vgslow/data
check_exit 1 "refused: a snapshot" zerocap measure "/dev/$slow" --scratch vg:vgslow --dry-run; check_has "$ERR" "(a snapshot)" "$ERR"
lvm lvremove -qq -y vgslow/snap
if lvm lvcreate -qq -y --type thin-pool -n pool -L 16M --poolmetadatasize 4M vgfast --config 'global/thin_check_executable="" activation/monitoring=0'; then
    check_exit 0 "a thin pool that does not grow of itself" zerocap measure "/dev/$fast" --scratch vg:vgfast --dry-run
    cp /etc/lvm/lvm.conf /tmp/lvm.conf 2>/dev/null
    printf 'activation {\n thin_pool_autoextend_threshold = 70\n}\n' >/etc/lvm/lvm.conf
    refused "a thin pool that does" vg:vgfast "a thin pool that is extended automatically"
    if [ -e /tmp/lvm.conf ]; then cp /tmp/lvm.conf /etc/lvm/lvm.conf; else rm /etc/lvm/lvm.conf; fi
    lvm lvremove -qq -y vgfast/pool --config 'global/thin_check_executable=""'
else not_run "thin pools: $(tail -2 /tmp/lvm.err)"; fi
settle
# A file system that once lay in the free extents would get its links again.
set -- $(place "$(zerocap measure "/dev/$fast" --scratch vg:vgfast --dry-run)")
old=$1
lvm lvcreate -qq -y -n old -L 32M vgfast; mkfs.ext4 -q -F /dev/vgfast/old; lvm lvremove -qq -y vgfast/old --config devices/issue_discards=0; settle
refused "free extents with a file system" vg:vgfast "hold no signature"
dd if=/dev/urandom of="/dev/$fast" bs=1M seek=$((old >> 20)) count=4 oflag=direct conv=notrunc status=none; settle

# --- killed ---
child_gone() { wait_for 30 sh -c '! pgrep -f port-chil[d]'; }
begin() { from=$(written "$fast"); zerocap policy forget "/dev/$fast" >/dev/null 2>&1; zerocap measure "/dev/$fast" --scratch vg:vgfast $B >/tmp/out 2>/tmp/err & pid=$!; }
at=$(place "$(zerocap measure "/dev/$fast" --scratch vg:vgfast --dry-run)"); before=$(rest "$fast" $at)
killed() {
    check_exit 0 "recover: $1" zerocap recover; note "$OUT$ERR"
    left "$1"
    check_exit 0 "and again" zerocap recover
    check_eq "$(rest "$fast" $at)" "$before" "$1: the rest of the disk is as before"
}
begin; wait_written "$fast" "$from" 12; kill -9 $pid; wait $pid 2>/dev/null; child_gone; killed "in the middle"
begin; wait_written "$fast" "$from" 12; pkill -9 -f 'port-chil[d]'; wait $pid; note "$(cat /tmp/err)"; killed "the child in the middle"
begin; wait_written "$fast" "$from" 12; kill -9 $pid; wait $pid 2>/dev/null; child_gone
lvm lvchange -qq -an vgfast/"$(lvm lvs --noheadings -o lv_name -S lv_tags=zerocap | tr -d ' ')"; settle
killed "and not active, as after a restart"
begin; wait_written "$fast" "$from" 12; kill -INT $pid; kill -TERM $pid; wait $pid; note "$(cat /tmp/err)"; left "a signal"
mkdir /usr/sbin/real; mv /usr/sbin/lvm /usr/sbin/real/
for when in before after; do
    cat >/usr/sbin/lvm <<W
#!/bin/sh
if [ "\$1" != lvcreate ]; then exec /usr/sbin/real/lvm "\$@"; fi
[ $when = before ] && { : >/tmp/making; sleep 4; }
/usr/sbin/real/lvm "\$@"; rc=\$?
[ $when = after ] && { : >/tmp/making; sleep 4; }
exit \$rc
W
    chmod 755 /usr/sbin/lvm; rm -f /tmp/making
    begin; wait_for 20 test -e /tmp/making; kill -9 $pid; wait $pid 2>/dev/null
    killed "while LVM makes it, $when it is there"
done
mv /usr/sbin/real/lvm /usr/sbin/lvm

# --- what is somebody else's is not removed ---
begin; wait_written "$fast" "$from" 12; kill -9 $pid; wait $pid 2>/dev/null; child_gone
lv=$(lvm lvs --noheadings -o lv_name -S lv_tags=zerocap | tr -d ' ')
exec 7<"/dev/vgfast/$lv"
check_exit 1 "open elsewhere" zerocap recover; check_has "$ERR" "a program has it open" "$ERR"
exec 7<&-; settle
lvm lvrename -qq vgfast "$lv" mine
check_exit 1 "renamed" zerocap recover; check_has "$ERR" "so zerocap does not remove it" "$ERR"
lvm lvrename -qq vgfast mine "$lv"; mkfs.ext4 -q -F "/dev/vgfast/$lv"; settle
check_exit 1 "with a file system" zerocap recover; check_has "$ERR" "somebody uses it" "$ERR"
check "it is still there" lvm lvs "vgfast/$lv"
check_exit 0 "given up" zerocap recover --give-up "/dev/$fast"; check_has "$OUT$ERR" "lvremove vgfast/$lv" "and it says what is left: $OUT"
