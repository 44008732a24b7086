#!/bin/bash
# `zerocap policy`, model entries and the automatic test with a real udevd: pins, their files, kept verdicts, hwdb, a
# hostile model and serial strings, and many workers, pins and a test at once.
# vm: -n fast:64M:write_ms_per_mib=12
# vm: -d 'odd:16M:scsi,vendor=v"x,product=q"\\$(id)*[=\\' -d vserial:17M:none -d nserial:18M:none
# vm: -- -device virtio-blk-pci,drive=vserial,serial=$'a\nZEROCAP_CLASS=fast' -device nvme,drive=nserial,serial=$'\xff\x1b[1m"$(id)\n[[r]]*'
# takes: 130
. "${0%/*}/../lib.sh"
install_rules
repo=${0%/*}/../../..
change() { udevadm trigger --settle "/sys/block/$1"; }
J="--journal /host/journal --data-ok --max-bytes 128MiB"

# --- the rules and units as they stand ---
check "udevadm verify accepts the rules" udevadm verify --no-summary /etc/udev/rules.d/90-zerocap.rules
if command -v systemd-analyze >/dev/null; then
    install_units /tmp/units
    for u in /tmp/units/*; do check "systemd-analyze verify accepts ${u##*/}" systemd-analyze verify --man=no "$u"; done
    systemd-analyze security --offline=yes /tmp/units/*.service 2>/dev/null | grep -i overall | while read -r l; do note "$l"; done
else
    not_run "systemd-analyze is not in the guest"
fi

# --- the shipped file ---
mkdir -p /usr/lib/zerocap/policy.d
cp "$repo"/rules/policy.d/*.toml /usr/lib/zerocap/policy.d/
check_exit 0 "policy list" zerocap policy list
check_has "$OUT" "10-public-record.toml" "shows the shipped rules with their file"
check_eq "$ERR" "" "and finds nothing wrong with them"
sd=$(sdebug lbpws=1 inq_vendor=LIO-ORG "inq_product=TCMU device")
check_eq "$(prop "$sd" ZEROCAP_CLASS)/$(prop "$sd" ZEROCAP_BASIS)" broken/policy "a device of the public record is broken by policy"
check_eq "$(q "$sd" write_zeroes_unmap_max_bytes)" 0 "and its knob is off"
check_exit 0 "policy test" zerocap policy test "$sd"
note "$(tail -1 <<<"$OUT")"
check_has "$OUT" "hazard = old-data-left  by /usr/lib/zerocap/policy.d/10-public-record.toml:" "test names file and line"

# --- pin, unpin, forget ---
check_exit 0 "pin with accept" zerocap policy pin "/dev/$sd" fast --accept old-data-left --why 'checked by hand, "twice"'
check_eq "$OUT$ERR" "" "silence on success"
settle
check_eq "$(prop "$sd" ZEROCAP_CLASS)/$(prop "$sd" ZEROCAP_BASIS)" fast/policy "the pin is published at once"
check_has "$(prop "$sd" ZEROCAP_FINDINGS)" old-data-left "and the finding stays"
check_has "$(zerocap policy test "$sd")" "class = fast  by /etc/zerocap/policy.d/99-pins.toml:" "test names the pin"
check_eq "$(q "$sd" write_zeroes_unmap_max_bytes)" "$(q "$sd" write_zeroes_unmap_max_hw_bytes)" "the knob is on again"
check_exit 2 "a class that is none" zerocap policy pin "/dev/$sd" quick
check_exit 0 "unpin" zerocap policy unpin "/dev/$sd"
settle
check_eq "$(prop "$sd" ZEROCAP_CLASS)" broken "unpinned"
check_exit 1 "unpin what is not pinned" zerocap policy unpin "/dev/$sd"
check_has "$ERR" "99-pins.toml" "names the file"
echo '[[rule]' >/etc/zerocap/policy.d/99-pins.toml
check_exit 1 "a file of pins that is no TOML is not touched" zerocap policy pin "/dev/$sd" fast
check_has "$ERR" "99-pins.toml" "named"
check_eq "$(cat /etc/zerocap/policy.d/99-pins.toml)" "[[rule]" "as it was"
check_exit 1 "list finds it" zerocap policy list
rm /etc/zerocap/policy.d/99-pins.toml
check_exit 1 "nothing to forget" zerocap policy forget "/dev/$sd"
check "remove" sdebug_rm

# --- measure, model entry from it, basis model on another device ---
fast=$(disk fast)
check_exit 0 "measure" zerocap measure "/dev/$fast" --scratch 16MiB+16MiB $J; note "$(head -1 <<<"$OUT")"
check_exit 0 "policy model" zerocap policy model
timed check_has "$OUT" "no entry: it is a virtual disk" "what stands behind a virtual disk is no property of a model"
check_not "$OUT" "$(cat "/sys/block/$fast/wwid" 2>/dev/null || echo none-such)" "without its identity"
mkdir -p /etc/udev/hwdb.d
cp "$repo"/rules/hwdb/60-zerocap-model.hwdb /etc/udev/hwdb.d/
# As a fleet would write it of three disks.
printf 'zerocap:model:%s:fw:%s:\n ZEROCAP_MODEL_CLASS=fast\n ZEROCAP_MODEL_DEVICES=3\n' "$(prop "$fast" ID_MODEL)" \
    "$(prop "$fast" ID_REVISION)" >/etc/udev/hwdb.d/70-mine.hwdb
note "$(tr '\n' ';' </etc/udev/hwdb.d/70-mine.hwdb)"
check_has "$(zerocap policy list)" ".json: " "list shows the kept verdict"
check_exit 0 "forget" zerocap policy forget "/dev/$fast"
settle
check_eq "$(prop "$fast" ZEROCAP_CLASS)" unknown "forgotten, and published"
if command -v systemd-hwdb >/dev/null || command -v udevadm >/dev/null; then
    systemd-hwdb update 2>/dev/null || udevadm hwdb --update 2>/dev/null
    udevadm control --reload; change "$fast"
    check_eq "$(prop "$fast" ZEROCAP_CLASS)/$(prop "$fast" ZEROCAP_BASIS)" fast/model "the entry gives the class to a device that is not measured"
    check_eq "$(zerocap show --json "$fast" | json 'd[0]["class"],d[0]["basis"]')" "('fast', 'model')" "show reads the same from udev's database"
    check_exit 7 "a model is no measurement" zerocap check "/dev/$fast" --require measured
fi
rm -f /etc/udev/hwdb.d/70-mine.hwdb /etc/udev/hwdb.bin; udevadm control --reload

# --- measure = auto ---
cat >/etc/zerocap/policy.d/20-auto.toml <<T
[[rule]]
path    = "/dev/$fast"
measure = "auto"
scratch = "16MiB+16MiB"
T
change "$fast"
devnum=$(cat "/sys/block/$fast/dev")
check_eq "$(prop "$fast" SYSTEMD_WANTS)" "zerocap-measure@$devnum.service" "an event asks for the unit where there is no verdict"
check "the node that the unit names is there" test -b "/dev/block/$devnum"
check_exit 0 "what the unit runs" zerocap measure --auto "/dev/block/$devnum" $J
settle
timed check_eq "$(prop "$fast" ZEROCAP_CLASS)/$(prop "$fast" ZEROCAP_BASIS)" fast/measured "measured, published by its change event"
check_eq "$(prop "$fast" SYSTEMD_WANTS)" "" "and not asked for again"
rm /etc/zerocap/policy.d/20-auto.toml
check_exit 1 "without such a policy" zerocap measure --auto "/dev/$fast" $J
check_has "$ERR" 'measure = "auto"' "it says what is missing"
check_exit 2 "neither WHERE nor --auto" zerocap measure "/dev/$fast"

# --- a model string that tries to inject ---
hostile="\"'\$*[=\\%n\`"
sd=$(sdebug lbpws=1 "inq_vendor=\$(id)*[" "inq_product=$hostile;x")
note "model: $(cat "/sys/block/$sd/device/model")"
check_eq "$(prop "$sd" ZEROCAP_CLASS)" unknown "a hostile model: the properties are there"
keys=$(udevadm info -q property -n "/dev/$sd" | grep -c '^ZEROCAP_')
check_eq "$(udevadm info -q property -n "/dev/$sd" | grep '^ZEROCAP_' | grep -vcE '^ZEROCAP_[A-Z_]+=[a-z0-9,.:-]+$')" 0 "nothing but words and numbers in all $keys of them"
check_eq "$(json 'd["device"]["model"]' <"/run/zerocap/$(cat "/sys/block/$sd/dev").json")" "$(sed 's/ *$//; s/\\/\\\\/g' "/sys/block/$sd/device/model")" "the document has it as text"
check_eq "$(udevadm info -q property -n "/dev/$sd" | grep -c '^ZEROCAP_MODEL')" 0 "hwdb was not asked with it"
check_exit 0 "pin it" zerocap policy pin "/dev/$sd" slow --why "$hostile
class = \"fast\""
settle
check_eq "$(prop "$sd" ZEROCAP_CLASS)" slow "a reason is only a reason"
check_eq "$(zerocap policy list 2>&1 | grep -c 99-pins.toml)" 1 "list prints it on one line"
check_exit 0 "unpin it" zerocap policy unpin "/dev/$sd"
check "remove" sdebug_rm

# What is hostile by its bytes. The kernel lets no such model through: SCSI makes blanks of them (scsi_sanitize_inquiry_string),
# nvmet and LIO give EINVAL for an attribute outside 0x20 to 0x7e. It does let serials and uuids through.
sized() { local d; for d in /sys/block/*; do [ "$(cat "$d/size")" != $(($1 * 2048)) ] || echo "${d##*/}"; done; }
# clean FILE : UTF-8, and nothing that a terminal or a log would take for more than a character
cat >/tmp/clean <<'PY'
import json, sys
def walk(v):
    for x in (v.items() if isinstance(v, dict) else enumerate(v) if isinstance(v, list) else [(v, "")]):
        yield from (str(y) for y in x if not isinstance(y, (dict, list)))
        yield from (z for y in x if isinstance(y, (dict, list)) for z in walk(y))
