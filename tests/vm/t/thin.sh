#!/bin/bash
# ring: long
# Thin devices and what a test may leave on them beside the content: which blocks are mapped (scsi_debug's provisioning
# map), limits and modes that a rejected command took away, no space. And an offload that is there but not supported.
# vm: -m 768
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok"
map() { cat /sys/bus/pseudo/drivers/scsi_debug/map; }
# no_udev DISK : from here on the rule leaves it alone, so that what changes is the test's doing
doc() { zerocap show "/dev/$1" --json | json "$2"; }

# --- provisioning map: half the range was never written ---
sd=$(sdebug lbpws=1 lbpu=1)
dd if=/dev/urandom of="/dev/$sd" bs=1M count=32 oflag=direct status=none; settle
before=$(sum "$sd") mapped=$(map)
note "map before: $mapped"
check_exit 1 "a thin device is refused" zerocap measure "/dev/$sd" --scratch 24MiB+16MiB $J
check_has "$ERR" "--thin-ok" "and the option is named"
check_eq "$(map)" "$mapped" "nothing is mapped by a refusal"
check_exit 0 "measured over mapped and unmapped blocks" zerocap measure "/dev/$sd" --scratch 24MiB+16MiB $J --max-bytes 192MiB --thin-ok --json
timed check_eq "$(json 'd["class"]' <<<"$OUT")" fast "fast"
check_not "$(json 'd["findings"]' <<<"$OUT")" allocation-changed "no allocation has changed"
check_eq "$(sum "$sd")" "$before" "the whole device is as before"
check_eq "$(map)" "$mapped" "and so is its provisioning map"

# --- zeroes that were mapped are punched, and that is said ---
dd if=/dev/zero of="/dev/$sd" bs=1M seek=8 count=4 oflag=direct status=none; settle
before=$(sum "$sd") mapped=$(map)
check_exit 0 "measured over mapped zeroes" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --max-bytes 192MiB --thin-ok --json
check_has "$(json 'd["findings"]' <<<"$OUT")" allocation-changed "what became unmapped is a finding"
check_has "$OUT" "of the tested range were mapped before the test in 1 pieces" "with figures"
check_eq "$(sum "$sd")" "$before" "the content is as before"
check_exit 0 "the plan on a thin device" zerocap measure "/dev/$sd" --scratch 0+64MiB $J --thin-ok --dry-run
check_has "$OUT" "would journal bytes 0+" "at most 64 MiB are used"
check "remove" sdebug_rm

# --- a granularity of 8 MiB: four segments need 32 MiB, and thirteen pairs 104 MiB of the budget ---
sd=$(sdebug lbpws=1 lbpu=1 unmap_granularity=16384)
dd if=/dev/urandom of="/dev/$sd" bs=1M count=64 oflag=direct status=none; settle
before=$(sum "$sd")
check_eq "$(q "$sd" discard_granularity)" $((8 << 20)) "the kernel has it"
check_exit 0 "a plan that is none" zerocap measure "/dev/$sd" --scratch 8MiB+24MiB $J --thin-ok --dry-run
check_has "$OUT" "would test nothing and answer unknown (granularity-large): the test needs 4 segments of at least 8388608 bytes" "says so"
check_exit 0 "no test is an answer" zerocap measure "/dev/$sd" --scratch 8MiB+24MiB $J --thin-ok --json
check_eq "$(json 'd["class"], d["basis"], d["measured"]["trials"], d["measured"]["bytes_written"]' <<<"$OUT")" "('unknown', None, 0, 0)" "unknown, and nothing was written"
check_has "$(json 'd["reason"]' <<<"$OUT")" "do not fit the 25165824 bytes that may be used" "with the reason"
check_has "$(json '[f["code"] for f in d["findings"]]' <<<"$OUT")" granularity-large "and the finding"
settle
check_eq "$(prop "$sd" ZEROCAP_CLASS)" unknown "udev has it"
check_has "$(prop "$sd" ZEROCAP_FINDINGS)" granularity-large "with the finding"
check_exit 0 "a budget too small" zerocap measure "/dev/$sd" --scratch 0+64MiB $J --thin-ok --max-bytes 103MiB --json
check_has "$(json 'd["reason"]' <<<"$OUT")" "13 pairs of at least 8388608 bytes" "is the same answer"
check_eq "$(sum "$sd")" "$before" "the content is as before"
check_exit 0 "where four fit" zerocap measure "/dev/$sd" --scratch 0+64MiB $J --thin-ok --json
check_eq "$(json 'd["measured"]["segment_bytes"], d["measured"]["trials"] >= 13' <<<"$OUT")" "($((8 << 20)), True)" "there is a test"
class=$(json 'd["class"]' <<<"$OUT")
check_exit 0 "no test afterwards" zerocap measure "/dev/$sd" --scratch 8MiB+24MiB $J --thin-ok --json
check_eq "$(json 'd["class"], d["measured"]["trials"] >= 13' <<<"$OUT")" "('$class', True)" "takes nothing away from what is known"
check_has "$ERR" "what was known of it is kept" "and says so"
check_eq "$(sum "$sd")" "$before" "the content is as before"
check "remove" sdebug_rm

