#!/bin/bash
# kill -9 in the middle of a test, then recover: the content is byte for byte as before. A file system made in the range
# before recovery is left alone. A guest that is cut off answers in the next boot (reboot.sh).
# vm: -n one:64M:write_ms_per_mib=20,zero_ms_per_mib=5 -n two:64M:write_ms_per_mib=20,zero_ms_per_mib=5
# takes: 80
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 128MiB"
one=$(disk one) two=$(disk two)
fill "$one"
before=$(sum "$one")
for wait in "0.9 s" "24 MiB"; do
    from=$(written "$one")
    zerocap measure "/dev/$one" --scratch 16MiB+16MiB $J >/dev/null 2>&1 &
    pid=$!
    # Early, before much of it is done, and in the midst of its writes.
    if [ "$wait" = "0.9 s" ]; then sleep 0.9; else
        wait_written "$one" "$from" 24
        # DAC_OVERRIDE, SYS_RAWIO and SYS_ADMIN.
        rights=$(grep -E '^(CapEff|CapPrm|NoNewPrivs)' "/proc/$(pgrep -f port-chil[d] | head -n 1)/status" | cut -f2 | tr '\n' ' ')
        check_eq "$rights" "0000000000220002 0000000000220002 1 " "the acting child has only the rights that it needs"
    fi
    kill -9 $pid
    wait $pid 2>/dev/null
    # The acting child ends after the act it is in; until then it holds the range.
    wait_for 10 sh -c '! pgrep -f port-chil[d]'
    if [ -n "$(ls /var/lib/zerocap/intent)" ]; then
        check_exit 1 "after a kill at $wait a new test is refused" zerocap measure "/dev/$one" --scratch 16MiB+16MiB $J
        check_has "$ERR" "zerocap recover" "and recover is named"
    elif [ "$wait" != "0.9 s" ]; then
        fail "after $wait no intent is there"
    fi
    check_exit 0 "recover after $wait" zerocap recover --journal /host/journal
    note "$OUT"
    check_eq "$(sum "$one")" "$before" "content as before"
    check "nothing is left" test -z "$(find /host/journal /var/lib/zerocap/intent -type f)"
    check "no partition is left" test ! -e "/sys/block/$one/${one}p250"
done
check_exit 0 "a whole test afterwards" zerocap measure "/dev/$one" --scratch 16MiB+16MiB $J
check_eq "$(sum "$one")" "$before" "content as before"

# --- somebody uses the range in between ---
fill "$two"
from=$(written "$two")
zerocap measure "/dev/$two" --scratch 16MiB+16MiB $J >/dev/null 2>&1 &
pid=$!
wait_for 10 sh -c 'ls /var/lib/zerocap/intent/*'
wait_for 10 sh -c 'ls /host/journal/*.journal'
wait_written "$two" "$from" 24
kill -9 $pid
wait $pid 2>/dev/null
wait_for 10 sh -c '! pgrep -f port-chil[d]'
mkfs.ext4 -q -F "/dev/${two}p250" 2>/dev/null || mkfs.ext4 -q -F -E offset=16777216 "/dev/$two" 16M
mine=$(sum "$two")
check_exit 1 "recover refuses a range that somebody wrote to" zerocap recover --journal /host/journal
check_has "$ERR" "somebody has overwritten the whole range" "and says so"
check_eq "$(sum "$two")" "$mine" "nothing was changed"
check "the journal is kept" test -n "$(ls /host/journal/*.journal)"
