#!/bin/bash
# ring: long
# takes: 4000
# The disk is pulled out in every phase of a test, each time at a random moment: 200 times, or as often as the argument says.
# The test ends by itself with a message, and once the disk is back `recover` gives the whole content back; nothing is held
# against the disk.
# vm: -m 640 -T 7200
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /tmp/j
RANDOM=${2:-1}
sd=$(sdebug)
host=$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host* | head -n 1); host=${host##*/}
fill "$sd"; before=$(sum "$sd")
cut=0 whole=0 early=0 lost=0 blamed=0 stuck=0 children=0
for round in $(seq "${1:-200}"); do
    from=$(written "$sd")
    zerocap measure "/dev/$sd" --scratch 8MiB+16MiB --journal /tmp/j --data-ok --max-bytes 192MiB >/tmp/out 2>/tmp/err &
    pid=$!
    # From before the first write until after the last one.
    mib=$((RANDOM % 220))
    while kill -0 $pid 2>/dev/null && [ $(($(written "$sd" 2>/dev/null || echo $((1 << 40))) - from)) -lt $((mib * 2048)) ]; do sleep 0.05; done
    echo 1 >"/sys/block/$sd/device/delete"
    rounds=0
    while kill -0 $pid 2>/dev/null && [ $((rounds++)) -lt 600 ]; do sleep 0.1; done
    kill -0 $pid 2>/dev/null && { stuck=$((stuck + 1)); note "round $round: the test does not end"; kill -9 $pid; }
    wait $pid; code=$?
    # 32: the disk was gone before the test had found it.
    case $code in 0) whole=$((whole + 1)) ;; 1) cut=$((cut + 1)) ;; 32) early=$((early + 1)) ;; *) fail "round $round: exit $code: $(cat /tmp/err)" ;; esac
    wait_for 20 sh -c '! pgrep -f port-chil[d]' || children=$((children + 1))
    echo "- - -" >"/sys/class/scsi_host/$host/scan"
    wait_for 20 sdebug_disks; sd=$(sdebug_disks); settle "$sd"
    zerocap recover --journal /tmp/j >/tmp/recovered 2>&1 || { lost=$((lost + 1)); note "round $round at $mib MiB: $(cat /tmp/err /tmp/recovered)"; }
    [ "$(sum "$sd")" = "$before" ] || { lost=$((lost + 1)); note "round $round at $mib MiB: the content is not as before"; break; }
    [ "$(zerocap show --json "/dev/$sd" | json 'd[0]["class"]')" != broken ] || { blamed=$((blamed + 1)); note "round $round at $mib MiB: broken: $(cat /tmp/err)"; zerocap policy forget "/dev/$sd"; }
    # A guest that prints nothing counts as one that makes no progress.
    [ $((round % 5)) != 0 ] || note "$round rounds"
    [ -z "$(find /tmp/j /var/lib/zerocap/intent -type f)" ] || { fail "round $round: something is left"; break; }
done
note "$cut tests were cut off, $whole were whole, $early had not begun"
check_eq "$lost" 0 "no round lost anything"
check_eq "$blamed" 0 "no round accused the disk"
check_eq "$stuck" 0 "every test ended by itself"
check_eq "$children" 0 "no child was left"
check "most tests were cut off" test $((cut * 2)) -gt "${1:-200}"
