#!/bin/bash
# NVMe multipath: the head's knob is set, the hidden paths' own knobs are left alone; a 0 that an administrator put on one path
# reaches the head at the next rescan and is reported there as his.
# vm: -d mp:64M:none -- -device nvme-subsys,id=s0,nqn=zc -device nvme,id=c0,serial=mp,subsys=s0
# vm: -device nvme,id=c1,serial=mp,subsys=s0 -device nvme-ns,bus=c0,drive=mp,nsid=1,shared=on
. "${0%/*}/../lib.sh"
install_rules
K=write_zeroes_unmap_max_bytes H=write_zeroes_unmap_max_hw_bytes
ls /sys/block | tr '\n' ' '; echo
head=$(basename "$(ls -d /sys/block/nvme*n1 | grep -v c[0-9]n | head -1)")
paths=$(for p in /sys/block/nvme*c*n1; do basename "$p"; done)
check_eq "$(wc -w <<<"$paths")" 2 "a head $head and two hidden paths: $(echo $paths)"
hw=$(q "$head" $H)
check "the head has the offload" test "$hw" -gt 0
mkdir -p /etc/zerocap/policy.d
printf '[[rule]]\npath = "/dev/%s"\nclass = "broken"\n' "$head" >/etc/zerocap/policy.d/50-test.toml
udevadm trigger --settle "/sys/block/$head"
check_eq "$(q "$head" $K)" 0 "the head's knob is off"
for p in $paths; do check_eq "$(q "$p" $K)" "$hw" "the path's own is left alone"; done
check_has "$(zerocap tune show --all)" "$(head -1 <<<"$paths")" "show --all has the paths"
rescan() { for c in /sys/class/nvme/nvme*; do echo 1 >"$c/rescan_controller"; done; sleep 1; settle; }
rescan
check_eq "$(q "$head" $K)" 0 "it holds over a rescan of the controllers"
rm /etc/zerocap/policy.d/50-test.toml
udevadm trigger --settle "/sys/block/$head"
check_eq "$(q "$head" $K)" "$hw" "back on"
path=$(head -1 <<<"$paths")
echo 0 >"/sys/block/$path/queue/$K"; rescan
note "after a 0 on $path and a rescan the head has $(q "$head" $K)"
udevadm trigger --settle "/sys/block/$head"
check_eq "$(q "$head" $K)" 0 "a path's 0 reaches the head, and is left there"
check_has "$(prop "$head" ZEROCAP_FINDINGS)" set-by-admin "as somebody else's"
check_exit 0 "apply" zerocap tune apply "/dev/$head"
check_has "$OUT" set-by-admin "says so, and does nothing"
echo "$hw" >"/sys/block/$path/queue/$K"; echo "$hw" >"/sys/block/$head/queue/$K"; rescan
check_eq "$(q "$head" $K)" "$hw" "put back on path and head by the administrator it holds"

# --- a namespace that other controllers share may be written to by other hosts ---
mkdir /j; fill "$head"; before=$(sum "$head")
check_exit 1 "a range of it is not tested" zerocap measure "/dev/$head" --scratch 8MiB+16MiB --data-ok --journal /j
check_has "$ERR" "--shared-ok" "the option is named: $ERR"
check_exit 0 "where somebody knows that nobody else writes" zerocap measure "/dev/$head" --scratch 8MiB+16MiB --data-ok --shared-ok --journal /j --max-bytes 192MiB
check_eq "$(sum "$head")" "$before" "the whole device has the content that it had before"
