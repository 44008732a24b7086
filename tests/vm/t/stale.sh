#!/bin/bash
# An answer that rests on another device's never stays better than that: a disk turns out to be broken, by a test, a pin or a
# rule, and its partitions, the stacks on it and on them, the published files and `check` as nobody follow.
# vm: -n good:64M:bus=virtio,fill=0,write_ms_per_mib=20 -n lie:64M:bus=virtio,fill=0,zero=lie,write_ms_per_mib=20 -t 240
. "${0%/*}/../lib.sh"
install_rules
good=$(disk good) lie=$(disk lie)
pin() { zerocap policy pin "/dev/$1" "$2" --why "test $1" >/dev/null; settle; }
published() { json "d['$2']" <"/run/zerocap/$(cat "/sys/class/block/$1/dev").json" 2>/dev/null || echo none; }
as_nobody() { setpriv --reuid 65534 --clear-groups zerocap check --quiet "/dev/$1" && echo 0 || echo $?; }
# all CLASS CODE TEXT NAME... : udev's property and the exit code as nobody of each; the file of what is a whole device
all() {
    local class=$1 code=$2 text=$3 got want name
    shift 3
    settle
    for name in "$@"; do
        got="$(prop "$name" ZEROCAP_CLASS) $(as_nobody "$name")" want="$class $code"
        [ -e "/sys/class/block/$name/partition" ] || { got+=" $(published "$name" class)"; want+=" $class"; }
        check_eq "$got" "$want" "$text: $name"
    done
}
parts() { # parts DISK : a partition of 24 MiB and one of 16 MiB
    printf 'label: gpt\nsize=24MiB\nsize=16MiB\n' | sfdisk -q --wipe always "/dev/$1"
    wait_for 10 test -b "/dev/${1}2"; settle "${1}1" "${1}2"
}
linear() { # linear NAME NODE : dm-linear over all of it; prints the name that the kernel gives it
    dmsetup create "$1" --table "0 $(blockdev --getsz "$2") linear $2 0" >&2
    wait_for 10 test -b "/dev/mapper/$1"; settle
    basename "$(readlink -f "/dev/mapper/$1")"
}
parts "$lie"; parts "$good"
low=$(linear low "/dev/${lie}1"); high=$(linear high "/dev/$low")
note "disk $lie, on its first partition $low, on that $high"
all unknown 5 "before anything is known" "$lie" "${lie}1" "$low" "$high"
check_eq "$(json "[m['name'] for m in d['device']['members']]" <"/run/zerocap/$(cat "/sys/block/$high/dev").json")" "['$low']" "with its member's name"
check_eq "$(json "[(m['devnum'],m['diskseq']) for m in d['device']['members']]" <"/run/zerocap/$(cat "/sys/block/$low/dev").json")" \
    "[('$(cat "/sys/class/block/${lie}1/dev")', $(cat "/sys/block/$lie/diskseq"))]" "a partition as member has its own number and the disk's sequence number"

pin "$lie" fast
all fast 0 "the disk is pinned fast" "$lie" "${lie}1" "$low" "$high"
check_eq "$(published "$high" basis)" derived "of the stack it is derived"
check_eq "$(prop "${lie}1" ZEROCAP_OFFSET_SECTORS)" "$(cat "/sys/class/block/${lie}1/start")" "a partition says where it begins"
check_eq "$(prop "$lie" ZEROCAP_OFFSET_SECTORS)" "" "a disk does not"

# --- it lied ---
check_exit 0 "the lying disk is measured" zerocap measure "/dev/$lie" --scratch "/dev/${lie}2" --max-bytes 256MiB --journal /host/journal --data-ok
all broken 6 "a test found it broken" "$lie" "${lie}1" "${lie}2" "$low" "$high"
check_eq "$(published "$lie" zeroes_verified)" False "and what it zeroed was not zero"

# --- measured well, then pinned broken ---
check_exit 0 "the good disk is measured" zerocap measure "/dev/$good" --scratch "/dev/${good}2" --max-bytes 256MiB --journal /host/journal --data-ok
top=$(linear top "/dev/${good}1")
all fast 0 "measured fast" "$good" "${good}1" "$top"
for name in "$good" "${good}1" "$top"; do
    check_eq "$(prop "$name" ZEROCAP_VERIFIED)/$(prop "$name" ZEROCAP_METHOD)" 1/punch-hole "verified, and by which method: $name"
    check_eq "$(prop "$name" ZEROCAP_ALIGN)/$(prop "$name" ZEROCAP_CHUNK)" "$(prop "$good" ZEROCAP_ALIGN)/$(prop "$good" ZEROCAP_CHUNK)" "the same hints: $name"
done
pin "$good" broken
all broken 6 "pinned broken afterwards" "$good" "${good}1" "$top"
zerocap policy unpin "/dev/$good" >/dev/null
all fast 0 "the pin is gone" "$good" "${good}1" "$top"

# --- nothing is told twice ---
udevadm monitor -u -s block >/tmp/monitor & monitor=$!
wait_for 10 grep -q "UDEV - the event" /tmp/monitor
udevadm trigger --settle "/sys/block/$good"; settle; sleep 1
kill $monitor
# udev's own watch may add events of the disk and its partitions; a stack hears of the disk from zerocap alone.
check_eq "$(grep -c "^UDEV .*change.*/$good " /tmp/monitor)/$(grep -c "/$top " /tmp/monitor)" 1/0 "an event that changes nothing is told to nobody"

# --- the file of a stack is older than that of its member: nobody believes it ---
file=/run/zerocap/$(cat "/sys/block/$good/dev").json
cp "$file" /tmp/good.json
sed -i 's/"class":"fast"/"class":"broken"/' "$file"
check_eq "$(published "$top" class)/$(as_nobody "$top")" fast/6 "check as nobody weighs what is published of the member"
check_has "$(setpriv --reuid 65534 --clear-groups zerocap show "$top" | head -n 1)" "its member ${good}1 is broken" "and show says why"
rm "$file"
check_eq "$(as_nobody "$top")" 5 "nothing published of the member: unknown"
cp /tmp/good.json "$file"
check_eq "$(as_nobody "$top")" 0 "its file is back"
udevadm control --stop-exec-queue
dmsetup suspend --noudevsync top; dmsetup load top --table "0 49152 linear /dev/${lie}1 0"; dmsetup resume --noudevsync top
check_eq "$(as_nobody "$top")" 5 "another member under it, and udev not there yet: unknown"
udevadm control --start-exec-queue; settle
all broken 6 "loaded over the lying disk" "$top"

# --- skipped: taken back ---
echo 'KERNEL=="'"$good"'", ENV{ZEROCAP_SKIP}="1"' >/etc/udev/rules.d/10-skip.rules
udevadm control --reload
skipped() { udevadm trigger --settle "/sys/block/$good"; [ ! -e "$file" ]; }
check "ZEROCAP_SKIP takes the published file away" wait_for 20 skipped
settle
check_eq "$(prop "$good" ZEROCAP_CLASS)$(prop "${good}1" ZEROCAP_CLASS)" "" "and the properties, of the partition too"
rm /etc/udev/rules.d/10-skip.rules; udevadm control --reload
back() { udevadm trigger --settle "/sys/block/$good"; [ -e "$file" ]; }
check "without it the file comes back" wait_for 20 back
all fast 0 "and all rests on it again" "$good" "${good}1"
dmsetup remove --retry top; dmsetup remove --retry high; dmsetup remove --retry low
