#!/bin/bash
# host-driver
# The examples of zerocap-verdict(5) as they stand on the page: the compiled ones are built here, all are run
# in a guest on a fast, a slow and an unmeasured disk.
. "$VM_LIB"
repo=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir "$VM_TMP/host"
python3 - "$repo/man/zerocap-verdict.5" "$VM_TMP/host" <<'PY'
import re, sys
page = open(sys.argv[1]).read()
names = ["document.py", "check.sh", "example.c", "example.rs", "node.py", "udev.sh"]
blocks = re.findall(r"\n\.EX\n(.*?)\n\.EE", page, re.S)
assert len(blocks) == len(names), len(blocks)
for name, text in zip(names, blocks):
    for escape, plain in ((r"\-", "-"), (r"\(aq", "'"), (r"\&", ""), (r"\e", "\\")):
        text = text.replace(escape, plain)
    open(f"{sys.argv[2]}/{name}", "w").write(text + "\n")
PY
if ! cc -Wall -Wextra -Werror -o "$VM_TMP/host/example" "$VM_TMP/host/example.c" -lsystemd 2>"$VM_TMP/cc"; then
    fail "the C example builds"; sed 's/^/      /' "$VM_TMP/cc"
else ok "the C example builds without a warning"; fi
if ! rustc -Dwarnings -o "$VM_TMP/host/example-rs" "$VM_TMP/host/example.rs" 2>"$VM_TMP/cc"; then
    fail "the Rust example builds"; sed 's/^/      /' "$VM_TMP/cc"
else ok "the Rust example builds without a warning"; fi
cat >"$VM_TMP/script" <<SH
. "$repo/tests/vm/lib.sh"; trap - EXIT
install_rules; udevadm trigger -s block --settle
for name in fast slow; do
    zerocap measure /dev/\$(disk \$name) --scratch 8MiB+8MiB --max-bytes 64MiB --journal /host/journal >/dev/null || echo "not measured: \$name"
done
settle
for name in fast slow other; do
    dev=/dev/\$(disk \$name)
    json=/run/zerocap/\$(cat /sys/block/\${dev#/dev/}/dev).json
    echo "\$name document.py: \$(python3 /host/document.py "\$json" 2>&1)"
    echo "\$name check.sh: \$(sh /host/check.sh "\$dev" 2>&1)"
    echo "\$name example.c: \$(/host/example "\$dev" 2>&1)"
    echo "\$name example.rs: \$(/host/example-rs "\$dev" 2>&1)"
    echo "\$name node.py: \$(python3 /host/node.py "\$dev" 2>&1)"
    echo "\$name udev.sh: \$(sh /host/udev.sh "\$dev" 2>&1)"
done
/host/example /dev/no-such-disk 2>&1; echo "no device: \$?"
# A document of another disk with the same number is not believed.
json=/run/zerocap/\$(cat /sys/block/\$(disk fast)/dev).json
sed -i 's/"diskseq":[0-9]*/"diskseq":999999/' "\$json"; echo "stale node.py: \$(python3 /host/node.py /dev/\$(disk fast) 2>&1)"
SH
out=$("$VM" -n fast:24M:write_ms_per_mib=20 -n slow:24M:write_ms_per_mib=20,zero_ms_per_mib=20 -n other:24M: \
    -t 120 -o "$VM_TMP/host" "$VM_TMP/script" 2>&1) || fail "the guest ran"
printf '%s\n' "$out" | sed 's/^/      /'
has() { case $'\n'"$out"$'\n' in *$'\n'"$1"$'\n'*) ok "$1" ;; *) fail "$1" ;; esac; }
chunk=$(sed -n 's/^fast document.py: punch holes, \([0-9]*\) bytes a call$/\1/p' <<<"$out")
[ -n "$chunk" ] && ok "fast document.py: punch holes, $chunk bytes a call" || fail "fast document.py"
has "fast check.sh: punch holes"; has "fast example.c: punch holes, $chunk bytes a call"
has "fast example.rs: punch holes"; has "fast node.py: punch holes"; has "fast udev.sh: punch holes"
for name in slow other; do
    for program in document.py check.sh example.c example.rs node.py udev.sh; do has "$name $program: write zeroes"; done
done
has "no device: 2"; has "stale node.py: write zeroes"
