#!/bin/bash
# `zerocap tune` and the traps of the kernel's tunables, each on a real kernel: the 4 GiB value, wedged limits, an
# administrator's own value, no write of what is there, a queue that hangs, unmap modes without LBPME, dm after a reload.
. "${0%/*}/../lib.sh"
install_rules
K=write_zeroes_unmap_max_bytes H=write_zeroes_unmap_max_hw_bytes
row() { zerocap tune show --json "$1" | json "[r for r in d if r['tunable']=='$2'][0]['$3']"; }
pin() { # pin DISK CLASS : a rule by path, as an administrator writes it
    mkdir -p /etc/zerocap/policy.d
    printf '[[rule]]\npath = "/dev/%s"\nclass = "%s"\n' "$1" "$2" >>/etc/zerocap/policy.d/50-test.toml
}
unpin() { rm -f /etc/zerocap/policy.d/50-test.toml; }
change() { udevadm trigger --settle "/sys/block/$1"; }

sd=$(sdebug lbpws=1)
hw=$(q "$sd" $H)
note "$sd: hw $hw"

# --- show, apply, reset ---
check_exit 0 "show" zerocap tune show "$sd"
note "$OUT"
check_has "$OUT" "write_zeroes_unmap_max_bytes" "show has the knob"
check_eq "$(row "$sd" $K now)/$(row "$sd" $K hw)/$(row "$sd" $K wanted)/$(row "$sd" $K set_by)" "$hw/$hw/$hw/kernel" "the kernel's value is wanted"
check_eq "$(row "$sd" zeroing_mode now)/$(row "$sd" zeroing_mode set_by)" writesame_16_unmap/kernel "zeroing_mode is the kernel's"
check_exit 0 "nothing to apply" zerocap tune apply "$sd"
check_eq "$OUT$ERR" "" "silence where all is as wanted"
pin "$sd" broken
check_exit 0 "dry run" zerocap tune apply --dry-run "$sd"
check_has "$OUT" "would write 0 over $hw" "the plan is printed"
check_eq "$(q "$sd" $K)" "$hw" "and nothing is written"
check_exit 0 "apply" zerocap tune apply "$sd"
check_has "$OUT" "wrote 0 over $hw, reads 0 (zeroing is broken)" "what was written, read back, and why"
check_eq "$(q "$sd" $K)" 0 "the knob is off"
check_eq "$(row "$sd" $K set_by)" zerocap "who set it"
check_eq "$(json "d['tunables']['$K']['found']" <"/run/zerocap/set/$(cat "/sys/block/$sd/dev")")" "$hw" "what was found is recorded"
before=$(stat -c %Y.%i "/run/zerocap/set/$(cat "/sys/block/$sd/dev")")
check_exit 0 "apply again" zerocap tune apply "$sd"
check_eq "$OUT" "" "a value that is there is not written again"
check_eq "$(stat -c %Y.%i "/run/zerocap/set/$(cat "/sys/block/$sd/dev")")" "$before" "nor recorded again"
check_exit 0 "reset" zerocap tune reset "$sd"
check_has "$OUT" "wrote $hw over 0, reads $hw" "what was found is put back"
change "$sd"
check_eq "$(q "$sd" $K)" "$hw" "and events leave it so while the same is wanted"
check_exit 0 "apply after reset" zerocap tune apply "$sd"
check_eq "$(q "$sd" $K)" 0 "by hand it is set again"

# --- an administrator's value ---
echo "$hw" >"/sys/block/$sd/queue/$K"
change "$sd"
check_eq "$(q "$sd" $K)" "$hw" "what an administrator turned on again stays, although 0 is wanted"
unpin; change "$sd"
echo 0 >"/sys/block/$sd/queue/$K"
change "$sd"
check_eq "$(q "$sd" $K)" 0 "an administrator's 0 stays over events"
check_has "$(prop "$sd" ZEROCAP_FINDINGS)" set-by-admin "and is reported"
check_exit 0 "apply leaves it" zerocap tune apply "$sd"
check_has "$OUT" "set-by-admin" "and says whose it is"
check_eq "$(q "$sd" $K)/$(row "$sd" $K set_by)" 0/admin "hands off"
echo 1 >"/sys/block/$sd/device/rescan"; settle
check_eq "$(q "$sd" $K)" 0 "also over a rescan"
check_exit 0 "reset leaves it too" zerocap tune reset "$sd"
check_eq "$(q "$sd" $K)" 0 "hands off at reset"
echo "$hw" >"/sys/block/$sd/queue/$K"

