#!/bin/bash
# ring: long
# Who bears which identity is told by events, so that an answer need not ask every device. Two disks that bear one identity are
# found whatever stands in that index: whole, missing, of disks that are gone, torn, or somebody else's.
# vm: -n one:64M
. "${0%/*}/../lib.sh"
install_rules
index=/run/zerocap/bearers
nvme=$(disk one)
sdebug lbpws=1 add_host=2 vpd_use_hostno=0 dev_size_mb=8 >/dev/null
mapfile -t twins < <(sdebug_disks)
udevadm trigger -c change -s block; settle
check_eq "${#twins[@]}/$(cat "/sys/block/${twins[0]}/device/wwid")" "2/$(cat "/sys/block/${twins[1]}/device/wwid")" "two disks of one identity"
check_eq "$(awk '{print $1}' $index | sort | tr '\n' ' ')" "$(printf '%s\n' "$nvme" "${twins[@]}" | sort | tr '\n' ' ')" "each disk has a line"
check_eq "$(awk -v d="$nvme" '$1==d {print $3}' $index)" "$(cat "/sys/block/$nvme/wwid")" "with its identity"
check_eq "$(stat -c %U:%a $index)" root:644 "the index is root's, for all to read"
shared() { zerocap show --json "/dev/$1" | json "'identity-shared' in [f['code'] for f in d[0]['findings']]"; }
all() { zerocap show --json --all; }
whole=$(all)
told() { # told TEXT : both are found, the third is not, and a list of all says the same
    check_eq "$(shared "${twins[0]}")/$(shared "${twins[1]}")/$(shared "$nvme")" True/True/False "$1"
    check_eq "$(all)" "$whole" "$1: all devices as with the index"
}
told "the index is whole"
cp $index /tmp/whole
rm $index; told "no index"
check_exit 0 "an event" env ACTION=change zerocap udev "/dev/${twins[0]}"
told "an event that changes nothing makes no line"
sed 's/^\(sd[a-z]*\) .*/\1 1 gone/' /tmp/whole >$index; told "lines of disks that are gone"
head -c -7 /tmp/whole >$index; told "the last line is torn"
printf 'sd' >$index; tail -n +2 /tmp/whole >>$index; told "a line that another was torn before"
sed 's/^\([^ ]* [0-9]*\) .*/\1 other/' /tmp/whole >$index
check_eq "$(shared "${twins[0]}")" False "what is root's own is believed, and no other disk is asked"
chown nobody $index; told "somebody else's"
chown root $index; chmod 666 $index; told "one that others may write"
head -c 100000 /dev/urandom >$index; chmod 644 $index; told "no text"
# What an event does with it: a line that is missing comes with the next thing that is news.
rm -f $index /run/zerocap/*.json
udevadm trigger -c change -s block; settle
check_eq "$(sort $index)" "$(sort /tmp/whole)" "the index comes again with the documents"
sdebug_rm >/dev/null; settle
sdebug lbpws=1 dev_size_mb=8 >/dev/null; settle
new=$(sdebug_disks | head -1)
check_eq "$(shared "$new")" False "another disk of that name shares no identity"
check_eq "$(awk -v d="$new" '$1==d' $index | tail -1 | cut -d' ' -f3)" "$(cat "/sys/block/$new/device/wwid")" "and has a line of its own"
