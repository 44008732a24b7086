#!/bin/bash
# ring: long
# Space in files (`--scratch DIR`) on ext4 and xfs over a device whose knob is on, and what others lack; long spans
# (`--deep`) and what zeroing does to others meanwhile (`--interference`).
# vm: -m 1536 -d ext:256M:nvme -d xfs:512M:nvme -d none:256M:virtio -d deep:384M:virtio -n load:64M:zero_ms_per_mib=40,write_ms_per_mib=16
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok"
ext=$(disk ext) xfs=$(disk xfs) none=$(disk none)
mkdir -p /mnt/ext /mnt/xfs /mnt/none
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$ext" && mount "/dev/$ext" /mnt/ext
mkfs.xfs -q "/dev/$xfs" && mount "/dev/$xfs" /mnt/xfs
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$none" && mount "/dev/$none" /mnt/none
settle
for fs in ext xfs; do
    d=$(disk $fs) dir=/mnt/$fs/a
    mkdir -p $dir; dd if=/dev/urandom of=$dir/file bs=1M count=8 status=none; sync
    before=$(sha256sum <$dir/file) free=$(df --output=used $dir | tail -1)
    check "the knob is on" test "$(q "$d" write_zeroes_unmap_max_bytes)" -gt 0
    check_exit 0 "$fs: the plan" zerocap measure "/dev/$d" --scratch $dir --dry-run
    check_has "$OUT" "one file without a name" "$fs: it says what it would make"
    check_eq "$(df --output=used $dir | tail -1)" "$free" "$fs: a dry run makes nothing"
    check_exit 0 "$fs: measured" zerocap measure "/dev/$d" --scratch $dir --max-seconds 15 --json
    note "$(json 'd["overwrite"]' <<<"$OUT")"
    check_eq "$(json 'all(d["overwrite"][k] > 0 for k in ("unwritten", "write_zeroes", "written", "gain", "zero_bytes_per_second"))' <<<"$OUT")" True "$fs: all figures are there"
    settle
    check_eq "$(zerocap show "/dev/$d" --json | json 'd[0]["overwrite"]["gain"] > 0')" True "$fs: it is kept"
    check_eq "$(json 'd["overwrite"]["gain"] > 0' <"/run/zerocap/$(cat "/sys/block/$d/dev").json")" True "$fs: and published"
    check_eq "$(ls $dir)" file "$fs: no file is left"
    sync
    check_eq "$(df --output=used $dir | tail -1)" "$free" "$fs: no space is left used"
    check_eq "$(sha256sum <$dir/file)" "$before" "$fs: the file beside it is as before"
    check "$fs: no intent is left" test -z "$(find /var/lib/zerocap/intent /run/zerocap/intent -type f)"
done
check_eq "$(zerocap measure "/dev/$ext" --scratch /mnt/ext/a --max-seconds 5 --json | json 'd["overwrite"]["verified"]')" True "ext4 keeps the place: zeroes were read where data had been"
echo 0 >"/sys/block/$ext/queue/write_zeroes_unmap_max_bytes"
check_exit 1 "with the knob off" zerocap measure "/dev/$ext" --scratch /mnt/ext --max-seconds 5 --json
check_has "$ERR" "write_zeroes_unmap_max_bytes is 0" "it is refused"
check_exit 0 "a device that does not unmap" zerocap measure "/dev/$none" --scratch /mnt/none --max-seconds 5 --json
check_has "$(json 'd["overwrite"]["lacks"]' <<<"$OUT")" "does not zero by unmapping" "is said"
check_eq "$(json 'd["class"], d["measured"]' <<<"$OUT")" "('unknown', None)" "no class comes of it"
check_exit 1 "a directory of another device" zerocap measure "/dev/$ext" --scratch /mnt/xfs
check_has "$ERR" "lies on $xfs" "is refused by name"
check_exit 1 "a directory in memory" zerocap measure "/dev/$ext" --scratch /tmp
check_has "$ERR" "in memory" "is refused"
dd if=/dev/zero of=/mnt/ext/full bs=1M count=120 status=none; sync
check_exit 1 "a file system that is nearly full" zerocap measure "/dev/$ext" --scratch /mnt/ext
check_has "$ERR" "are needed" "is refused"
umount /mnt/none /mnt/ext /mnt/xfs

# --- long spans: a virtio disk's limit is 2 GiB, so that one command may be over 65536 blocks ---
deep=$(disk deep)
fill "$deep"
before=$(sum "$deep")
check_exit 0 "deep, planned" zerocap measure "/dev/$deep" --scratch 32MiB+320MiB $J --deep --dry-run
check_has "$OUT" "one command of $((48 << 20)) bytes" "the plan names the command"
check_exit 0 "deep" zerocap measure "/dev/$deep" --scratch 32MiB+320MiB $J --deep --json
note "$(json 'd["class"], d["deep"]' <<<"$OUT")"
check_eq "$(json 'd["deep"]["bytes"], d["deep"]["command_bytes"]' <<<"$OUT")" "($((256 << 20)), $((48 << 20)))" "as long as planned"
check_eq "$(sum "$deep")" "$before" "the whole device is as before"

# --- others meanwhile: a zeroing command of 512 KiB holds the medium for 20 ms, a write of 4 KiB for a sixteenth of one ---
load=$(disk load)
fill "$load"
before=$(sum "$load")
check_exit 0 "interference" zerocap measure "/dev/$load" --scratch 16MiB+16MiB $J --interference --json
note "$(json 'd["interference"]' <<<"$OUT")"
timed check_eq "$(json 'all(d["interference"][k][w]["count"] > 10 for k in ("read", "write") for w in ("with", "without"))' <<<"$OUT")" True "figures of both, with and without"
timed check_eq "$(json 'd["interference"]["write"]["with"]["p50_nanoseconds"] > 4 * d["interference"]["write"]["without"]["p50_nanoseconds"]' <<<"$OUT")" True "writes wait for the zeroing"
check_eq "$(sum "$load")" "$before" "the whole device is as before"
check_has "$(zerocap show "/dev/$load")" "beside it" "the detail shows it"
