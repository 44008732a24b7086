#!/bin/bash
# The units under a real systemd as process 1: the rule asks for the measurement of a cold-plugged disk, it runs inside
# its walls and its change event publishes; recovery runs at boot and by hand; what the walls keep out.
# vm: -S -m 768
# vm: -n cold:64M:write_ms_per_mib=12 -d part:64M:scsi,discard_granularity=0
# vm: -n vpart:64M:write_ms_per_mib=12,bus=virtio -n wide:64M:write_ms_per_mib=12,bus=virtio
# vm: -n cut:64M:write_ms_per_mib=25,zero_ms_per_mib=5 -d other:16M:scsi
# takes: 130
. "${0%/*}/../lib.sh"
state=/var/lib/zerocap

if [ -n "${VM_BEFORE-}" ]; then
    trap - EXIT
    install_rules
    install_units /etc/systemd/system
    SYSTEMD_OFFLINE=1 systemctl enable zerocap-recover.service
    # A journal in RAM is refused, and it is right to be: the state lies on the host's file system.
    mkdir -p /host/state $state /etc/zerocap/policy.d
    mount --bind /host/state $state
    # What a test leaves that the power cut off while it wrote its journal.
    mkdir -p $state/journal $state/intent
    printf 'half a line' >$state/journal/gone.journal
    cat >$state/intent/gone <<'J'
{"run": [1, 2], "phase": "preparing", "device": "gone", "identity": "gone", "boot_id": "another", "pid": 1, "left_behind": null,
"journal": "/var/lib/zerocap/journal", "journal_digest": null, "zeroed": [], "at": "2026-11-30T08:00:00Z"}
J
    printf '[[rule]]\nserial = "cold"\nmeasure = "auto"\nscratch = "16MiB+16MiB"\n' >/etc/zerocap/policy.d/20-cold.toml
    exit
fi

unit() { echo "zerocap-measure@$(cat "/sys/block/$1/dev").service"; }
# What the journal has of a unit: `systemctl show` has forgotten a unit that has ended well.
log() { journalctl --sync; journalctl -q --no-pager -o cat -u "$1"; }
ended() { log "$1" | grep -qE '^(Finished|Failed to start|Failed with)|Failed with result'; }
# measured DISK HOW CLASS : its unit runs to its end, and udev has the answer
measured() {
    local u published
    u=$(unit "$1")
    wait_for 60 ended "$u"
    check_has "$(log "$u")" "Finished $u" "$2: the unit ends well"
    published=/run/zerocap/$(cat "/sys/block/$1/dev").json
    wait_for 10 grep -q '"trials"' "$published"
    check_eq "$(json 'd["measured"]["trials"] > 0' <"$published")" True "$2: its change event publishes what was measured"
    check_eq "$(prop "$1" ZEROCAP_CLASS)" "$(json 'd["class"]' <"$published")" "$2: as udev's database has it ($(prop "$1" ZEROCAP_CLASS))"
    check_eq "$(prop "$1" SYSTEMD_WANTS)" "" "$2: and the unit is not asked for again"
}

check_eq "$(cat /proc/1/comm)" systemd "process 1"
note "systemd $(systemctl --version | head -1)"

# --- at boot ---
for name in cold part vpart wide cut other; do declare "$name=$(disk $name)"; [ -n "${!name}" ] || exit 1; done
wait_for 20 ended zerocap-recover.service
check_has "$(log zerocap-recover.service)" "gone: the test was cut off before it wrote anything" "recovery ran at boot"
check_has "$(log zerocap-recover.service)" "Finished zerocap-recover.service" "and ended well"
check "it took the unfinished journal away" test ! -e $state/journal/gone.journal
measured "$cold" "cold plug, a range"
timed check_eq "$(prop "$cold" ZEROCAP_CLASS)/$(prop "$cold" ZEROCAP_BASIS)" fast/measured "cold plug: fast, as it is"
both=$(journalctl -q --no-pager -o cat -u zerocap-recover.service -u "$(unit "$cold")")
check_eq "$(grep -oE '^(Finished zerocap-recover|Starting zerocap-measure)' <<<"$both" | head -2)" "Finished zerocap-recover
Starting zerocap-measure" "recovery came first"
starts=$(grep -c "^Starting zerocap-measure" <<<"$both")
check_eq "$starts" 1 "and the test was started once"
[ "$starts" = 1 ] || echo "$both"

# --- a partition as scratch, of drivers that number partitions by their own major ---
for d in "$part" "$vpart" "$wide"; do
    printf 'label: gpt\nstart=2048, size=16384\nstart=65536, size=32768, name=zerocap-scratch\n' | sfdisk -q "/dev/$d"
