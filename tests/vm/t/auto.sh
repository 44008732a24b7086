#!/bin/bash
# ring: long
# A policy with scratch = "auto" under a real systemd: rule -> unit -> verdict without anything typed, on a disk with a gap and on one
# whose only place is its swap partition; the state of zerocap lies on that disk, as on a machine that has one alone. All of the
# disk but the place stays as it was. A journal that the policy names is used where the unit can write, and refused where not.
# vm: -S -m 768
# vm: -n gap:256M:write_ms_per_mib=12 -n swap:128M:write_ms_per_mib=12 -n part:96M:write_ms_per_mib=12
# takes: 130
. "${0%/*}/../lib.sh"

if [ -n "${VM_BEFORE-}" ]; then
    trap - EXIT
    install_rules
    install_units /etc/systemd/system
    mkdir -p /var/lib/zerocap /etc/zerocap/policy.d
    exit
fi

unit() { echo "zerocap-measure@$(cat "/sys/block/$1/dev").service"; }
log() { journalctl --sync; journalctl -q --no-pager -o cat -u "$1"; }
ended() { log "$1" | grep -qE '^(Finished|Failed to start|Failed with)|Failed with result'; }
for name in gap swap part; do declare "$name=$(disk $name)"; [ -n "${!name}" ] || exit 1; done
# why : what a published answer says of itself
why() { note "$(json 'd["class"], d["measured"] and d["measured"]["inconclusive"], [f["code"] for f in d["findings"]]' <"/run/zerocap/$(cat "/sys/block/$1/dev").json")"; }
# DISK SKIP [COUNT] : checksum of these MiB
sum_of() { blockdev --flushbufs "/dev/$1"; dd if="/dev/$1" bs=1M skip="$2" ${3:+count=$3} iflag=direct status=none | sha256sum | cut -d' ' -f1; }

# --- a disk with a gap of its GPT: file systems before and behind it ---
sfdisk -q "/dev/$gap" <<'T'
label: gpt
start=2048, size=163840
start=344064
T
wait_for 5 test -b "/dev/${gap}p2"; settle "${gap}p2"
mkfs.ext4 -q "/dev/${gap}p1"; mkfs.ext4 -q "/dev/${gap}p2"; settle
mount "/dev/${gap}p1" /var/lib/zerocap; chmod 700 /var/lib/zerocap; settle
before=$(sum_of "$gap" 81)
printf '[[rule]]\nserial = "gap"\nmeasure = "auto"\nscratch = "auto"\n' >/etc/zerocap/policy.d/20-gap.toml
check_exit 0 "policy test" zerocap policy test "/dev/$gap"
check_has "$OUT" "scratch = auto  by " "shows the wish: $OUT"
udevadm trigger "/sys/block/$gap"
u=$(unit "$gap"); wait_for 60 ended "$u"
check_has "$(log "$u")" "Finished $u" "the rule asked for the unit, and it ends well"
wait_for 10 grep -q '"trials"' "/run/zerocap/$(cat "/sys/block/$gap/dev").json"
check_eq "$(json 'd["measured"]["scratch"]' <"/run/zerocap/$(cat "/sys/block/$gap/dev").json")" gap "it took the gap"
why "$gap"
timed check_eq "$(prop "$gap" ZEROCAP_CLASS)/$(prop "$gap" ZEROCAP_BASIS)" fast/measured "and udev has the class"
check_eq "$(sum_of "$gap" 81)" "$before" "all behind the mounted file system is as before: the gap, the other partition, the tables"
umount /var/lib/zerocap