text = open(sys.argv[1], "rb").read().decode("utf-8")
if sys.argv[1].endswith(".json"):
    bad = [s for s in walk(json.loads(text)) if not all(c.isprintable() for c in s)]
else:
    bad = [l for l in text.split("\n") if l.startswith("ZEROCAP_") or not all(c.isprintable() for c in l)]
sys.exit(repr(bad) if bad else 0)
PY
hostile() { # hostile DISK HOW
    local d=$1 how=$2 devnum
    devnum=$(cat "/sys/block/$d/dev")
    udevadm trigger --settle "/sys/block/$d"
    check_eq "$(prop "$d" ZEROCAP_CLASS)" unknown "$how: no class comes with it"
    check_eq "$(udevadm info -q property -n "/dev/$d" | grep '^ZEROCAP_' | grep -vcE '^ZEROCAP_[A-Z_]+=[a-z0-9,.:-]+$')" 0 "$how: properties are words and numbers"
    check "$how: the document is clean" python3 /tmp/clean "/run/zerocap/$devnum.json"
    { zerocap show "$d"; zerocap probe "$d"; zerocap policy test "$d"; zerocap tune show "$d"; zerocap show; } >/tmp/said 2>&1
    check "$how: so is what a terminal gets" python3 /tmp/clean /tmp/said
    check_exit 0 "$how: pin" zerocap policy pin "/dev/$d" slow
    zerocap policy list >/tmp/said 2>&1
    check "$how: the list of policies is clean" python3 /tmp/clean /tmp/said
    settle
    check_eq "$(prop "$d" ZEROCAP_CLASS)" slow "$how: the pin is its own"
    check_exit 0 "$how: unpin" zerocap policy unpin "/dev/$d"
    zerocap measure "/dev/$d" --scratch 1MiB+8MiB --journal /host/journal --data-ok --max-bytes 48MiB --thin-ok >/tmp/said 2>&1
    check "$how: so is what a test says" python3 /tmp/clean /tmp/said
    settle
    check_eq "$(LC_ALL=C ls -A --quoting-style=literal --show-control-chars /etc/zerocap/devices /run/zerocap /run/zerocap/kept 2>/dev/null | LC_ALL=C grep -vE '^/etc/zerocap/devices:$|^/run/zerocap(/kept)?:$' | LC_ALL=C grep -c '[^]A-Za-z0-9.:_\\-]')" 0 "$how: names of files"
    python3 -c "import os; [f.encode('ascii') and 1 // f.isprintable() for r, _, n in os.walk('/etc/zerocap') for f in n]" || fail "$how: a file name is not printable"
    check_exit 0 "$how: forget what was kept" zerocap policy forget "/dev/$d"
    check_eq "$ERR" "" "$how: without a word"
}
od -An -c "/sys/block/$(sized 17)/serial" | head -3 | while read -r l; do note "$l"; done
hostile "$(sized 17)" "virtio serial with a property in it"
od -An -c "/sys/block/$(sized 18)/device/serial" | head -3 | while read -r l; do note "$l"; done
hostile "$(sized 18)" "NVMe serial of bytes"
dmsetup create --manglename none -u $'X-\xff"$\nZEROCAP_CLASS=fast\n\x1b[2J' evil --table "0 30720 linear /dev/$(sized 18) 0"; settle
dm=$(sized 15)
od -An -c "/sys/block/$dm/dm/uuid" | head -4 | while read -r l; do note "$l"; done
hostile "$dm" "dm uuid of lines and bytes"
dmsetup remove --retry evil
sd=$(sdebug lbpws=1 $'inq_product="a\nb\xff\x1b[m"')
note "SCSI product: $(od -An -c "/sys/block/$sd/device/model" | head -1)"
check "what sysfs has of a SCSI model is printable" python3 -c "import sys; b=open('/sys/block/$sd/device/model','rb').read(); sys.exit(any(c < 32 or c > 126 for c in b.rstrip(b'\n')))"
hostile "$sd" "SCSI product of bytes"
check "remove" sdebug_rm
modprobe -q nvmet
mkdir -p /sys/kernel/config/nvmet/subsystems/evil
refused=0; for text in $'a\nb' $'a\xffb' $'a\x1bb'; do
    # a line ends the value for the kernel: only what stands before it is taken
    printf '%s' "$text" >/sys/kernel/config/nvmet/subsystems/evil/attr_model 2>/dev/null
    LC_ALL=C grep -q '[^ -~]' /sys/kernel/config/nvmet/subsystems/evil/attr_model || refused=$((refused + 1))
