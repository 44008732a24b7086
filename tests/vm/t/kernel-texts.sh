#!/bin/bash
# ring: long
# What help, manual pages and findings say of kernels by their release is true on this one: files that came with 5.15 and 6.17, a
# loop that loses its offload, a discard limit that a 0 closes. Any kernel: run -k 5.10; the ends of each range are run in the
# matrix (tests/long matrix).
# vm: -d nv:64M:nvme -d vir:64M:virtio
. "${0%/*}/../lib.sh"
release=$(uname -r | grep -oE '^[0-9]+\.[0-9]+')
there() { if [ -e "$1" ]; then echo yes; else echo no; fi; }
since() { if kernel_has "$1"; then echo yes; else echo no; fi; }
vd=$(disk vir) nv=$(disk nv)
check_eq "$(there "/sys/block/$vd/diskseq")" "$(since 5.15)" "$release: a disk has a sequence number from 5.15 on"
check_eq "$(there "/sys/block/$vd/queue/write_zeroes_unmap_max_bytes")" "$(since 6.17)" "$release: the knob is there from 6.17 on"

# --- no-knob ---
codes=$(zerocap show "/dev/$vd" --json | json '[f["code"] for f in d[0]["findings"]]')
if kernel_has 6.17; then check_not "$codes" no-knob "no finding where it is there"; else
    check_has "$codes" no-knob "the finding stands in the document"
    table=$(zerocap show)
    note "$(tail -n 1 <<<"$table")"
    check_eq "$(grep -c no-knob <<<"$table")" 1 "and once in the table"
    check_exit 7 "--require knob-on" zerocap check "/dev/$vd" --require knob-on
    check_has "$ERR" "not met: knob-on (this kernel has no $vd/queue/write_zeroes_unmap_max_bytes, which came with Linux 6.17" "says why"
fi
check_eq "$(zerocap show "/dev/$nv" --json | json '"kernel-sends-no-deac" in [f["code"] for f in d[0]["findings"]]')" \
    "$(if kernel_has 6.2; then echo False; else echo True; fi)" "NVMe with DLFEAT 9: the kernel sends DEAC from 6.2 on, by its release"
check_eq "$(zerocap show "/dev/$nv" --json | json 'd[0]["expected"]')" "$(if kernel_has 6.2; then echo fast; else echo unknown; fi)" "and only then it is expected fast"

# --- a file: what to do in its place ---
mkfs.ext4 -q "/dev/$vd"; mkdir -p /m; mount "/dev/$vd" /m
zerocap policy pin "/dev/$vd" fast --why test >/dev/null
check_exit 8 "a path on virtio" zerocap check /m
kernel_has 6.17 || check_has "$OUT" "came with Linux 6.17" "why the call fails"
check_has "$OUT" "write zeroes into the file once, then keep the file and use it again" "what to do for files"
check_has "$OUT" "FALLOC_FL_PUNCH_HOLE on any kernel" "what to do for devices"
umount /m

# --- a user without root ---
chmod o+r "/dev/$nv"
said=$(setpriv --reuid 65534 --regid 65534 --clear-groups zerocap probe "/dev/$nv" 2>&1)
if kernel_has 6.2; then check_has "$said" "DLFEAT: 0x9 " "probe without root: NVMe answers from 6.2 on where the node may be read"; else
    check_has "$said" "nvme-id-ns: needs root" "probe without root: one line says that it needs root"
    check_eq "$(grep -c EACCES <<<"$said")" 0 "and not a row of refusals"
fi

# --- a loop on tmpfs (plan: not tried; zerocap(7)) ---
truncate -s 16M /tmp/img; loop=$(losetup -f --show /tmp/img)
before=$(q "$loop" write_zeroes_max_bytes)
check_not "$before" -0- "a loop on tmpfs has an offload: $before"
blkdiscard -z -l 1M "$loop" 2>/dev/null
check_eq "$(if [ "$(q "$loop" write_zeroes_max_bytes)" = 0 ]; then echo yes; else echo no; fi)" "$(since 6.12)" "$release: BLKZEROOUT on it withdraws the offload from 6.12 on, not on 6.1"
losetup -d "$loop"

# --- a discard limit of 0 (registry of tunables) ---
sd=$(sdebug lbpu=1 lbpws=1)
limit=/sys/block/$sd/queue/discard_max_bytes hw=$(q "$sd" discard_max_hw_bytes)
echo 0 >"$limit"; echo "$hw" >"$limit" 2>/dev/null
check_eq "$(if [ "$(cat "$limit")" = 0 ]; then echo yes; else echo no; fi)" "$(since 6.12)" "$release: a 0 in discard_max_bytes cannot be taken back from 6.12 on, on 6.1 it can"