# --- a disk with a file system and swap to its end ---
sfdisk -q "/dev/$swap" <<'T'
label: gpt
start=2048, size=81920
start=83968, type=swap
T
wait_for 5 test -b "/dev/${swap}p2"; settle "${swap}p2"
mkfs.ext4 -q "/dev/${swap}p1"; mkswap "/dev/${swap}p2" >/dev/null; settle
mount "/dev/${swap}p1" /var/lib/zerocap; chmod 700 /var/lib/zerocap; settle
head=$(sum_of "$swap" 41 1)
printf '[[rule]]\nserial = "swap"\nmeasure = "auto"\nscratch = "auto"\n' >/etc/zerocap/policy.d/20-swap.toml
udevadm trigger "/sys/block/$swap"
u=$(unit "$swap"); wait_for 60 ended "$u"
check_has "$(log "$u")" "Finished $u" "the unit of the disk with swap ends well"
wait_for 10 grep -q '"trials"' "/run/zerocap/$(cat "/sys/block/$swap/dev").json"
check_eq "$(json 'd["measured"]["scratch"]' <"/run/zerocap/$(cat "/sys/block/$swap/dev").json")" swap "it took the swap partition"
why "$swap"
timed check_eq "$(prop "$swap" ZEROCAP_CLASS)/$(prop "$swap" ZEROCAP_BASIS)" fast/measured "and udev has the class"
check_eq "$(sum_of "$swap" 41 1)" "$head" "the first MiB of the swap is as before"
check "it is activated as before" swapon "/dev/${swap}p2"; swapoff "/dev/${swap}p2"
umount /var/lib/zerocap
check "and the file system beside it is whole" fsck.ext4 -fn "/dev/${swap}p1"

# --- a journal that the policy names ---
printf 'label: gpt\nstart=65536, size=65536, name=zerocap-scratch\n' | sfdisk -q "/dev/$part"; settle
fill_part() { dd if=/dev/urandom of="/dev/${part}p1" bs=1M oflag=direct status=none 2>/dev/null; }
wait_for 5 test -b "/dev/${part}p1"; fill_part; settle
mkdir -p /host/journal /srv/journal; mount --bind /host/journal /srv/journal
before=$(sum "$part") from=$(written "$part")
rule() { printf '[[rule]]\nserial = "part"\nmeasure = "auto"\nscratch = "label"\njournal = "%s"\n' "$1" >/etc/zerocap/policy.d/20-part.toml; }
rule /tmp/journal
check_exit 1 "a journal that the unit does not see" zerocap policy list
check_has "$ERR" "20-part.toml:5: journal: zerocap-measure@.service has a /tmp of its own" "is told with file and line: $ERR"
rule /srv/journal
check_exit 0 "policy test" zerocap policy test "/dev/$part"
check_has "$OUT" "journal = /srv/journal  by " "shows the journal"
udevadm trigger "/sys/block/$part"
u=$(unit "$part"); wait_for 60 ended "$u"
check_has "$(log "$u")" "20-part.toml:5: journal: /srv/journal: write to: Read-only file system" "the walls keep it out of there, and that is said"
check_has "$(log "$u")" "ReadWritePaths=/srv/journal" "with what opens it"
check_eq "$(written "$part")" "$from" "nothing was written"
mkdir -p "/run/systemd/system/zerocap-measure@.service.d"
printf '[Service]\nReadWritePaths=/srv/journal\n' >"/run/systemd/system/zerocap-measure@.service.d/journal.conf"
systemctl daemon-reload; systemctl reset-failed "$u"
udevadm trigger "/sys/block/$part"
check "with the drop-in it journals there" wait_for 60 sh -c 'ls /host/journal/*.journal'
wait_for 60 sh -c "systemctl show -P SubState $u | grep -qE 'dead|failed'"
wait_for 10 grep -q '"trials"' "/run/zerocap/$(cat "/sys/block/$part/dev").json"
check_eq "$(prop "$part" ZEROCAP_BASIS | tr -d -)" "$(json '(d["basis"] or "").replace("-","")' <"/run/zerocap/$(cat "/sys/block/$part/dev").json")" "and its unit gave an answer"
check_eq "$(sum "$part")" "$before" "the content is back"
check_eq "$(ls /host/journal)" "" "and the journal is gone"
