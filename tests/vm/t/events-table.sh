#!/bin/bash
# host-driver
# ring: long
# The table tunable x event: what was wanted holds after each event that udev sees, and after a restart of the machine;
# where the kernel sends none, `tune show` reports it and `tune apply` mends it; an administrator's echo survives as long
# as the kernel keeps it, which is not over a restart. On a kernel without the knob its rows read absent.
# `VM_OPTS="-k 6.12"` for the older kernel.
if [ $# = 0 ]; then
    . "$VM_LIB"
    for boot in events restart; do
        # shellcheck disable=SC2086 # several options
        check_exit 0 "the boot of the $boot" "$VM" ${VM_OPTS-} -e "$VM_TMP/keep" -d plain:64M:nvme -d under:64M:nvme "$0" $boot
        printf '%s\n' "$OUT"
    done
    exit
fi
. "${0%/*}/../lib.sh"
mkdir -p /persist/etc /etc/zerocap
mount --bind /persist/etc /etc/zerocap
install_rules
K=write_zeroes_unmap_max_bytes
sd=$(sdebug lbpws=1)
hctl=$(basename "$(readlink -f "/sys/block/$sd/device")")
nvme=$(disk plain) under=$(disk under)
have_knob=1; [ -e "/sys/block/$sd/queue/$K" ] || have_knob=
mode() { cat "/sys/block/$sd/device/scsi_disk/$hctl/zeroing_mode"; }
make_dm() { dmsetup create one --table "0 8192 linear /dev/$under 0"; settle; dm=$(basename "$(readlink -f /dev/mapper/one)"); }
# cell DEVICE TUNABLE WANT NOW : what holds; a value that was lost must be reported and mended
cell() {
    local reported
    [ "$4" != - ] || { CELL=absent; return; }
    [ "$4" != "$3" ] || { CELL=holds; return; }
    reported=$(zerocap tune show --json "$1" | json "[(r['now'],r['wanted']) for r in d if r['tunable']=='$2'][0]")
    zerocap tune apply "$1" >/dev/null 2>&1
    if [ "$reported" = "('$4', '$3')" ]; then CELL="lost, mended"; else CELL="LOST, show says $reported"; fi
}
column() { # column EVENT : all that holds after it
    local e=$1
    cell "$sd" $K 0 "$(q "$sd" $K)"; table["knob sd,$e"]=$CELL
    cell "$nvme" $K 0 "$(q "$nvme" $K)"; table["knob nvme,$e"]=$CELL
    cell "$dm" $K 0 "$(q "$dm" $K)"; table["knob dm,$e"]=$CELL
    cell "$sd" zeroing_mode writesame "$(mode)"; table["zeroing_mode sd,$e"]=$CELL
}
rows=("knob sd" "knob nvme" "knob dm" "zeroing_mode sd")
declare -A table
events="rescan blkrrpart close reload reset readd"

# --- the second boot: the kernel's values and /run are new, what is wanted stands in /etc. The first boot ended with an
# administrator's echo to each knob: it does not come back, and what is wanted holds again ---
if [ "$1" = restart ]; then
    make_dm
    # As systemd-udev-trigger.service does.
    udevadm trigger --action=add -s block --settle
    . /persist/table
    column restart
    events="$events restart"
    printf '%-18s' "kernel $(uname -r | cut -d. -f1-2)"; for e in $events; do printf '%-14s' "$e"; done; echo
    for r in "${rows[@]}"; do printf '%-18s' "$r"; for e in $events; do printf '%-14s' "${table["$r,$e"]}"; done; echo; done
    for e in $events; do
        for r in "${rows[@]}"; do
            want=holds
            case $r,$e in
            "zeroing_mode sd,rescan" | "zeroing_mode sd,blkrrpart") want="lost, mended" ;; # the kernel sends no event
            knob*) [ -n "$have_knob" ] || want=absent ;;
            esac
            [ "${table["$r,$e"]}" = "$want" ] && ok "$r after $e: $want" || fail "$r after $e: ${table["$r,$e"]}, want $want"
        done
    done
    dmsetup remove --retry one
    exit
fi