done
check_eq "$refused" 3 "nvmet takes no model of bytes"
rmdir /sys/kernel/config/nvmet/subsystems/evil

odd=$(disk odd)
udevadm trigger --settle "/sys/block/$odd"
note "QEMU's: $(cat "/sys/block/$odd/device/vendor" "/sys/block/$odd/device/model" | tr '\n' '|')"
check_eq "$(udevadm info -q property -n "/dev/$odd" | grep '^ZEROCAP_' | grep -vcE '^ZEROCAP_[A-Z_]+=[a-z0-9,.:-]+$')" 0 "with quotes too: nothing but words and numbers"
check_eq "$(udevadm info -q property -n "/dev/$odd" | grep -c '^ZEROCAP_MODEL')" 0 "hwdb was not asked"
check_has "$(zerocap show --json "$odd" | json 'd[0]["device"]["model"]')" 'q"' "the document has the quote as text"

# --- a test, pins and events of its disk at once: it is not disturbed, and nobody waits for it ---
neighbour=$(sized 17)
fill "$fast"; before=$(sum "$fast")
(while :; do udevadm trigger "/sys/block/$fast" "/sys/block/$neighbour"; sleep 0.3; done) &
storm=$!
kept=$(cat "/sys/block/$fast/dev") began=$(date -u +%FT%TZ)
zerocap policy pin "/dev/$neighbour" slow
zerocap measure "/dev/$fast" --scratch 16MiB+16MiB $J >/tmp/measure.out 2>&1 &
test=$! rounds=0 failed=0 torn=0 longest=0
while kill -0 $test 2>/dev/null; do
    for what in "policy pin /dev/$fast slow" "tune apply $fast" "policy unpin /dev/$fast"; do
        start=${EPOCHREALTIME/./}
        # shellcheck disable=SC2086 # words
        zerocap $what >/tmp/what.out 2>&1 || { failed=$((failed + 1)); note "$what: $(cat /tmp/what.out)"; }
        took=$(((${EPOCHREALTIME/./} - start) / 1000))
        [ $took -le $longest ] || longest=$took
    done
    [ -z "$(zerocap policy list 2>&1 >/dev/null)" ] || torn=$((torn + 1))
    json 'd["class"]' <"/run/zerocap/$kept.json" >/dev/null 2>&1 || torn=$((torn + 1))
    rounds=$((rounds + 1))
