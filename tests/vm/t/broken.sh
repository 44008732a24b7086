#!/bin/bash
# Devices that do wrong: one that reports success and leaves old data, one that fails midway, one that does not answer. The
# class is broken, the content comes back where the device still writes, nothing is written to a hanging queue.
# vm: -n half:64M:zero=half -n brk:64M:eio_after=8M -n hang:64M:hang_after=9
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 192MiB"

# scsi_debug with a misaligned unmap granularity: success, and nothing zeroed
sd=$(sdebug lbpws=1 unmap_granularity=2048 unmap_alignment=7)
fill "$sd"
before=$(sum "$sd")
check_exit 1 "a device that may be thin needs leave" zerocap measure "/dev/$sd" --scratch 16MiB+16MiB $J
check_has "$ERR" "--thin-ok" "and the option is named"
check_exit 0 "measure the liar" zerocap measure "/dev/$sd" --scratch 16MiB+16MiB $J --thin-ok
note "$(head -1 <<<"$OUT")"
check_exit 6 "check says broken" zerocap check "/dev/$sd"
check_has "$(zerocap show "/dev/$sd")" old-data-left "the finding is named"
check_eq "$(sum "$sd")" "$before" "the whole device has the content that it had before"
settle
check_eq "$(q "$sd" write_zeroes_unmap_max_bytes)" 0 "the knob is off"
check_eq "$(prop "$sd" ZEROCAP_CLASS)" broken "udev knows"
check "remove" sdebug_rm

half=$(disk half) brk=$(disk brk) hang=$(disk hang)
for d in $half $brk; do
    fill "$d"
    before=$(sum "$d")
    check_exit 0 "measure $d" zerocap measure "/dev/$d" --scratch 16MiB+16MiB $J
    note "$(head -1 <<<"$OUT")"
    check_exit 6 "check says broken" zerocap check -q "/dev/$d"
    check_eq "$(sum "$d")" "$before" "the whole device has the content that it had before"
done
check_has "$(zerocap show "/dev/$half")" old-data-left "half a lie is a lie"
check_has "$(zerocap show "/dev/$brk")" zeroing-error "an error midway is named"

# --- hang ---
fill "$hang"
start=$SECONDS
check_exit 1 "a call that is not answered ends the test" zerocap measure "/dev/$hang" --scratch 16MiB+16MiB $J --deadline 4
timed check "in time" test $((SECONDS - start)) -lt 40
check_has "$ERR" "still in flight, pid" "and says what is in flight"
check_has "$ERR" "zerocap recover" "and what to do"
timed check_exit 6 "check says broken at once" timeout 20 zerocap check "/dev/$hang"
timed check_exit 1 "a second test is refused" timeout 20 zerocap measure "/dev/$hang" --scratch 16MiB+16MiB $J --deadline 4
timed check_exit 1 "recover waits for the call" timeout 20 zerocap recover --journal /host/journal
check_has "$ERR" "still in flight" "and says so"
timed check_eq "$(timeout 10 env ACTION=change zerocap udev "/dev/$hang" | head -1)" ZEROCAP_CLASS=broken "an event answers broken without touching the queue"
check "the journal is kept" test -n "$(ls /host/journal)"
