#!/bin/bash
# host-driver
# ring: long
# The five clients of zerocap-verdict(5) (shell, Python, C, Rust, Go), built here from the text that the page shows, run in a
# guest on one matrix of devices and states, and decide alike everywhere.
. "$VM_LIB"
repo=$(cd "$(dirname "$0")/../../.." && pwd)
host=$VM_TMP/host
mkdir "$host"
built() { # built TEXT COMMAND... : a client that has to build without a warning
    local text=$1; shift
    if "$@" >"$VM_TMP/build" 2>&1; then ok "$text"; else fail "$text"; sed 's/^/      /' "$VM_TMP/build"; fi
}
clients="$repo/tests/clients/consult"
cp "$clients/consult.sh" "$clients/consult.py" "$host"
built "the C client builds without a warning" cc -Wall -Wextra -Werror -o "$host/consult-c" "$clients/consult.c" -lsystemd
target=${CARGO_TARGET_DIR:-$repo/target}
built "the Rust client builds" cargo build --quiet --manifest-path "$repo/Cargo.toml" --target-dir "$target" -p zerocap-verdict-format --example consult
cp "$target/debug/examples/consult" "$host/consult-rs" 2>/dev/null
names="sh python c rust"
if command -v go >/dev/null; then
    built "the Go client builds, static" env CGO_ENABLED=0 GO111MODULE=off GOCACHE="$VM_TMP/go" go build -o "$host/consult-go" "$clients/consult.go"
    names+=" go"
else
    note "not run: the Go client (golang-go is not installed)"
fi
cat >"$VM_TMP/script" <<SH
. "$repo/tests/vm/lib.sh"; names="$names"
SH
cat >>"$VM_TMP/script" <<'SH'
install_rules; udevadm trigger -s block --settle
declare -A run=([sh]="sh /host/consult.sh" [python]="python3 /host/consult.py" [c]=/host/consult-c [rust]=/host/consult-rs [go]=/host/consult-go)
# Each client is started once and asked again and again: the verdicts change while it runs.
declare -A asks answers
start() { # start [COMMAND...] : the clients, behind another user or in a container
    local name
    for name in $names; do
        rm -f /tmp/asks /tmp/answers; mkfifo /tmp/asks /tmp/answers
        "$@" ${run[$name]} </tmp/asks >/tmp/answers 2>>/tmp/client.err &
        exec {asks[$name]}>/tmp/asks {answers[$name]}</tmp/answers
    done
}
# agree WANT TEXT NODE... : each client says WANT of each node
agree() {
    local want=$1 text=$2 name node said line
    shift 2
    for node in "$@"; do
        said=
        for name in ${only-$names}; do
            echo "$node" >&"${asks[$name]}"
            line="no answer"; read -r -t 60 line <&"${answers[$name]}"
            [ "$line" = "$want" ] || said+="$name: $line; "
        done
        check_eq "$said" "" "$want: $text, $node (${only-$names})"
    done
}
start
fast=/dev/$(disk fast) slow=/dev/$(disk slow) lie=/dev/$(disk lie) other=/dev/$(disk other) none=/dev/$(disk none)
measure() { zerocap measure "$1" --scratch "${2-8MiB+8MiB}" --max-bytes 256MiB --journal /host/journal --data-ok >/tmp/measure.out 2>&1 || { note "not measured: $1"; sed 's/^/      /' /tmp/measure.out; }; settle; }
pin() { zerocap policy pin "$@" --why test >/dev/null; settle; }
part() { printf 'label: gpt\nsize=8MiB\nsize=8MiB\nsize=80MiB\n' | sfdisk -q --wipe always "$1"; wait_for 10 test -b "${1}3"; settle "${1#/dev/}1" "${1#/dev/}2" "${1#/dev/}3"; }

note "$(date +%T)" # --- each class, measured or not ---
part "$fast"; measure "$fast" "${fast}2"; measure "$slow"; measure "$lie"
agree zero "fast measured, its partitions" "$fast" "${fast}1" "${fast}2"
agree write "slow measured" "$slow"
agree "write, never zero or discard" "broken measured" "$lie"
agree write "unknown" "$other"
agree write "none: no offload" "$none"

note "$(date +%T)" # --- each basis ---
for class in fast slow none unknown broken; do
    case $class in fast) want="zero, read back a sample" ;; broken) want="write, never zero or discard" ;; *) want=write ;; esac
    pin "$other" $class; agree "$want" "pinned $class" "$other"
done
pin "$fast" slow; agree write "measured fast, pinned slow" "$fast" "${fast}1"
zerocap policy unpin "$fast" >/dev/null; zerocap policy unpin "$other" >/dev/null; settle
model=$(udevadm info -q property --property=ID_MODEL --value -n "$other")
pinned=/etc/udev/hwdb.d/70-test.hwdb
[ -n "$model" ] || note "the disk has no ID_MODEL: a rule gives it one"
mkdir -p /etc/udev/hwdb.d
printf 'SUBSYSTEM=="block", KERNEL=="%s", ENV{ID_MODEL}="testmodel", ENV{ID_REVISION}="1"\n' "${other#/dev/}" >/etc/udev/rules.d/80-model.rules
printf 'zerocap:model:testmodel:fw:1:\n ZEROCAP_MODEL_CLASS=fast\n' >$pinned
systemd-hwdb update; udevadm control --reload
modelled() { udevadm trigger --settle "/sys/block/${other#/dev/}"; [ "$(prop "$other" ZEROCAP_BASIS)" = model ]; }
check "a model entry gives the basis model" wait_for 20 modelled
agree "zero, read back a sample" "fast by its model" "$other"
rm $pinned /etc/udev/rules.d/80-model.rules; systemd-hwdb update; udevadm control --reload
plain() { udevadm trigger --settle "/sys/block/${other#/dev/}"; [ "$(prop "$other" ZEROCAP_CLASS)" = unknown ]; }
check "without it the disk is unknown" wait_for 20 plain

