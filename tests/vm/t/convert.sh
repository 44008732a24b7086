#!/bin/bash
# ring: long
# The plan that `estimate --data-fraction` names, against real `qemu-img convert` on six measured devices: each of the three
# plans is run, and the one that was named is never the slowest.
# vm: -n fast:24M:write_ms_per_mib=80,quick=1 -n virt:24M:bus=virtio,write_ms_per_mib=80,quick=1
# vm: -n scsi:24M:bus=scsi,write_ms_per_mib=80,quick=1 -n near:24M:write_ms_per_mib=80,zero_ms_per_mib=16,quick=1
# vm: -n even:24M:write_ms_per_mib=80,zero_ms_per_mib=80,quick=1 -n slow:24M:write_ms_per_mib=80,zero_ms_per_mib=320,quick=1 -m 768
# takes: 300
. "${0%/*}/../lib.sh"
KINDS="fast virt scsi near even slow"
. "${0%/*}/../clients.sh"
image_of_a_quarter
right() { cmp -s -n $((24 << 20)) /tmp/image "/dev/$1"; }
declare -A way=([zero-rest]=zero [zero-first]=first [write-all]=write)
for kind in $KINDS; do
    d=$(disk "$kind")
    check_exit 0 "$kind: measured" zerocap measure "/dev/$d" --scratch 8MiB+8MiB --max-bytes 192MiB --journal /host/journal --data-ok --thin-ok
    note "$(head -1 <<<"$OUT")"
    plan=$(zerocap estimate "/dev/$d" 24MiB --data-fraction 0.25 --json | json 'd["plan"]')
    check "$kind: a plan is named: $plan" test -n "${way[$plan]-}" || continue
    slowest=0 quickest=999999 named=0 said=
    for p in "${!way[@]}"; do
        once "$d" right convert --as "${way[$p]}" /tmp/image
        check_eq "$STATE" right "$kind, $p: the data is right"
        said+="$p $TIME ms, "
        [ "$p" != "$plan" ] || named=$TIME
        [ $TIME -le $slowest ] || slowest=$TIME
        [ $TIME -ge $quickest ] || quickest=$TIME
    done
    note "$kind: $said named $plan"
    # Ways that take much the same are no question: only where one takes twice as long as another is there a slowest.
    timed check "$kind: $plan is not the slowest" test $((slowest < 2 * quickest || named < slowest)) = 1
done