# --- what is wanted: the knob off on all three, and a mode that is not the kernel's on the SCSI disk ---
check_exit 0 "a kept measurement" zerocap measure "/dev/$sd" --scratch 16MiB+16MiB --journal /host/journal --max-bytes 192MiB --thin-ok --data-ok
settle
python3 - /etc/zerocap/devices/*.json <<'PY'
import hashlib, json, sys
path = sys.argv[1]
m = json.load(open(path))
# As a test under that mode keeps it: the mode, and the command that it makes the driver send.
m["zeroing_mode"] = "writesame"
m["fingerprint_of"]["command_path"] = "WS16"
m["class"], m["speedup"] = "slow", {"median": 0.5, "low": 0.4, "high": 0.6, "confidence": 0.999}
lines = "".join(f"{k}={v}\n" for k, v in sorted(m["fingerprint_of"].items()))
m["fingerprint"] = hashlib.sha256(lines.encode()).hexdigest()
json.dump(m, open(path, "w"))
PY
make_dm
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\n%s\nclass = "broken"\n' "path = \"/dev/$dm\"" 'serial = "plain"' >/etc/zerocap/policy.d/50-test.toml
udevadm trigger -s block --settle
note "$(zerocap show "$sd" | head -1)"
check_eq "$(mode)" writesame "the rule set the mode that was measured"
check_eq "$(prop "$sd" ZEROCAP_CLASS)/$(prop "$sd" ZEROCAP_BASIS)" slow/measured "and the measurement holds under it"

# --- the events ---
do_rescan() { echo 1 >"/sys/block/$sd/device/rescan"; echo 1 >"/sys/block/$nvme/device/rescan_controller" 2>/dev/null; }
do_blkrrpart() { blockdev --rereadpt "/dev/$sd"; blockdev --rereadpt "/dev/$nvme"; }
do_close() { local d; for d in "$sd" "$nvme" "$dm"; do python3 -c "import os,sys; os.close(os.open(sys.argv[1], os.O_RDWR))" "/dev/$d"; done; }
do_reload() { dmsetup reload one --table "0 8192 linear /dev/$under 0"; dmsetup suspend one; dmsetup resume one; }
do_reset() { local c; c=$(readlink -f "/sys/block/$nvme/device"); [ -e "$c/reset_controller" ] || c=$(echo "$c"/nvme[0-9]*); echo 1 >"$c/reset_controller"; sleep 1; }
do_readd() {
    dmsetup remove --retry one; settle
    echo 1 >"/sys/block/$sd/device/delete"; wait_for 10 test ! -e "/sys/block/$sd"; settle
    echo "- - -" >"/sys/class/scsi_host/host${hctl%%:*}/scan"
    wait_for 20 sdebug_disks; sd=$(sdebug_disks); settle "$sd"
    local pci; pci=$(readlink -f "/sys/block/$nvme"); pci=${pci%/nvme/*}
    echo 1 >"$pci/remove"; wait_for 10 test ! -e "/sys/block/$nvme"; settle
    echo 1 >/sys/bus/pci/rescan; wait_for 20 disk plain; nvme=$(disk plain); settle "$nvme"
    make_dm
}
for e in $events; do
    "do_$e"; settle
    column "$e"
done
declare -p table >/persist/table
if [ -z "$have_knob" ]; then
    check_has "$(zerocap tune show "$nvme")" absent "the knob reads absent"
    check_eq "$(zerocap tune show --json "$sd" | json "[(r['now'],r['now_unknown']) for r in d if r['tunable']=='$K'][0]")" "(None, 'absent')" "as in JSON: null, and why"
    check_exit 0 "apply has nothing to do with it" zerocap tune apply "$nvme"
    check_eq "$OUT$ERR" "" "and says nothing"
else
    # --- an administrator's echo: as long as the kernel keeps it ---
    for d in "$sd" "$nvme" "$dm"; do q "$d" write_zeroes_unmap_max_hw_bytes >"/sys/block/$d/queue/$K"; done
    for e in rescan blkrrpart close reset; do
        "do_$e"; settle
        for d in "$sd" "$nvme"; do
            check_eq "$(q "$d" $K)" "$(q "$d" write_zeroes_unmap_max_hw_bytes)" "an administrator's echo on $d survives $e"
        done
    done
fi
dmsetup remove --retry one
