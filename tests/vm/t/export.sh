#!/bin/bash
# ring: long
# zerocap-export.service and its timer under a real systemd: inside its walls, without root, it tells what udev published; the
# file is there whole at every moment; where there is no collector it is skipped; no link is followed.
# vm: -S -m 768
# vm: -d disk:64M:scsi
# takes: 60
. "${0%/*}/../lib.sh"
dir=/var/lib/prometheus/node-exporter
if [ -n "${VM_BEFORE-}" ]; then
    trap - EXIT
    install_rules
    install_units /etc/systemd/system
    exit
fi
d=$(disk disk)
settle "$d"
check_eq "$(systemctl is-enabled zerocap-export.timer)" disabled "the timer is not enabled by itself"
check "without a collector's directory it is no failure" systemctl start zerocap-export.service
journalctl --sync # systemctl has forgotten a unit that has ended well
check_has "$(journalctl -q --no-pager -o cat -u zerocap-export.service)" "Skipped due to 'exec-condition'" "it is skipped"
check "and nothing is made" test ! -e $dir

mkdir -p $dir
check "it runs" systemctl start zerocap-export.service
file=$dir/zerocap.prom
check_has "$(cat $file)" "zerocap_class{device=\"$d\",class=\"unknown\"} 1" "the disk is told"
check_eq "$(tail -n 1 $file)" "# EOF" "to the end"
check_eq "$(cat $file)" "$(setpriv --reuid 65534 --regid 65534 --clear-groups zerocap show --openmetrics)" "as one without root is told"
check_eq "$(stat -c '%U:%G %a' $file)" "root:root 644" "the file is root's and for all to read"
check_eq "$(ls -A $dir)" zerocap.prom "nothing is left beside it"
note "$(systemd-analyze security --no-pager zerocap-export.service 2>/dev/null | tail -n 1)"

# Read over and over while it is replaced: never absent, never torn, never a name that the collector reads beside it.
(while [ ! -e /tmp/stop ]; do
    [ "$(tail -n 1 $file 2>&1)" = "# EOF" ] || echo torn
    for f in $dir/*.prom; do [ "$f" = $file ] || echo "$f"; done
    echo read
done) >/tmp/reads &
for _ in 1 2 3 4 5; do systemctl start zerocap-export.service || echo failed >>/tmp/failed; systemctl reset-failed zerocap-export.service 2>/dev/null; done
touch /tmp/stop
wait $!
check "five times again" test ! -e /tmp/failed
check_eq "$(sort -u /tmp/reads)" read "in $(grep -c read /tmp/reads) reads it was whole, and alone"

# Its owner's links lead nowhere else.
printf 'precious\n' >/root/file
ln -s /root/file $dir/.zerocap.prom.new
ln -sf /root/file $file
check "links in the directory" systemctl start zerocap-export.service
check_eq "$(cat /root/file)" precious "are not followed"
check "but replaced" test ! -L $file

mkdir -p /run/systemd/system/zerocap-export.service.d /srv/other
printf '[Service]\nEnvironment=TEXTFILES=/srv/other\n' >/run/systemd/system/zerocap-export.service.d/dir.conf
systemctl daemon-reload
check "a drop-in names another directory" systemctl start zerocap-export.service
check "and it is written there" test -s /srv/other/zerocap.prom
check "the timer starts" systemctl enable --now zerocap-export.timer
check_eq "$(systemctl show -P Unit zerocap-export.timer)" zerocap-export.service "and is the service's"
check "systemd-analyze verify accepts both" systemd-analyze verify --man=no /etc/systemd/system/zerocap-export.service /etc/systemd/system/zerocap-export.timer
