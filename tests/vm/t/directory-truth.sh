#!/bin/bash
# ring: long
# Devices of known truth, each by a file in an ext4 on it and by a partition of the same disk: the same class, and ratios whose
# intervals meet. The file beside, and all of the disk that is not the file system's, are as before.
# vm: -m 1536 -n half:256M:write_ms_per_mib=12,zero_ms_per_mib=24 -n same:256M:write_ms_per_mib=12,zero_ms_per_mib=12
# vm: -n more:256M:write_ms_per_mib=30,zero_ms_per_mib=12 -n fast:256M:write_ms_per_mib=60,zero_ms_per_mib=6
# vm: -n lie:256M:zero=lie,write_ms_per_mib=12 -n burst:256M:write_ms_per_mib=12,owe_ms_per_mib=12,owe_most_mib=3
# takes: 360
. "${0%/*}/../lib.sh"
. "${0%/*}/../directories.sh"
install_rules
for truth in half:slow same:slow more:fast fast:fast lie:broken burst:slow; do
    name=${truth%:*} want=${truth#*:} start=$SECONDS
    d=$(disk "$name")
    prepare "$d"
    before=$(beside "$d") file=$(sha256sum <"/mnt/$d/a/file") used=$(df --output=used "/mnt/$d" | tail -1)
    check_exit 0 "$name: by a file" zerocap measure "/dev/$d" --scratch "/mnt/$d/a" $B --json
    by_file=$(json 'd["class"]' <<<"$OUT") note_file="$(ratio) $(json '[f["code"] for f in d["findings"]], d["measured"] and d["measured"]["scratch"], d["method"]' <<<"$OUT")"
    in_file=$(ratio)
    note "by a file: $note_file ($((SECONDS - start)) s)"
    timed check_eq "$by_file" "$want" "$name: $want by a file"
    check_eq "$(json 'd["measured"]["scratch"], d["method"]' <<<"$OUT")" "('directory /mnt/$d (ext4)', 'write-zeroes')" "$name: it says by what"
    check_eq "$(beside "$d")" "$before" "$name: what is no part of the file system is as before"
    check_eq "$(sha256sum <"/mnt/$d/a/file")" "$file" "$name: the file beside it is as before"
    sync; check_eq "$(df --output=used "/mnt/$d" | tail -1)" "$used" "$name: no space is left used"
    check_eq "$(ls "/mnt/$d/a")" file "$name: no file is left"
    check "$name: no intent and no journal is left" test -z "$(find /var/lib/zerocap /run/zerocap/intent -type f 2>/dev/null | grep -v samples)"
    start=$SECONDS
    check_exit 0 "$name: by a partition" zerocap measure "/dev/$d" --scratch label --journal /host/journal $B --json
    note "by a partition: $(ratio) $(json '[f["code"] for f in d["findings"]]' <<<"$OUT") ($((SECONDS - start)) s)"
    timed check_eq "$(json 'd["class"]' <<<"$OUT")" "$by_file" "$name: the same class by a partition"
    check_not "$(json '[f["code"] for f in d["findings"]]' <<<"$OUT")" verdict-changed "$name: and no contradiction is told"
    [ "$want" = broken ] || [ "$name" = burst ] || timed check "$name: the two ratios are within 25 % of each other's interval" \
        python3 -c 'import sys; a, b = (eval(x) for x in sys.argv[1:]); sys.exit(not (a[1] * 0.75 <= b[0] <= (a[2] or 1e9) * 1.25 or b[1] * 0.75 <= a[0] <= (b[2] or 1e9) * 1.25))' "$in_file" "$(ratio)"
    umount "/mnt/$d"
done