# --- dm on top: leaf before stack, and after a reload ---
pin "$sd" broken
size=$(blockdev --getsz "/dev/$sd")
dmsetup create one --table "0 $size linear /dev/$sd 0"; settle
dm=$(basename "$(readlink -f /dev/mapper/one)")
check_exit 0 "apply to all" zerocap tune apply
check_eq "$(q "$sd" $K)/$(q "$dm" $K)" 0/0 "a broken leaf makes the stack broken: both are off"
note "$OUT"
check_eq "$(grep -n "^$sd:" <<<"$OUT" | cut -d: -f1)" 1 "the leaf comes first"
unpin; change "$sd"; change "$dm"
check_eq "$(q "$sd" $K)/$(q "$dm" $K)" "$hw/$hw" "back by events, once nothing is wanted off"
pin "$dm" broken; change "$dm"
check_eq "$(q "$dm" $K)" 0 "dm off by its event"
dmsetup reload one --table "0 $size linear /dev/$sd 0"; dmsetup suspend one; dmsetup resume one; settle
check_eq "$(q "$dm" $K)" 0 "off again after a reload, which puts the kernel's value there"
unpin
dmsetup remove --retry one; settle
# A table that is loaded while zerocap holds the leaf at 0 takes the 0 over: nobody's will but zerocap's own.
pin "$sd" broken; change "$sd"
dmsetup create two --table "0 $size linear /dev/$sd 0"; settle
dm=$(basename "$(readlink -f /dev/mapper/two)")
check_eq "$(q "$sd" $K)/$(q "$dm" $K)" 0/0 "a table takes over the 0 of its leaf"
check_eq "$(row "$dm" $K set_by)" zerocap "which is not taken for an administrator's"
check_not "$(prop "$dm" ZEROCAP_FINDINGS)" set-by-admin "nor reported as one"
unpin; change "$sd"; change "$dm"
check_eq "$(q "$sd" $K)/$(q "$dm" $K)" "$hw/$hw" "and goes when the leaf's does"
dmsetup remove --retry two; settle

# --- a test of this boot is open: the queue is not touched ---
pin "$sd" broken
devnum=$(cat "/sys/block/$sd/dev")
mkdir -p /run/zerocap/intent; echo '{}' >"/run/zerocap/intent/$devnum"
check_exit 0 "apply while a test is open" zerocap tune apply "$sd"
check_has "$OUT" "not touched" "it says why nothing is done"
check_eq "$(q "$sd" $K)" "$hw" "and nothing is written"
rm "/run/zerocap/intent/$devnum"; unpin

check "remove" sdebug_rm

# --- wedged limits ---
sd=$(sdebug lbpws=1 lbpws10=1)
hctl=$(basename "$(readlink -f "/sys/block/$sd/device")")
for op in 0x93 0x41; do echo "2 -10 $op 0 0 0x2 0x5 0x24 0x0" >"/sys/kernel/debug/scsi_debug/$hctl/error"; done
# Held open meanwhile: a close after writing has the kernel read the disk anew, which frees the limits.
python3 -c '
import fcntl, os, struct, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
try: fcntl.ioctl(fd, 0x127f, struct.pack("QQ", 0, 1 << 20))
except OSError as e: print(e)
open("/tmp/zeroed", "w").close()
time.sleep(600)' "/dev/$sd" &
holder=$!
wait_for 20 test -e /tmp/zeroed
for op in 0x93 0x41; do echo "- 2 $op" >"/sys/kernel/debug/scsi_debug/$hctl/error"; done
note "wz $(q "$sd" write_zeroes_max_bytes) hw $(q "$sd" $H) um $(q "$sd" $K)"
if [ "$(q "$sd" $H)" != 0 ] && [ "$(q "$sd" write_zeroes_max_bytes)" = 0 ]; then ok "the limits are wedged"; else fail "the limits are not wedged"; fi
check_exit 1 "apply on wedged limits" zerocap tune apply "$sd"
check_has "$ERR" "--rescan" "names the rescan"
check_has "$ERR" "the offload itself stays off" "and that the offload stays off"
check_has "$(zerocap tune show "$sd")" "limits are wedged" "show says so too"
check_exit 0 "apply --rescan" zerocap tune apply --rescan "$sd"
note "$OUT"
settle
check "limits can be written again" sh -c "cat /sys/block/$sd/queue/max_sectors_kb >/sys/block/$sd/queue/max_sectors_kb"
check_eq "$(q "$sd" write_zeroes_max_bytes)" 0 "the offload stays off"
kill $holder; wait $holder 2>/dev/null
check "remove" sdebug_rm

