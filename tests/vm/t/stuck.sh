#!/bin/bash
# A queue that somebody else froze: I/O in flight that is not answered, and a limit being written behind it. Events, show and
# check end within their deadlines, and however often they are called one child waits, not one a call.
# vm: -n hang:64M:hang_after=3
. "${0%/*}/../lib.sh"
install_rules
calls=${1:-20}
# A copy has the name, one that was started anew has it among its arguments.
waiting() { { pgrep port-child; pgrep -f 'port-chil[d]'; } | sort -u | grep -c .; }

hang=$(disk hang)
timed check_exit 0 "an idle device answers an event" timeout 20 env ACTION=change zerocap udev "/dev/$hang"
published=$(cat "/run/zerocap/$(cat "/sys/block/$hang/dev").json")
check_eq "$(waiting)" 0 "and no child was left"
# Zeroing until one call is not answered, then a limit is written: it waits for the call, and readers for it.
(for i in 1 2 3 4 5 6 7 8; do blkdiscard -z -o $((i * 1048576)) -l 1048576 "/dev/$hang"; done) >/dev/null 2>&1 &
in_flight() { grep -qv ' 0 *0$' "/sys/block/$hang/inflight"; }
wait_for 20 in_flight
sleep 1
check "a call is in flight" in_flight
knob=/sys/block/$hang/queue/discard_max_bytes
(cat "$knob" >"$knob.copy" 2>/dev/null || true; echo 1048576 >"$knob") >/dev/null 2>&1 &
sleep 1
cat "/sys/block/$hang/queue/write_zeroes_max_bytes" >/dev/null 2>&1 &
reader=$!
sleep 1
check "and its queue gives no file" test -d "/proc/$reader"

start=$SECONDS
timed check_exit 0 "an event ends" timeout -s KILL 20 env ACTION=change zerocap udev "/dev/$hang"
timed check "within its deadline" test $((SECONDS - start)) -lt 10
check_eq "$(waiting)" 1 "one child waits"
check_eq "$(cat "/run/zerocap/$(cat "/sys/block/$hang/dev").json")" "$published" "what was published stays"
start=$SECONDS
timed check_exit 0 "the next event ends" timeout -s KILL 20 env ACTION=change zerocap udev "/dev/$hang"
timed check "at once" test $((SECONDS - start)) -lt 3
check_eq "$(waiting)" 1 "and costs no further child"
failed=0
for _ in $(seq "$calls"); do timeout -s KILL 20 zerocap show "/dev/$hang" >/dev/null 2>&1 || failed=$((failed + 1)); done
timed check_eq "$failed" 0 "show answers, $calls times"
timeout -s KILL 20 zerocap check "/dev/$hang" >/dev/null 2>&1
check_eq "$(waiting)" 1 "and one child waits after $calls calls"
check "another device is answered" timeout 20 zerocap show
note "$(cat "/run/zerocap/stuck/$hang")"
check_eq "$(stat -c %a "/run/zerocap/stuck/$hang")" 644 "the memory is for all to read"