# --- no space: said, put back, and no fault of the device (sense 7/27/07: space allocation failed) ---
sd=$(sdebug lbpws=1)
inject=/sys/kernel/debug/scsi_debug/$(basename "$(readlink -f "/sys/block/$sd/device")")/error
dd if=/dev/urandom of="/dev/$sd" bs=1M count=32 oflag=direct status=none; settle
before=$(sum "$sd")
echo "2 -1000 0x93 0 0 0x2 7 0x27 7" >"$inject"
check_exit 1 "no space while zeroing" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --max-bytes 192MiB --thin-ok
check_has "$ERR" "ENOSPC" "is said"
echo "- 2 0x93" >"$inject"
check_eq "$(sum "$sd")" "$before" "the content is as before"
check_exit 5 "the device is not broken by it" zerocap check "/dev/$sd"
check "remove" sdebug_rm

# --- a rejected WRITE SAME without UNMAP withdraws the offload ---
for restore in "" --restore-limits; do
    sd=$(sdebug lbpws10=1)
    inject=/sys/kernel/debug/scsi_debug/$(basename "$(readlink -f "/sys/block/$sd/device")")/error
    dd if=/dev/urandom of="/dev/$sd" bs=1M count=32 oflag=direct status=none; settle
    before=$(sum "$sd") max=$(q "$sd" write_zeroes_max_bytes) knob=$(q "$sd" write_zeroes_unmap_max_bytes)
    mode=$(cat "/sys/block/$sd"/device/scsi_disk/*/zeroing_mode)
    # PUNCH_HOLE is WRITE SAME(10) with UNMAP here, ZERO_RANGE is WRITE SAME(16) without: that one is rejected.
    echo "2 -1000 0x93 0 0 0x2 5 0x24 0" >"$inject"
    check_exit 0 "measured ${restore:-without restoring}" zerocap measure "/dev/$sd" --scratch 8MiB+16MiB $J --max-bytes 192MiB --thin-ok --json $restore
    check_has "$OUT$ERR" limits-changed-by-test "the change is said"
    check_has "$OUT$ERR" "after zero-range: queue/write_zeroes_max_bytes=0, was $max" "and names the method"
    check_eq "$(python3 -c 'import glob,json; print(json.load(open(sorted(glob.glob("/etc/zerocap/devices/*"), key=__import__("os").path.getmtime)[-1]))["class"])')" fast "the deciding method came first"
    check_eq "$(sum "$sd")" "$before" "the content is as before"
    if [ -z "$restore" ]; then
        check_eq "$(q "$sd" write_zeroes_max_bytes)" 0 "the offload is gone"
        check_has "$OUT" offload-withdrawn "and that is said"
    else
        check_has "$OUT" "were put back" "what was put back is said"
        check_eq "$(q "$sd" write_zeroes_max_bytes)" "$max" "the limit is as before"
        check_eq "$(q "$sd" write_zeroes_unmap_max_bytes)" "$knob" "the knob is as before"
        check_eq "$(cat "/sys/block/$sd"/device/scsi_disk/*/zeroing_mode)" "$mode" "the mode is as before"
    fi
    check "remove" sdebug_rm
done

# --- an offload that is there and not supported: nvmet over a file of tmpfs ---
modprobe -a nvmet nvme-loop
n=/sys/kernel/config/nvmet
truncate -s 64M /tmp/backing
mkdir -p $n/subsystems/t/namespaces/1 $n/ports/1
echo 1 >$n/subsystems/t/attr_allow_any_host
echo /tmp/backing >$n/subsystems/t/namespaces/1/device_path
echo 1 >$n/subsystems/t/namespaces/1/enable
echo loop >$n/ports/1/addr_trtype
ln -s $n/subsystems/t $n/ports/1/subsystems/t
echo "transport=loop,nqn=t" >/dev/nvme-fabrics
find_nvmet() { for d in /sys/block/nvme*; do [ -b "/dev/${d##*/}" ] && grep -q t "$d/device/subsysnqn" 2>/dev/null && echo "${d##*/}" && return; done; false; }
wait_for 20 find_nvmet; settle
d=$(find_nvmet)
fill "$d"
before=$(sum "$d")
check "the limit says there is an offload" test "$(q "$d" write_zeroes_max_bytes)" -gt 0
check_exit 0 "measured" zerocap measure "/dev/$d" --scratch 8MiB+16MiB $J --max-bytes 192MiB --shared-ok
note "$(head -1 <<<"$OUT")"
check_eq "$(doc "$d" 'd[0]["class"], d[0]["basis"]')" "('none', 'measured')" "none, by measurement"
check_eq "$(sum "$d")" "$before" "the content is as before"
