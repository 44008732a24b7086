#!/bin/bash
# A recording of a live device answers as the device did: NVMe, SCSI, ATA, USB, virtio, loop, dm-linear, md raid0; with and
# without serial numbers. Any kernel: run -k 6.1. With VM_OPTS="-o DIR" the recordings without serial numbers stay in
# DIR/machines/*.tar.
# vm: -d nva:64M:nvme -d nvb:64M:nvme -d vir:64M:virtio -d scs:64M:scsi -d ata:64M:ata -d stick:64M:usb
. "${0%/*}/../lib.sh"

sd=$(sdebug lbpws=1 lbprz=1 lbpme=1 2>/dev/null) || sd=$(sdebug lbpws=1)
nv=$(disk nva) nv2=$(disk nvb) vd=$(disk vir) sc=$(disk scs)
truncate -s 32M /tmp/img
loop=$(losetup -f --show /tmp/img)
# A loop whose file lies in a file system on a disk, below a mount point that names somebody.
mkfs.ext4 -q "/dev/$vd"
mkdir -p "/srv/payroll department"
mount "/dev/$vd" "/srv/payroll department"
truncate -s 16M "/srv/payroll department/archive.img"
inner=$(losetup -f --show "/srv/payroll department/archive.img")
wait_for 10 disk stick
at=$(disk ata) us=$(disk stick)
echo "0 65536 linear /dev/$sd 2048" | dmsetup create payroll-archive --uuid LVM-TOPSECRETUUID0123456789
modprobe -q raid0
mdadm --quiet --create /dev/md0 --run --level=0 --raid-devices=2 "/dev/$nv" "/dev/$nv2" >/dev/null 2>&1
settle
dm=$(basename "$(readlink -f /dev/mapper/payroll-archive)")

# What people call the device and where it is mounted is in no recording.
without_names() { sed -E '/^  (called|mounted|links) /d; /^ +\/dev\/disk\//d; s/,"(names|mounts)":\[[^]]*\]//g'; }
compare() { # compare DEVICE NAME
    local d=$1 name=$2 verb live told rc=0
    zerocap record "$d" "/tmp/rec-$name" --with-serials >/dev/null 2>/tmp/said || rc=$?
    check_eq $rc 0 "$name ($d) is recorded"
    note "not read: $(tr '\n' ';' </tmp/said)"
    for verb in "probe" "probe --json" "show" "show --json"; do
        live=$(zerocap $verb "$d" 2>/dev/null | without_names)
        told=$(zerocap --root "/tmp/rec-$name" $verb "$d" 2>/dev/null | without_names)
        if [ "$live" = "$told" ]; then ok "$name: $verb is the same"; else
            fail "$name: $verb differs"
            diff <(printf '%s\n' "$live") <(printf '%s\n' "$told") | cut -c1-400 | head -n 20
        fi
    done
    mkdir -p /host/machines
    zerocap record "$d" "/tmp/hid-$name" >/dev/null 2>&1
    tar -C /tmp -cf "/host/machines/$name.tar" "hid-$name"
    check_eq "$(zerocap --root "/tmp/hid-$name" show --json "$d" | grep -o '"class":"[a-z]*"')" \
        "$(zerocap show --json "$d" | grep -o '"class":"[a-z]*"')" "$name: the class stays without serial numbers"
    # Names of this guest's disks must be nowhere, neither in files nor in links.
    check_eq "$(grep -rlaE 'TOPSECRET|payroll|archive' "/tmp/hid-$name" | head -n 3)" "" "$name: no name is left in a file"
    check_eq "$(find "/tmp/hid-$name" -printf '%p %l\n' | grep -cE 'TOPSECRET|payroll')" 0 "$name: nor in a link"
}
compare "$vd" virtio
compare "$sc" scsi
compare "$sd" scsi-debug
compare "${loop#/dev/}" loop
compare "${inner#/dev/}" loop-on-ext4
check_has "$(zerocap probe "$inner")" "archive.img  (a file in ext4 on $vd)" "probe says where the file of a loop lies"
check_has "$(zerocap --root /tmp/hid-loop-on-ext4 probe "${inner#/dev/}")" " (a file in ext4 on $vd)" "so does the recording"
check_eq "$(wc -l </tmp/hid-loop-on-ext4/proc/self/mountinfo)" 1 "which has that one mount and no other"
check_has "$(find /tmp/hid-loop-on-ext4/sys/block -printf '%f ')" "$vd" "and the disk below"
compare "$at" ata
compare "$us" usb
compare "$dm" dm-linear
[ ! -b /dev/md0 ] || compare md0 md-raid0
[ -b /dev/md0 ] || compare "$nv" nvme
check_has "$(find /tmp/hid-dm-linear/sys/block -name 'sd*' | tr '\n' ' ')" "$sd" "the stack's member is recorded too"
