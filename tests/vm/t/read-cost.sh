#!/bin/bash
# ring: long
# What reading the answer costs: system calls of `check`, `show` and `estimate` beside those of an event and of lsblk, with one
# disk and with many, where strace is given (a directory with it and its libraries as first argument; runs and disks are the
# next two); the time of each, the least of some runs. An answer must not cost more the more disks there are.
# vm: -c 2 -m 1024 -n one:64M
. "${0%/*}/../lib.sh"
tools=${1-} runs=${2:-3} many=${3:-60}
[ -n "$tools" ] || note "no strace was given: calls are not counted"
install_rules
calls() { # calls COMMAND... : its system calls, and those of its children
    ACTION=change LD_LIBRARY_PATH=$tools "$tools/strace" -f -qq -o /tmp/calls -E LD_LIBRARY_PATH "$@" >/dev/null 2>&1
    # What only a build with debug assertions asks is left out.
    grep '(' /tmp/calls | grep -vc 'F_GETFD\|resumed>'
}
least() { # least NAME COMMAND... : the least milliseconds of the runs
    local name=$1 best=999999 t i
    shift
    for i in $(seq "$runs"); do
        t=$EPOCHREALTIME; "$@" >/dev/null 2>&1; t=$(((${EPOCHREALTIME/./} - ${t/./}) / 100))
        [ "$t" -ge "$best" ] || best=$t
    done
    note "$name: $((best / 10)).$((best % 10)) ms"
}
nvme=$(disk one)
sdebug lbpws=1 dev_size_mb=8 >/dev/null; settle
sd=$(sdebug_disks | head -1)
udevadm trigger -c add -s block; settle
note "bearers: $(tr '\n' ';' </run/zerocap/bearers)"
few=()
for round in "one disk of each" "$many more"; do
    note "$round: $(find /sys/block -mindepth 1 | wc -l) devices"
    for dev in "$nvme" "$sd"; do
        if [ -n "$tools" ]; then
            note "calls $dev: event $(calls zerocap udev /dev/$dev) check $(calls zerocap check /dev/$dev) show $(calls zerocap show /dev/$dev) estimate $(calls zerocap estimate /dev/$dev 512)"
            check_calls=$(calls zerocap check "/dev/$dev"); cp /tmp/calls "/host/calls.check.$dev.${round%% *}"
            [ "$round" != "one disk of each" ] || few[${#few[@]}]=$check_calls
        fi
        least "event $dev" env ACTION=change zerocap udev "/dev/$dev"
        least "check $dev" zerocap check "/dev/$dev"
        least "show $dev" zerocap show "/dev/$dev"
        least "lsblk -D $dev" lsblk -D "/dev/$dev"
    done
    least true /bin/true
    if [ "$round" = "one disk of each" ]; then
        [ -z "$tools" ] || note "calls: show $(calls zerocap show) lsblk -D $(calls lsblk -D)"
        [ -z "$tools" ] || cp /tmp/calls /host/calls.lsblk
        least "show" zerocap show
        least "lsblk -D" lsblk -D
        ok "measured with few disks"
        [ "$many" -gt 0 ] || break
        sdebug_rm >/dev/null; settle
        sdebug lbpws=1 dev_size_mb=8 max_luns="$many" >/dev/null; settle
        sd=$(sdebug_disks | head -1)
    else
        # The last disk of the loop is the first of many; the listing of /sys/block takes a call more for each 100 names.
        [ -z "$tools" ] || check "check costs $check_calls calls beside $many disks, ${few[1]} beside one" \
            test $((check_calls - few[1])) -le $((5 + many / 50))
        least "show" zerocap show
        least "lsblk -D" lsblk -D
    fi
done
