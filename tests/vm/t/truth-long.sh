#!/bin/bash
# host-driver
# ring: long
# The devices of truth.sh ten times: no class may be wrong once. `unknown` is not wrong where the machine has other work, but
# each device must be told for what it is in most rounds. ROUNDS=N for another number.
. "$VM_LIB"
rounds=${ROUNDS:-10}
for round in $(seq "$rounds"); do
    check_exit 0 "round $round" "${VM%/*}/run" truth noise
    grep -E '^(FAIL|LATE)' -A2 <<<"$OUT"
    grep -oE '^ok    [a-z0-9]+: (fast|slow|unknown|broken)$' <<<"$OUT" >>"$VM_TMP/told"
done
for told in 'fast: fast' 'adslow: slow' 'throttled: slow' 'unadv: fast' 'unadv2: fast' 'lie: broken' 'half: broken' 'brk: broken'; do
    times=$(grep -cx "ok    $told" "$VM_TMP/told")
    check "$told in $times of $rounds rounds" test $((times * 2)) -gt "$rounds"
done
