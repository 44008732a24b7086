#!/bin/bash
# Proves the rig's rarer parts: every bus, a chain with a SCSI identity, a hanging disk, injected sense, rules and
# kernel arguments handed in.
# ring: long
# vm: -m 768 -a vm.test=1
# vm: -d vb:64M:virtio -d at:64M:ata -d at2:64M:ata -d us:64M:usb -d ua:64M:uas -d big:64M:none
# vm: -n tun:64M:bus=scsi,log=1 -n hang:64M:hang_after=2,log=1 -n bi:64M:bimodal=20:60
# vm: -- -device nvme,id=nc,serial=big -device nvme-ns,drive=big,bus=nc,logical_block_size=4096,physical_block_size=4096
. "${0%/*}/../lib.sh"
check_has "$(cat /proc/cmdline)" vm.test=1 "kernel argument handed in"

# The buses' drivers announce their disks late (usb-storage waits a second).
for d in vb at at2 us ua big tun hang bi; do
    if wait_for 10 disk $d; then ok "disk $d is $(disk $d)"; else fail "disk $d"; fi
done
settle
check_eq "$(q "$(disk big)" logical_block_size)" 4096 "own NVMe namespace with 4096-byte blocks"
check_eq "$(q "$(disk at)" write_zeroes_max_bytes)" 0 "ATA: no write zeroes"
check_eq "$(q "$(disk us)" write_zeroes_max_bytes)" 0 "USB bulk-only: no write zeroes"
check_eq "$(q "$(disk ua)" write_zeroes_max_bytes)" 2147483136 "USB attached SCSI: write zeroes"
blkdiscard -z -l 1M "/dev/$(disk tun)"
check "zeroing through SCSI reaches the tuned disk" grep -q '^zero 0 ' /host/tun.log

# --- LIO over a tuned disk: a SCSI disk, tunable from below ---
modprobe -a target_core_mod target_core_iblock tcm_loop
T=/sys/kernel/config/target
mkdir -p $T/core/iblock_0/lio
echo "udev_path=/dev/$(disk bi)" >$T/core/iblock_0/lio/control
echo 1 >$T/core/iblock_0/lio/enable
check "LIO takes a tuned disk" test -e $T/core/iblock_0/lio/wwn/vpd_unit_serial

# --- sense injected into scsi_debug ---
sd=$(sdebug lbpws=1)
hctl=$(basename "$(readlink -f "/sys/block/$sd/device")")
echo "2 -1000 0x93 0 0 0x2 3 0x0c 0" >"/sys/kernel/debug/scsi_debug/$hctl/error"
if blkdiscard -z -l 1M "/dev/$sd" 2>/dev/null; then note "BLKZEROOUT fell back to writes"; fi
check_has "$(dmesg | tail -n 20)" "Write error" "injected sense reaches the log"
check "scsi_debug goes away" sdebug_rm

# --- a disk that stops answering: the caller hangs, the guest goes on and powers off ---
h=/dev/$(disk hang)
blkdiscard -z -l 4M "$h" &
sleep 3
check "zeroing is stuck" test -d /proc/$!
check_eq "$(grep -c ^zero /host/hang.log)" 8 "eight commands, of which six hang"
# Not through the block device: BLKZEROOUT holds its inode's lock, and a direct read would wait for it.
timed check "the controller goes on" timeout 10 nvme read "$h" -s 0 -c 0 -z 512 -d /tmp/block
