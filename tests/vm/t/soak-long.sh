#!/bin/bash
# ring: long
# takes: 3700
# For an hour (or as many seconds as the argument says) disks are added, measured, cut off in a test, recovered, tuned and removed: NVMe, SCSI, loop,
# device-mapper, md. Nothing grows: memory, files, locks, processes. The figures of the first and of the last rounds are printed.
# vm: -m 768 -T 7200 -n work:64M:write_ms_per_mib=4,zero_ms_per_mib=1 -d one:64M:virtio -d two:64M:virtio
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /tmp/j
work=$(disk work)
J="--journal /tmp/j --data-ok --thin-ok --max-bytes 160MiB --max-seconds 20"
fill "$work"; before=$(sum "$work")
truncate -s 64M /tmp/image
bad=0
# must CODES COMMAND... : it ends with one of these exit codes
must() {
    local codes=" $1 " rc=0
    shift
    "$@" >/tmp/out 2>/tmp/err || rc=$?
    case $codes in *" $rc "*) ;; *) bad=$((bad + 1)); note "round $round: exit $rc of $*: $(head -c 300 /tmp/err)" ;; esac
}
# cut_off DISK : a test that is killed at a random moment, and its recovery
cut_off() {
    local pid
    zerocap measure "/dev/$1" --scratch 8MiB+16MiB $J >/dev/null 2>&1 &
    pid=$!
    sleep "0.$((RANDOM % 9))"; sleep "$((RANDOM % 2))"
    kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
    wait_for 30 sh -c '! pgrep -f port-chil[d]'
    must 0 zerocap recover --journal /tmp/j
}
look() { # files, locks, processes, kilobytes in use once the caches are dropped
    settle; sync; echo 3 >/proc/sys/vm/drop_caches
    echo "$(find /run/zerocap /etc/zerocap /var/lib/zerocap /tmp/j -type f | wc -l)" \
        "$(wc -l </proc/locks)" "$(pgrep -fc 'zerocap|systemd-inhibit')" \
        "$(awk '/^MemTotal/ {t = $2} /^MemAvailable/ {a = $2} END {print t - a}' /proc/meminfo)"
}
round=0 start=$SECONDS
while [ $((SECONDS - start)) -lt "${1:-3600}" ]; do
    round=$((round + 1))
    must 0 zerocap measure "/dev/$work" --scratch 8MiB+16MiB $J
    cut_off "$work"
    sd=$(sdebug lbpws=1 lbpu=1 lbpws10=1)
    must 0 zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J
    cut_off "$sd"
    must "0 1" zerocap tune apply "/dev/$sd"; must "0 1" zerocap tune reset "/dev/$sd"
    must 0 zerocap policy pin "/dev/$sd" slow; must 0 zerocap policy unpin "/dev/$sd"
    # Each time it has another identity, whose measurement would be kept for when it comes back.
    must 0 zerocap policy forget "/dev/$sd"
    loop=$(losetup -f --show /tmp/image); settle "${loop#/dev/}"
    must 0 zerocap measure "$loop" --scratch 8MiB+16MiB $J
    losetup -d "$loop"
    dmsetup create over --table "0 131072 linear /dev/$work 0"; settle
    cut_off "$(basename "$(readlink -f /dev/mapper/over)")"
    dmsetup remove --retry over
    mdadm --create /dev/md7 --run --level=0 --raid-devices=2 "/dev/$(disk one)" "/dev/$(disk two)" >/dev/null 2>&1; settle md7
    must 0 zerocap show; must "0 3 4 5 6" zerocap check /dev/md7
    mdadm --stop /dev/md7 >/dev/null 2>&1; mdadm --zero-superblock "/dev/$(disk one)" "/dev/$(disk two)"
    must 0 zerocap probe "/dev/$work"; must 0 zerocap is-zero "/dev/$(disk one)"
    udevadm trigger --settle --subsystem-match=block
    sdebug_rm || bad=$((bad + 1))
    seen=$(look)
    [ $round != 3 ] || third=$seen
    last=$seen
    [ $((round % 10)) != 3 ] || note "round $round: files, locks, processes, KiB in use: $seen"
done
note "$round rounds in $((SECONDS - start)) s; after the third: $third; after the last: $last"
check "there were rounds enough to compare" test $round -ge 10
check_eq "$bad" 0 "every command ended as it must"
check_eq "$(sum "$work")" "$before" "the disk holds what it held before"
check_eq "$(cut -d' ' -f1 <<<"$last")" "$(cut -d' ' -f1 <<<"$third")" "no more files"
note "files: $(find /run/zerocap /etc/zerocap /var/lib/zerocap /tmp/j -type f | tr '\n' ' ')"
check_eq "$(cut -d' ' -f2 <<<"$last")" "$(cut -d' ' -f2 <<<"$third")" "no more locks"
check_eq "$(cut -d' ' -f3 <<<"$last")" 0 "no process is left"
check "not 16 MiB more memory in use" test $(($(cut -d' ' -f4 <<<"$last") - $(cut -d' ' -f4 <<<"$third"))) -lt 16384