# --- an unmap mode without LBPME: the kernel takes it, and the first zeroing fails; zerocap does not write it ---
sd=$(sdebug)
hctl=$(basename "$(readlink -f "/sys/block/$sd/device")")
mode=/sys/block/$sd/device/scsi_disk/$hctl/zeroing_mode
check_eq "$(cat "/sys/block/$sd/device/scsi_disk/$hctl/thin_provisioning")/$(cat "$mode")" 0/writesame "LBPME is 0"
check_exit 0 "a kept measurement" zerocap measure "/dev/$sd" --scratch 16MiB+16MiB --journal /host/journal --data-ok --max-bytes 192MiB
settle
kept=$(echo /etc/zerocap/devices/*.json)
for best in writesame_16_unmap writesame_10_unmap; do
    # As a test under that mode would keep it, on a machine with nothing else to do.
    python3 - "$kept" $best <<'PY'
import hashlib, json, sys
m = json.load(open(sys.argv[1]))
m["zeroing_mode"] = sys.argv[2]
m.update({"class": "fast", "inconclusive": None, "findings": [], "speedup": {"median": 5.8, "low": 4.0, "high": 7.0, "confidence": 0.999}})
m["fingerprint_of"]["command_path"] = {"writesame_16_unmap": "WS16+UNMAP", "writesame_10_unmap": "WS10+UNMAP"}[sys.argv[2]]
lines = "".join(f"{k}={v}\n" for k, v in sorted(m["fingerprint_of"].items()))
m["fingerprint"] = hashlib.sha256(lines.encode()).hexdigest()
json.dump(m, open(sys.argv[1], "w"))
PY
    check_eq "$(json 'd["zeroing_mode"]' <"$kept")" $best "$best is kept as the best"
    change "$sd"
    check_eq "$(prop "$sd" ZEROCAP_BASIS)" measured "the measurement is used: $(zerocap show "$sd" | head -1)"
    check_eq "$(prop "$sd" ZEROCAP_WANT_ZEROING_MODE)/$(cat "$mode")" /writesame "an event does not want it, nor writes it"
    check_exit 0 "apply" zerocap tune apply "$sd"
    check_has "$OUT" "is not written: the device does not claim logical block provisioning (LBPME)" "apply says why it is not written"
    check_eq "$(row "$sd" zeroing_mode wanted)/$(cat "$mode")" None/writesame "nothing is wanted, and nothing was written"
    check "the kernel itself would have taken it" sh -c "echo $best >$mode && grep -qx $best $mode && echo writesame >$mode"
done
rm "$kept"
check "remove" sdebug_rm

# --- 4 GiB and more ---
sd=$(sdebug lbpws=1 sector_size=4096 dev_size_mb=64)
dir=$(echo "/sys/block/$sd/device/scsi_disk/"*)
echo 8388607 >"$dir/max_write_same_blocks"
hw=$(q "$sd" $H)
note "hw $hw"
check "the limit is over 4 GiB" test "$hw" -gt 4294967296
change "$sd"
check_has "$(prop "$sd" ZEROCAP_FINDINGS)" knob-stuck-4gib "it is reported"
pin "$sd" broken; change "$sd"
check_eq "$(q "$sd" $K)" 0 "off"
unpin; change "$sd"
check "on again by the value that the kernel takes: $(q "$sd" $K)" test "$(q "$sd" $K)" -gt 0
on=$(q "$sd" $K)
pin "$sd" broken
check_exit 0 "off by hand" zerocap tune apply "$sd"
unpin
check_exit 0 "on by hand" zerocap tune apply "$sd"
note "$OUT"
check_eq "$(q "$sd" $K)" "$on" "the same"
check_exit 0 "nothing left to apply" zerocap tune apply "$sd"
check_eq "$OUT$ERR" "" "and it is taken for what is wanted"
check "remove" sdebug_rm

# --- a queue that does not answer, without an intent ---
# The last, since the kernel takes two minutes to give the command up.
sd=$(sdebug lbpws=1)
echo "0 -1 0x93" >"/sys/kernel/debug/scsi_debug/$(basename "$(readlink -f "/sys/block/$sd/device")")/error"
(fallocate -z -l 1M "/dev/$sd" 2>/dev/null || python3 -c "
import os; fd=os.open('/dev/$sd',os.O_RDWR); import ctypes
ctypes.CDLL(None).fallocate(fd,3,ctypes.c_long(0),ctypes.c_long(1<<20))") >/dev/null 2>&1 &
sleep 1
pin "$sd" broken
t=$SECONDS
zerocap tune apply "$sd" >/tmp/out 2>&1; rc=$?
took=$((SECONDS - t))
note "exit $rc after $took s: $(cat /tmp/out)"
timed check "the program ends although the queue hangs" test $took -lt 60
