#!/bin/bash
# A recording of a live device answers as the device did: NVMe, SCSI, virtio, loop, dm-linear, md raid0; with and without
# serial numbers. Any kernel: VM_OPTS="-k 6.12". With -o DIR the recordings without serial numbers stay in DIR/machines/*.tar.
# vm: -d nva:64M:nvme -d nvb:64M:nvme -d vir:64M:virtio -d scs:64M:scsi
. "${0%/*}/../lib.sh"

sd=$(sdebug lbpws=1 lbprz=1 lbpme=1 2>/dev/null) || sd=$(sdebug lbpws=1)
nv=$(disk nva) nv2=$(disk nvb) vd=$(disk vir) sc=$(disk scs)
truncate -s 32M /tmp/img
loop=$(losetup -f --show /tmp/img)
echo "0 65536 linear /dev/$sd 2048" | dmsetup create payroll-archive --uuid LVM-TOPSECRETUUID0123456789
modprobe -q raid0
mdadm --quiet --create /dev/md0 --run --level=0 --raid-devices=2 "/dev/$nv" "/dev/$nv2" >/dev/null 2>&1
settle
dm=$(basename "$(readlink -f /dev/mapper/payroll-archive)")

compare() { # compare DEVICE NAME
    local d=$1 name=$2 verb live told rc=0
    zerocap record "$d" "/tmp/rec-$name" --with-serials >/dev/null 2>/tmp/said || rc=$?
    check_eq $rc 0 "$name ($d) is recorded"
    note "not read: $(tr '\n' ';' </tmp/said)"
    for verb in "probe" "probe --json" "show" "show --json"; do
        live=$(zerocap $verb "$d" 2>/dev/null)
        told=$(zerocap --root "/tmp/rec-$name" $verb "$d" 2>/dev/null)
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
compare "$dm" dm-linear
[ ! -b /dev/md0 ] || compare md0 md-raid0
[ -b /dev/md0 ] || compare "$nv" nvme
check_has "$(find /tmp/hid-dm-linear/sys/block -name 'sd*' | tr '\n' ' ')" "$sd" "the stack's member is recorded too"
