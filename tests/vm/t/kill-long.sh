#!/bin/bash
# host-driver
# ring: long
# State on a real disk, an ext4 of its own: ten tests killed with SIGKILL and ten cut off by the loss of power, each at a
# random moment; after each, recover, and the whole device is as before, byte for byte. ROUNDS=N for another number.
. "$VM_LIB"
repo=$(cd "$(dirname "$0")/../../.." && pwd)
rounds=${ROUNDS:-10}
common=$(cat <<SH
. "$repo/tests/vm/lib.sh"; trap - EXIT
install_rules
d=\$(disk d) state=\$(disk state)
blkid -p "/dev/\$state" >/dev/null || mkfs.ext4 -q "/dev/\$state"
mkdir -p /state /etc/zerocap /var/lib/zerocap; mount "/dev/\$state" /state || exit 9
mkdir -p /state/etc /state/var
mount --bind /state/etc /etc/zerocap; mount --bind /state/var /var/lib/zerocap
begin() { zerocap measure "/dev/\$d" --scratch 16MiB+16MiB --data-ok --max-bytes 128MiB >/dev/null 2>/tmp/err & pid=\$!; }
put_back() {
    zerocap recover || { echo "recover failed"; return; }
    [ "\$(sum \$d)" = "\$(cat /persist/sum)" ] && echo "as before" || echo "CONTENT LOST"
    [ -z "\$(find /var/lib/zerocap/journal /var/lib/zerocap/intent -type f)" ] || echo "journal or intent left"
}
SH
)
disks=(-n "d:64M:file=$VM_TMP/d.raw,write_ms_per_mib=12,zero_ms_per_mib=4" -n "state:64M:file=$VM_TMP/state.raw")

# --- kill -9 ---
cat >"$VM_TMP/kill" <<SH
$common
fill \$d; sum \$d >/persist/sum; sync
for n in \$(seq $rounds); do
    begin
    sleep "\$((RANDOM % 8)).\$((RANDOM % 10))"
    kill -9 \$pid; wait \$pid 2>/dev/null
    # The acting child ends after the act it is in.
    wait_for 20 sh -c '! pgrep -f port-chil[d]'
    put_back
    [ ! -e "/sys/block/\$d/\${d}p250" ] || echo "a partition is left"
done
sync; umount /etc/zerocap /var/lib/zerocap /state
SH
check_exit 0 "killed $rounds times" "$VM" -T $((600 + rounds * 200)) -e "$VM_TMP/keep" "${disks[@]}" "$VM_TMP/kill"
note "$(sort <<<"$OUT" | uniq -c | tr '\n' ';')"
check_eq "$(grep -cx 'as before' <<<"$OUT")" "$rounds" "the content came back each time"
check_eq "$(grep -cxE 'CONTENT LOST|journal or intent left|a partition is left|recover failed' <<<"$OUT")" 0 "and nothing was left"

# --- the power goes ---
for n in $(seq $((rounds + 1))); do
    cat >"$VM_TMP/power" <<SH
$common
[ $n = 1 ] || put_back
[ $n -le $rounds ] || exit 0
begin
sleep "\$((RANDOM % 8)).\$((RANDOM % 10))"
# No sync, no unmount.
echo o >/proc/sysrq-trigger; sleep 30
SH
    "$VM" -e "$VM_TMP/keep" "${disks[@]}" "$VM_TMP/power" >"$VM_TMP/out" 2>/dev/null
    [ "$n" = 1 ] || check_has "$(cat "$VM_TMP/out")" "as before" "after cut $((n - 1)): $(tr '\n' ';' <"$VM_TMP/out")"
done
