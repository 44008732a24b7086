#!/bin/bash
# A report of a real test on NVMe: it is drawn from what was just measured and again from what is kept, the single times are
# root's and bounded, a recording has them, and a file that is no report stops the test before it begins.
# vm: -n fast:64M:write_ms_per_mib=12 -n slow:64M:zero_ms_per_mib=12,write_ms_per_mib=12
# ring: long
# takes: 60
. "${0%/*}/../lib.sh"
install_rules
J="--journal /host/journal --data-ok --max-bytes 512MiB"

fast=$(disk fast) slow=$(disk slow)
for d in $fast $slow; do fill "$d"; done

before=$(sum "$fast")
echo mine >/host/notes.html
check_exit 2 "a file that is no report is refused" zerocap measure "/dev/$fast" --scratch 16MiB+32MiB $J --report /host/notes.html
check_has "$ERR" "/host/notes.html" "and named"
check_eq "$(cat /host/notes.html)" mine "and left as it is"
check "nothing was measured" test ! -e /etc/zerocap/devices
check_eq "$(sum "$fast")" "$before" "nor written"

check_exit 0 "measure with a report" zerocap measure "/dev/$fast" --scratch 16MiB+32MiB $J --report /host/fast.html
note "$(head -1 <<<"$OUT")"
check_has "$(cat /host/fast.html)" "<h1>$(head -1 <<<"$OUT")</h1>" "the page has the answer"
check_has "$(cat /host/fast.html)" "Every pair in the order of time" "and the pairs"
check_has "$OUT" "pairs in order" "the terminal draws them small"
check_eq "$(sum "$fast")" "$before" "the whole device has the content that it had before"
samples=$(echo /etc/zerocap/samples/*.json)
check_eq "$(stat -c '%U %a' "$samples")" "root 644" "the samples are root's: $samples"
check_eq "${samples##*/}" "$(ls /etc/zerocap/devices)" "beside the measurement of the same name"
check "within their bound" test "$(stat -c %s "$samples")" -le 262144
note "$(stat -c '%s bytes of samples' "$samples"), $(stat -c '%s bytes of report' /host/fast.html)"

check_exit 0 "measure the slow one" zerocap measure "/dev/$slow" --scratch 16MiB+32MiB $J --interference --report /host/slow.html
check_exit 0 "draw it again from what is kept" zerocap show "/dev/$fast" --report /host/again.html
check_eq "$(grep -c '<figure>' /host/again.html)" "$(grep -c '<figure>' /host/fast.html)" "as many pictures"
check_exit 0 "record it" zerocap record "/dev/$fast" /host/recorded
check_exit 0 "and draw the recording" zerocap show "$fast" --root /host/recorded --report /host/replayed.html
check_eq "$(grep -c '<figure>' /host/replayed.html)" "$(grep -c '<figure>' /host/fast.html)" "as many pictures"
check_exit 0 "forget it" zerocap policy forget "/dev/$fast"
check "the samples are gone with it" test ! -e "$samples"
