#!/bin/bash
# ring: long
# Many disks added at once: every one has its properties, its document and its tunable, and no event fails. Then runs with
# and without the rule, interleaved: minimum against minimum is printed, not asserted. So is a storm of change events, ten of
# each of at most 64 disks, as when paths of a multipath device fail.
#   scale-udev [DISKS[,DISKS...]] [RUNS]: several numbers draw how it grows
# vm: -c 2 -m 1536 -t 600 -T 7200
. "${0%/*}/../lib.sh"
numbers=${1:-128} RUNS=${2:-5}
rule=/etc/udev/rules.d/90-zerocap.rules
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\nvendor = "Linux"\nmodel = "scsi_debug"\nclass = "broken"\n' >/etc/zerocap/policy.d/50-test.toml
seconds() { python3 -c "print(f'{$EPOCHREALTIME - $1:.2f}')"; } # seconds SINCE
add() { # add : seconds until all is settled
    local t0=$EPOCHREALTIME targets=$(((N + 127) / 128))
    modprobe scsi_debug ndelay=1000 dev_size_mb=8 lbpws=1 num_tgts="$targets" max_luns=$((N / targets)) >/dev/null
    wait_for 240 sh -c "[ \$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/* 2>/dev/null | wc -l) = $N ]"
    udevadm settle -t 600
    T=$(seconds "$t0")
}
storm() { # storm : seconds until ten changes of each of some disks are settled
    local t0=$EPOCHREALTIME i d
    for i in 1 2 3 4 5 6 7 8 9 10; do
        for d in $(sdebug_disks | head -64); do echo change >"/sys/block/$d/uevent"; done
    done
    udevadm settle -t 600
    S=$(seconds "$t0")
}
min() { printf '%s\n' "$@" | sort -n | head -1; }
ratio() { python3 -c "print(f'{$1 / $2:.2f}x')"; }
for N in ${numbers//,/ }; do
    with=() without=() with_storm=() without_storm=()
    for run in $(seq "$RUNS"); do
        install_rules
        add; with+=("$T")
        storm; with_storm+=("$S")
        if [ "$run" = 1 ]; then
            good=0 docs=0 set=0
            for d in $(sdebug_disks); do
                [ "$(prop "$d" ZEROCAP_CLASS)" = broken ] && good=$((good + 1))
                [ -s "/run/zerocap/$(cat "/sys/block/$d/dev").json" ] && docs=$((docs + 1))
                [ "$(q "$d" write_zeroes_unmap_max_bytes)" = 0 ] && set=$((set + 1))
            done
            check_eq "$good/$docs/$set" "$N/$N/$N" "$N disks: every one has its properties, its document and its tunable"
        fi
        sdebug_rm >/dev/null; settle
        [ "$run" != 1 ] || check_eq "$(find /run/zerocap -maxdepth 1 -name '*.json' -size +0 -exec grep -l scsi_debug {} + | wc -l)" 0 "removal takes the documents away"
        rm -f $rule; udevadm control --reload
        add; without+=("$T")
        storm; without_storm+=("$S")
        sdebug_rm >/dev/null; settle
    done
    note "$N disks with the rule:    ${with[*]} s, ten changes each: ${with_storm[*]} s"
    note "$N disks without the rule: ${without[*]} s, ten changes each: ${without_storm[*]} s"
    note "$N disks, minimum against minimum: $(ratio "$(min "${with[@]}")" "$(min "${without[@]}")") (goal 1.2x), ten changes each: $(ratio "$(min "${with_storm[@]}")" "$(min "${without_storm[@]}")")"
done