done
wait $test; rc=$?
[ $rc = 0 ] || sed 's/^/      /' /tmp/measure.out
check_eq "$rc" 0 "a test ends well in a storm of events"
timed check "pins were set and taken away meanwhile ($rounds times)" test $rounds -gt 1
check_eq "$failed/$torn" 0/0 "each of them succeeded, and no file was torn"
timed check "nobody waited for the test: at most $longest ms" test $longest -lt 10000
kill $storm; wait $storm 2>/dev/null
udevadm trigger --settle "/sys/block/$fast"
# A storm is other work: whatever the test says then, that is kept and published.
said=$(zerocap show "/dev/$fast" --json)
check_eq "$(json "d[0]['measured']['at'] >= '$began'" <<<"$said")" True "what was measured is kept"
check_eq "$(prop "$fast" ZEROCAP_CLASS)/$(prop "$fast" ZEROCAP_BASIS)" "$(json 'd[0]["class"] + "/" + (d[0]["basis"] or "")' <<<"$said")" "and published"
note "$(zerocap show "/dev/$fast" | head -n 1)"
check_eq "$(sum "$fast")" "$before" "the content is as before"
check_eq "$(grep -c '^identity' /etc/zerocap/policy.d/99-pins.toml)" 1 "the pin of another disk is there"
check_exit 0 "unpin it" zerocap policy unpin "/dev/$neighbour"

# --- workers, pins and unpins at once ---
sdebug lbpws=1 num_tgts=1 max_luns=16 add_host=1 >/tmp/disks
check "16 disks" test "$(wc -l </tmp/disks)" = 16
(while :; do udevadm trigger -s block; sleep 0.05; done) &
storm=$!
pids=
while read -r d; do zerocap policy pin "$d" slow 2>>/tmp/pin.err & pids="$pids $!"; done </tmp/disks
bad=0; for p in $pids; do wait "$p" || bad=$((bad + 1)); done
check_eq "$bad" 0 "16 pins at once: each succeeds"
check_eq "$(grep -c '^identity' /etc/zerocap/policy.d/99-pins.toml)" 16 "and none is lost"
check_eq "$(zerocap policy list 2>&1 >/dev/null)" "" "the file is whole"
kill $storm; wait $storm 2>/dev/null
udevadm trigger -s block --settle
wrong=0; while read -r d; do [ "$(prop "$d" ZEROCAP_CLASS)" = slow ] || wrong=$((wrong + 1)); done </tmp/disks
check_eq "$wrong" 0 "every disk's property says so"
check_eq "$(find /run/zerocap /etc/zerocap -name '.*.tmp' | wc -l)" 0 "no temporary file is left"
