#!/bin/bash
# ring: long
# Kinds of devices and stacks that t/record.sh has not, recorded on any kernel (run -k 5.10): what a recording says is what the
# device says. With VM_OPTS="-o DIR" the recordings without serial numbers stay in DIR/machines/*.tar, for tests/machines.
# vm: -d nva:64M:nvme -d nvb:64M:nvme -d plain:64M:virtio -d off:64M:virtio,write-zeroes=off -d ua:64M:uas -d card:64M:none -m 768
# vm: -- -device sdhci-pci -device sd-card,drive=card
# takes: 90
. "${0%/*}/../lib.sh"
mkdir -p /host/machines

answers() { # answers DEVICE NAME : recorded and live give one answer
    local d=$1 name=$2 verb
    if ! zerocap record "$d" "/tmp/rec-$name" --with-serials >/dev/null 2>/tmp/said; then
        fail "$name ($d) is recorded"; sed 's/^/      /' /tmp/said; return
    fi
    # The path of what zram writes to names a disk of somebody, and is left out of a recording.
    for verb in "probe" "show --json"; do
        check_eq "$(zerocap --root "/tmp/rec-$name" $verb "$d" 2>&1)" "$(zerocap $verb "$d" 2>&1 | grep -v ' backing_dev:')" "$name ($d): $verb is the same"
    done
    zerocap record "$d" "/tmp/hid-$name" >/dev/null 2>&1 && tar -C /tmp -cf "/host/machines/$name.tar" "hid-$name"
}
have() { modprobe -q "$1" || { note "not here: $1, a module that this kernel's package has not"; return 1; }; }

nv=$(disk nva) nv2=$(disk nvb) vd=$(disk plain)
answers "$nv" nvme
answers "$(disk off)" virtio-no-zeroing
wait_for 10 disk ua; answers "$(disk ua)" uas
[ ! -b /dev/mmcblk0 ] || answers mmcblk0 sd-card

# --- SCSI disks of every claim ---
for claim in none= lbpu="lbpu=1" lbpws10="lbpws10=1" lbprz0="lbpu=1 lbpws=1 lbprz=0" lbprz2="lbpu=1 lbpws=1 lbprz=2" 4k="lbpws=1 sector_size=4096"; do
    # shellcheck disable=SC2086 # several parameters
    sd=$(sdebug ${claim#*=}) || { fail "scsi_debug ${claim#*=}"; continue; }
    answers "$sd" "scsi-debug-${claim%%=*}"
    check "scsi_debug goes away" sdebug_rm
done

# --- device-mapper and md over a disk that claims all ---
sd=$(sdebug lbpu=1 lbpws=1 lbpws10=1)
dm() { # dm NAME TABLE : makes it, records it, and takes it away
    dmsetup create "$1" --table "$2" && settle && answers "$(basename "$(readlink -f "/dev/mapper/$1")")" "dm-$1"
}
part() { echo "$((16384 * $1))"; }
dm striped "0 32768 striped 2 128 /dev/$sd $(part 0) /dev/$nv $(part 0)"
! have dm-crypt || dm crypt "0 16384 crypt aes-xts-plain64 $(printf '%064d' 7) 0 /dev/$sd $(part 1)"
! have dm-snapshot || { dmsetup create base --table "0 8192 linear /dev/$sd $(part 2)"; dm snapshot "0 8192 snapshot /dev/mapper/base /dev/$nv2 N 8"; }
if have dm-thin-pool; then
    dmsetup create meta --table "0 8192 linear /dev/$sd $(part 3)"
    dmsetup create data --table "0 32768 linear /dev/$sd $(part 4)"
    dd if=/dev/zero of=/dev/mapper/meta bs=4k count=1 oflag=direct status=none
    dm thin-pool "0 32768 thin-pool /dev/mapper/meta /dev/mapper/data 128 0"
    dmsetup message thin-pool 0 "create_thin 0"
    dm thin "0 16384 thin /dev/mapper/thin-pool 0"
fi
for d in thin thin-pool data meta snapshot base crypt striped; do dmsetup remove --retry "$d" 2>/dev/null; done
have raid1 && mdadm --quiet --create /dev/md1 --run --assume-clean --level=1 --metadata=1.2 --raid-devices=2 "/dev/$nv" "/dev/$nv2" >/dev/null 2>&1
settle
[ ! -b /dev/md1 ] || answers md1 md-raid1

# --- in memory ---
! have zram || { echo 32M >/sys/block/zram0/disksize; answers zram0 zram; }
! have brd || answers ram0 brd
if have null_blk; then answers nullb0 null-blk; fi
