#!/bin/bash
# Real clients on a fast, a slow, a none and a lying device: with the verdict, and without it by trusting the offload or by
# writing every zero. Times side by side; what each left is compared byte for byte. tests/clients/* are the clients.
# vm: -n fast:64M:write_ms_per_mib=24 -n slow:64M:write_ms_per_mib=24,zero_ms_per_mib=96
# vm: -n none:64M:bus=ata,write_ms_per_mib=24 -n liar:64M:zero=lie,write_ms_per_mib=24 -m 768 -t 500
. "${0%/*}/../lib.sh"
. "${0%/*}/../clients.sh"
clients_measure

# 48 MiB of which every fourth MiB holds data, in four runs; the rest are holes.
python3 - <<'PY'
import random
r = random.Random(2)
with open("/tmp/image", "wb") as f:
    f.truncate(48 << 20)
    for start in (0, 12, 24, 36):
        f.seek(start << 20)
        f.write(r.randbytes(3 << 20))
PY
right_image() { cmp -s -n $((48 << 20)) /tmp/image "/dev/$1"; }
right_zero() { zerocap is-zero -q "/dev/$1"; }

compare "qemu-img convert" right_image convert /tmp/image
compare "nbdkit + nbdcopy" right_image nbdcopy /tmp/image
compare "wipe" right_zero wipe
clients_table
