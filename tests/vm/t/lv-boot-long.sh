#!/bin/bash
# ring: long
# Under a real systemd: a test in a volume that was made for it is killed; the unit that recovers at boot removes the volume,
# inside its walls, also where it is not active; and it puts back what a test left in a volume that was there.
# vm: -S -m 768
# vm: -n disk:300M:write_ms_per_mib=20
# takes: 60
. "${0%/*}/../lib.sh"
if [ -n "${VM_BEFORE-}" ]; then
    trap - EXIT
    install_rules
    install_units /etc/systemd/system
    mkdir -p /host/state /var/lib/zerocap
    mount --bind /host/state /var/lib/zerocap
    exit
fi
lvm() { command lvm "$@" 2>>/tmp/lvm.err; }
d=$(disk disk)
lvm pvcreate -qq -y "/dev/$d"; lvm vgcreate -qq vg "/dev/$d"; lvm lvcreate -qq -y -n test -L 32M vg; settle
killed() {
    from=$(written "$d")
    zerocap measure "/dev/$d" --scratch "$1" --data-ok --max-bytes 256MiB --journal /host/journal >/tmp/out 2>/tmp/err & pid=$!
    wait_written "$d" "$from" 12; kill -9 $pid; wait $pid 2>/dev/null
    wait_for 30 sh -c '! pgrep -f port-chil[d]'
}
log() { journalctl --sync; journalctl -q --no-pager -o cat -u zerocap-recover.service; }
for active in y n; do
    killed vg:vg
    lv=$(lvm lvs --noheadings -o lv_name -S lv_tags=zerocap | tr -d ' ')
    check "a volume is left" test -n "$lv"
    [ $active = y ] || { wait_for 20 lvm lvchange -qq -an "vg/$lv"; settle; }
    check "the unit ends well, active: $active" systemctl start zerocap-recover.service
    note "$(log | tail -4)"
    check_eq "$(lvm lvs --noheadings -o lv_name -S lv_tags=zerocap)" "" "and the volume is gone"
    check_eq "$(find /var/lib/zerocap/intent -type f)" "" "and its word"
done
before=$(sum "$d"); killed /dev/vg/test
check "the unit ends well" systemctl start zerocap-recover.service
check_eq "$(sum "$d")" "$before" "and what was in the volume is back"