done
settle
for d in part vpart wide; do
    printf '[[rule]]\npath = "/dev/%s"\nmeasure = "auto"\nscratch = "label"\n' "${!d}" >"/etc/zerocap/policy.d/20-$d.toml"
    if [ $d = vpart ]; then
        # As narrow as it can be made for a disk that is known: the disk and its scratch.
        mkdir -p "/run/systemd/system/$(unit "$vpart").d"
        printf '[Service]\nDeviceAllow=\nDeviceAllow=/dev/block/%s rw\nDeviceAllow=/dev/block/%s rw\n' "$(cat "/sys/block/$vpart/dev")" \
            "$(cat "/sys/block/$vpart/${vpart}2/dev")" >"/run/systemd/system/$(unit "$vpart").d/50-narrow.conf"
        systemctl daemon-reload
    fi
    udevadm trigger "/sys/block/${!d}"
    measured "${!d}" "policy edited, label on $d"
done

# --- what the walls keep out: another program in the same unit ---
fill "$cut"
u=$(unit "$cut")
mkdir -p "/run/systemd/system/$u.d"
cat >/tmp/walls <<'W'
try() { "${@:2}" >/dev/null 2>&1 && echo "$1: yes" || echo "$1: no"; }
opens() { python3 -c 'import os,sys; os.open(sys.argv[1], getattr(os, sys.argv[2]))' "$1" "$2"; }
try "write the disk" opens "/dev/$CUT" O_RDWR
try "write another driver's disk" opens "/dev/$WIDE" O_RDWR
try "write another volume" opens /dev/mapper/secret O_RDWR
try "read another volume" opens /dev/mapper/secret O_RDONLY
try "device mapper" opens /dev/mapper/control O_RDWR
try "write /etc" touch /etc/mine
try "write /usr" touch /usr/mine
try "keep in /etc/zerocap" touch /etc/zerocap/mine
try "keep in /var/lib/zerocap" touch /var/lib/zerocap/mine
try "publish in /run/zerocap" touch /run/zerocap/mine
W
cp /tmp/walls /run/walls # /tmp is its own in there
dmsetup create secret --table "0 8192 linear /dev/$other 0"
cat >"/run/systemd/system/$u.d/50-test.conf" <<D
[Service]
Environment=CUT=$cut WIDE=$wide
ExecStart=
ExecStart=/bin/bash /run/walls
D
systemctl daemon-reload
check "another program in the same walls" systemctl start "$u"
check_eq "$(log "$u" | grep -E ': (yes|no)$')" "write the disk: yes
write another driver's disk: yes
write another volume: no
read another volume: no
device mapper: no
write /etc: no
write /usr: no
keep in /etc/zerocap: yes
keep in /var/lib/zerocap: yes
publish in /run/zerocap: yes" "what they let through, and what not"
dmsetup remove --retry secret
rm -r "/run/systemd/system/$u.d" /etc/zerocap/mine $state/mine /run/zerocap/mine; systemctl daemon-reload

# --- killed in the middle; put back by the unit ---
# A service by its alias is not found while units are being loaded anew: logind runs before anybody asks for it.
systemctl start systemd-logind.service
check "logind answers" wait_for 20 systemd-inhibit --list --no-legend
before=$(sum "$cut") from=$(written "$cut")
printf '[[rule]]\npath = "/dev/%s"\nmeasure = "auto"\nscratch = "16MiB+32MiB"\n' "$cut" >/etc/zerocap/policy.d/20-cut.toml
udevadm trigger "/sys/block/$cut"
check "it writes" wait_written "$cut" "$from" 8
check_has "$(systemd-inhibit --list --no-legend)" zerocap "and keeps the machine awake meanwhile"
systemctl kill --signal=KILL --kill-whom=all "$u"
wait_for 10 sh -c "[ \$(systemctl show -P SubState $u) = failed ]"
check_eq "$(systemctl show -P Result "$u")" signal "the unit was killed"
check_eq "$([ "$(sum "$cut")" = "$before" ] || echo cut)" cut "in the middle of its test"
check "zerocap-recover.service, by hand" systemctl start zerocap-recover.service
check_eq "$(sum "$cut")" "$before" "the content is back, byte for byte"
note "$(log zerocap-recover.service | tail -2 | head -1)"

# --- as text ---
for u in /etc/systemd/system/zerocap-*.service; do
    check "systemd-analyze verify accepts ${u##*/}" systemd-analyze verify --man=no "$u"
done
systemd-analyze security --offline=yes --no-pager /etc/systemd/system/zerocap-*.service 2>/dev/null | grep -i overall | while read -r l; do note "$l"; done
check_eq "$(systemctl --failed --no-legend --plain | cut -d' ' -f1 | grep -v "^$(unit "$cut")")" "" "nothing else failed"
