#!/bin/bash
# Devices of known truth, on NVMe, SCSI and virtio: each gets its class, or `unknown` where noise hides it, never a wrong
# one; and each holds afterwards what it held before, byte for byte. With the argument `noise`: the machine has other work,
# so any device whose class is a matter of time may be `unknown` too (truth-long counts how often).
# vm: -n fast:32M:write_ms_per_mib=60 -n adslow:32M:zero_ms_per_mib=12,write_ms_per_mib=12 -n free:32M:zero=ok
# vm: -n unadv:32M:bus=virtio,write_ms_per_mib=60 -n unadv2:32M:bus=scsi,write_ms_per_mib=60
# vm: -n lie:32M:zero=lie -n half:32M:zero=half -n brk:32M:eio_after=6M
# vm: -n noisyslow:32M:zero_ms_per_mib=4,write_ms_per_mib=12,bimodal=30:40 -n noisyfast:32M:zero_ms_per_mib=1,write_ms_per_mib=24,bimodal=4:40
# vm: -n hang:32M:hang_after=9
# takes: 130
. "${0%/*}/../lib.sh"
install_rules
range=8MiB+8MiB noise=${1-}

# `unknown` may come of a busy machine, a wrong class may not.
wrong_class() { if [ "$got" = unknown ]; then timed fail "$name: $got"; else fail "$name: $got"; fi; }
# expect DISK CLASSES [COMMAND...] : measures it; the class is one of those
expect() {
    local name=$1 want=$2 d before got start=$SECONDS
    shift 2
    [ "$noise" != noise ] || [ "$want" = broken ] || want="$want unknown"
    d=$(disk "$name")
    fill "$d"
    before=$(sum "$d")
    check_exit 0 "$name: measured" "$@" zerocap measure "/dev/$d" --scratch $range --journal /host/journal --thin-ok --data-ok --max-bytes 256MiB --max-seconds 60
    got=$(zerocap show "/dev/$d" --json | json 'd[0]["class"]')
    case " $want " in *" $got "*) ok "$name: $got" ;; *) wrong_class; note "want one of: $want" ;; esac
    note "$(head -1 <<<"$OUT") ($((SECONDS - start)) s)"
    check_eq "$(sum "$d")" "$before" "$name: the whole device is as before"
    D=$d
}

expect fast fast
from 6.17 check "the limit claims it" test "$(q "$D" write_zeroes_unmap_max_hw_bytes)" -gt 0
expect adslow slow
from 6.17 check "advertised all the same" test "$(q "$D" write_zeroes_unmap_max_hw_bytes)" -gt 0

# What is measured in a group with a limit is the limit: there is no test, and outside of the group there is.
free=$(disk free)
fill "$free"
before=$(sum "$free")
mkdir -p /sys/fs/cgroup/slow; echo +io >/sys/fs/cgroup/cgroup.subtree_control
echo "$(cat "/sys/block/$free/dev") wbps=20971520" >/sys/fs/cgroup/slow/io.max
check_exit 1 "in a group with a limit" sh -c 'echo $$ >/sys/fs/cgroup/slow/cgroup.procs; exec "$@"' sh \
    zerocap measure "/dev/$free" --scratch $range --journal /host/journal --data-ok
check_has "$ERR" "/sys/fs/cgroup/slow/io.max says" "the file is named, and the line"
check_has "$ERR" "wbps=20971520" "the file is named, and the line"
check_eq "$(sum "$free")" "$before" "nothing was written"

for name in unadv unadv2; do
    expect $name fast
    from 6.17 check_eq "$(q "$D" write_zeroes_unmap_max_hw_bytes)" 0 "$name: nothing claims it"
done
expect noisyslow "slow unknown"
expect noisyfast "fast unknown"
for name in lie half; do
    expect $name broken
    check_has "$(zerocap show "/dev/$D")" old-data-left "$name: by its finding"
done
expect brk broken
check_has "$(zerocap show "/dev/$D")" zeroing-error "brk: by its finding"

hang=$(disk hang)
fill "$hang"
timed check_exit 1 "hang: no answer ends the test" timeout 60 zerocap measure "/dev/$hang" --scratch $range --journal /host/journal --data-ok --deadline 4
check_has "$ERR" "still in flight, pid" "hang: by its error"
timed check_exit 6 "hang: broken" timeout 20 zerocap check "/dev/$hang"
check "hang: the journal is kept" test -n "$(ls /host/journal)"