note "$(date +%T)" # --- stacks ---
dmsetup create low --table "0 $(blockdev --getsz "${fast}1") linear ${fast}1 0"; wait_for 10 test -b /dev/mapper/low; settle
agree zero "dm on a fast disk" /dev/mapper/low
mdadm --create /dev/md0 --quiet --run --assume-clean --level=0 --raid-devices=2 /dev/mapper/low "$slow" 2>/dev/null
wait_for 10 test -b /dev/md0; settle md0
agree write "md of a fast and a slow disk" /dev/md0
mdadm --stop --quiet /dev/md0; settle
truncate -s 16M /tmp/file; loop=$(losetup -f --show /tmp/file); settle "${loop#/dev/}"
agree write "a loop device" "$loop"
losetup -d "$loop"
mkdir -p /m
modprobe btrfs; wait_for 10 test -e /dev/btrfs-control
mkfs.btrfs -qf "$slow" "${fast}3" && mount -t btrfs "$slow" /m || fail "a btrfs of two is made"
check_exit 3 "check of a path on btrfs of two is that of the weaker" zerocap check --boolean /m
agree write "btrfs of two: the weaker one" "$slow"
umount /m

note "$(date +%T)" # --- measured and pinned ---
pin "$fast" fast
file=/run/zerocap/$(cat "/sys/block/${fast#/dev/}/dev").json
agree zero "measured and pinned fast" "$fast"
zerocap policy unpin "$fast" >/dev/null; settle

note "$(date +%T)" # --- who asks, and from where ---
start setpriv --reuid 65534 --clear-groups
agree zero "not root" "$fast" "${fast}1" /dev/mapper/low
agree "write, never zero or discard" "not root, broken" "$lie"
container() { unshare -m sh -c 'mount -t tmpfs none /run; exec "$@"' sh "$@"; }
start container
agree write "in a container that sees no /run of the host" "$fast" "$lie"
start

note "$(date +%T)" # --- nothing published, another disk under the number ---
cp "$file" /tmp/published.json
sed -i 's/"diskseq":[0-9]*/"diskseq":999999/' "$file"
# What only those see who read the document.
agree_json() { local only; only=$(tr ' ' '\n' <<<"$names" | grep -vx 'sh\|c'); only=${only//$'\n'/ }; agree "$@"; }
agree_json write "a document of another disk" "$fast"
sed 's/"format":1/"format":2/' /tmp/published.json >"$file"
agree_json write "a document of another format" "$fast"
sed 's/"class":"fast"/"class":"quick"/' /tmp/published.json >"$file"
agree_json write "a class of the future" "$fast"
sed 's/"findings":\[/"findings":[{"code":"deferred-cost","severity":"warning","text":"t"},{"code":"new","severity":"fatal","text":"t"},/' /tmp/published.json | sed 's/},\]/}]/' >"$file"
agree_json "zero only what stays empty" "deferred-cost, and a code of the future" "$fast"
rm "$file"
agree write "/run/zerocap is empty" "$fast" "${fast}1"
cp /tmp/published.json "$file"
agree zero "the file is back" "$fast"
# Another disk takes the number over while udev is not yet there.
sd=/dev/$(sdebug lbpws=1); pin "$sd" fast
agree "zero, read back a sample" "a SCSI disk, pinned fast" "$sd"
number=$(cat "/sys/block/${sd#/dev/}/dev")
cp "/run/zerocap/$number.json" /tmp/old.json
sdebug_rm; modprobe scsi_debug ndelay=1000 dev_size_mb=64 lbpws=1; wait_for 20 sdebug_disks
new=/dev/$(sdebug_disks); settle "${new#/dev/}"
check_eq "$(cat "/sys/block/${new#/dev/}/dev")" "$number" "the new disk has the old one's number"
cp /tmp/old.json "/run/zerocap/$number.json"
check_eq "$(json 'd["class"]' <"/run/zerocap/$number.json")" fast "and the old one's document is put back"
agree_json write "a device replaced under its number" "$new"
SH
out=$("$VM" -n fast:100M:bus=virtio,fill=0,write_ms_per_mib=20 -n slow:80M:bus=virtio,fill=0,write_ms_per_mib=20,zero_ms_per_mib=20 \
    -n lie:32M:bus=virtio,fill=0,zero=lie,write_ms_per_mib=20 -n other:24M:bus=virtio,fill=0 -d none:24M:virtio,write-zeroes=off \
    -m 768 -t 900 -o "$host" "$VM_TMP/script" 2>&1); rc=$?
printf '%s\n' "$out" | sed 's/^\(ok\|FAIL\)/      &/; /passed, .* failed/d'
VM_PASSED=$((VM_PASSED + $(grep -c '^ok ' <<<"$out"))) VM_FAILED=$((VM_FAILED + $(grep -c '^FAIL ' <<<"$out")))
[ $rc = 0 ] || [ $rc = 1 ] || fail "the guest ran (exit $rc)"
check "the guest ran to its end" test "$(grep -c '^ok .*a device replaced under its number\|^FAIL .*a device replaced under its number' <<<"$out")" -ge 1
