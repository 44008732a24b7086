#!/bin/bash
# ring: long
# 128 disks added at once: every one has its properties, its document and its tunable, and no event fails. Then runs with
# and without the rule, interleaved: minimum against minimum is printed, not asserted.
# vm: -c 2 -m 1536 -t 600 -T 7200
. "${0%/*}/../lib.sh"
N=${1:-128} RUNS=${2:-5}
rule=/etc/udev/rules.d/90-zerocap.rules
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\nvendor = "Linux"\nmodel = "scsi_debug"\nclass = "broken"\n' >/etc/zerocap/policy.d/50-test.toml
add() { # add : seconds until all is settled
    local t0=$EPOCHREALTIME
    modprobe scsi_debug ndelay=1000 dev_size_mb=8 lbpws=1 num_tgts=1 max_luns="$N" >/dev/null
    wait_for 120 sh -c "[ \$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/* 2>/dev/null | wc -l) = $N ]"
    udevadm settle -t 170
    T=$(python3 -c "print(f'{$EPOCHREALTIME - $t0:.2f}')")
}
min() { printf '%s\n' "$@" | sort -n | head -1; }
with=() without=()
for run in $(seq "$RUNS"); do
    install_rules
    add; with+=("$T")
    if [ "$run" = 1 ]; then
        good=0 docs=0 set=0
        for d in $(sdebug_disks); do
            [ "$(prop "$d" ZEROCAP_CLASS)" = broken ] && good=$((good + 1))
            [ -s "/run/zerocap/$(cat "/sys/block/$d/dev").json" ] && docs=$((docs + 1))
            [ "$(q "$d" write_zeroes_unmap_max_bytes)" = 0 ] && set=$((set + 1))
        done
        check_eq "$good/$docs/$set" "$N/$N/$N" "every disk has its properties, its document and its tunable"
    fi
    sdebug_rm >/dev/null; settle
    [ "$run" != 1 ] || check_eq "$(find /run/zerocap -maxdepth 1 -name '*.json' -size +0 -exec grep -l scsi_debug {} + | wc -l)" 0 "removal takes the documents away"
    rm -f $rule; udevadm control --reload
    add; without+=("$T")
    sdebug_rm >/dev/null; settle
done
note "with the rule:    ${with[*]} s"
note "without the rule: ${without[*]} s"
note "minimum against minimum: $(python3 -c "print(f'{$(min "${with[@]}") / $(min "${without[@]}"):.2f}x')") (goal under 1.3x)"
