#!/bin/bash
# `measure --tune`: the best zeroing_mode of a SCSI disk is found, kept as wanted and set by the rule at each event; what was
# found is put back, and nothing outside the scratch range changes. A disk whose own mode lies is broken, whatever its others.
# vm: -n a:32M:trim_ms_per_mib=60,zero_ms_per_mib=1,write_ms_per_mib=30,log=1 -n b:32M:trim=lie,write_ms_per_mib=4
. "${0%/*}/../lib.sh"
install_rules
mkdir -p /tmp/j
mode() { cat /sys/block/"$1"/device/scsi_disk/*/zeroing_mode; }
is_mode() { [ "$(mode "$1")" = "$2" ]; }

# --- a disk of the LIO target: WRITE SAME with UNMAP discards on the disk below, without it zeroes there ---
T=/sys/kernel/config/target
modprobe -a target_core_mod target_core_iblock tcm_loop
lio() { # lio N DISK : makes it, prints its name
    local core=$T/core/iblock_$1/lio wwn=naa.500140500000000$1 before
    mkdir -p "$core"
    echo "udev_path=/dev/$2" >"$core/control"
    echo 1 >"$core/enable"
    echo "tuned$1" >"$core/wwn/vpd_unit_serial"
    echo 65535 >"$core/attrib/max_write_same_len"
    echo 1 >"$core/attrib/emulate_tpws"
    echo 1 >"$core/attrib/unmap_zeroes_data"
    before=$(ls /sys/block)
    mkdir -p "$T/loopback/$wwn/tpgt_1/lun/lun_0"
    echo "naa.600140500000000$1" >"$T/loopback/$wwn/tpgt_1/nexus"
    ln -s "$core" "$T/loopback/$wwn/tpgt_1/lun/lun_0/port"
    for _ in $(seq 50); do
        new=$(comm -13 <(sort <<<"$before") <(ls /sys/block | sort) | grep '^sd') && [ "$(cat "/sys/block/$new/size")" -gt 0 ] && break
        sleep 0.1
    done
    settle "$new" >&2
    echo "$new"
}
a=$(lio 1 "$(disk a)")
fill "$a"; before=$(sum "$a")
own=$(mode "$a")
check_eq "$own" writesame_16_unmap "sd's own choice on $a"
check_exit 2 "an NVMe disk has no such mode" zerocap measure "/dev/$(disk b)" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --tune
check_has "$ERR" "no zeroing_mode" "and the message says so"
check_exit 0 "a dry run names the modes" zerocap measure "/dev/$a" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --tune --dry-run
check_has "$OUT" "would try zeroing_mode writesame_16_unmap, writesame_10_unmap, writesame," "in the safe order"
check_exit 0 "measure --tune" zerocap measure "/dev/$a" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --max-bytes 768MiB --tune --max-seconds 120
note "$(head -1 <<<"$OUT")"; note "$(grep modes <<<"$OUT")"
timed check_has "$(head -1 <<<"$OUT")" "zeroes fast" "in the best mode it is fast"
timed check_has "$(head -1 <<<"$OUT")" "in zeroing_mode writesame," "and the first line names the mode"
check_eq "$(sum "$a")" "$before" "the whole device has the content that it had before"
doc=$(zerocap show --json "/dev/$a")
timed check_eq "$(json '[(m["mode"], m["class"]) for m in d[0]["modes"]]' <<<"$doc")" \
    "[('writesame_16_unmap', 'slow'), ('writesame_10_unmap', 'slow'), ('writesame', 'fast')]" "each mode has its class"
check_eq "$(json '[t["wanted"] for t in d[0]["tunables"] if t["name"] == "zeroing_mode"]' <<<"$doc")" "['writesame']" "the best is wanted"
check_eq "$(json 'd[0]["zeroes_verified"]' <<<"$doc")" True "verified"
settle
timed check_eq "$(mode "$a")" writesame "the rule has set it"
timed check_eq "$(prop "$a" ZEROCAP_CLASS)/$(prop "$a" ZEROCAP_WANT_ZEROING_MODE)" fast/writesame "and the properties say it"
dd if=/dev/zero of="/dev/$a" bs=4k count=1 seek=1024 conv=notrunc status=none; settle # the close loses the mode, the event sets it
wait_for 10 is_mode "$a" writesame
timed check_eq "$(mode "$a")" writesame "after a close that makes the kernel forget it, the rule has set it again"
echo 1 >"/sys/block/$a/device/rescan"
check_eq "$(mode "$a")" "$own" "a rescan, of which udev hears nothing, loses it"
timed check_exit 0 "check still says fast" zerocap check -q "/dev/$a" --require measured
check_exit 0 "tune apply mends it" zerocap tune apply "/dev/$a"
timed check_eq "$(mode "$a")" writesame "it is set"
check_exit 0 "a later test without --tune" zerocap measure "/dev/$a" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --max-bytes 256MiB --max-seconds 60
settle
timed check_eq "$(mode "$a")/$(zerocap check "/dev/$a" >/dev/null; echo $?)" writesame/0 "keeps what is wanted"
check_exit 0 "tune reset" zerocap tune reset "/dev/$a"
check_eq "$(mode "$a")" "$own" "puts back what was found"

# --- a disk whose own mode leaves old data: no other mode makes it safe, since every close leads back to it ---
b=$(lio 2 "$(disk b)")
fill "$b"; before=$(sum "$b")
check_exit 0 "measure --tune on the liar" zerocap measure "/dev/$b" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --max-bytes 768MiB --tune --max-seconds 90
check_has "$(head -1 <<<"$OUT")" "must not be trusted" "it is broken"
doc=$(zerocap show --json "/dev/$b")
check_eq "$(json '[(m["mode"], m["class"]) for m in d[0]["modes"]]' <<<"$doc")" "[('writesame_16_unmap', 'broken')]" "nothing was tried after it"
check_eq "$(json '[t["wanted"] for t in d[0]["tunables"] if t["name"] == "zeroing_mode"]' <<<"$doc")" "[]" "no mode is wanted"
check_eq "$(sum "$b")" "$before" "the whole device has the content that it had before"

# --- all modes alike: the kernel's own stays; an administrator's mode that was found is put back ---
sd=$(sdebug lbpu=1 lbpws=1 lbpws10=1)
fill "$sd"; before=$(sum "$sd")
settle
check_exit 0 "measure --tune, three modes" zerocap measure "/dev/$sd" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --max-bytes 768MiB --tune --max-seconds 90
note "$(grep modes <<<"$OUT")"
check_eq "$(zerocap show --json "/dev/$sd" | json 'len(d[0]["modes"])')" 3 "all were tried"
check_eq "$(sum "$sd")" "$before" "the whole device has the content that it had before"

# --- a policy wishes for a mode: set at each event, measured in it, and what is measured holds over events ---
rm -f /etc/zerocap/devices/*
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\nvendor = "Linux"\nmodel = "scsi_debug"\nzeroing_mode = "writesame"\n' >/etc/zerocap/policy.d/50-site.toml
udevadm trigger --settle "/sys/block/$sd"
check_eq "$(mode "$sd")" writesame "the rule sets what the policy wishes"
check_exit 0 "measured in it" zerocap measure "/dev/$sd" --scratch 16MiB+4MiB --journal /tmp/j --thin-ok --data-ok --max-bytes 256MiB --max-seconds 60
settle; wait_for 10 is_mode "$sd" writesame
for _ in 1 2; do echo 1 >"/sys/block/$sd/device/rescan"; udevadm trigger --settle "/sys/block/$sd"; done
timed check_eq "$(mode "$sd")/$(prop "$sd" ZEROCAP_BASIS)" writesame/measured "over rescans and events it is set again, and the measurement holds"
printf '[[rule]]\nzeroing_mode = "unmap"\n' >/etc/zerocap/policy.d/50-site.toml
check_has "$(zerocap policy list 2>&1)" "50-site.toml:2: zeroing_mode must be one of writesame_16_unmap" "a word that is none is told"
rm /etc/zerocap/policy.d/50-site.toml
check "no journal is left" test -z "$(ls /tmp/j)"
check "no intent is left" test -z "$(find /var/lib/zerocap/intent /run/zerocap/intent -type f)"
