#!/bin/bash
# ring: long
# Real clients on a fast, a slow, a none and a lying device: with the verdict, and without it by trusting the offload or by
# writing every zero. Times side by side; what each left is compared byte for byte. tests/clients/* are the clients.
# vm: -n fast:24M:write_ms_per_mib=80,quick=1 -n slow:24M:write_ms_per_mib=80,zero_ms_per_mib=320,quick=1
# vm: -n none:24M:bus=ata,write_ms_per_mib=80,quick=1 -n liar:24M:zero=lie,write_ms_per_mib=80,quick=1 -m 768
# takes: 170
. "${0%/*}/../lib.sh"
. "${0%/*}/../clients.sh"
clients_measure

image_of_a_quarter
right_image() { cmp -s -n $((24 << 20)) /tmp/image "/dev/$1"; }
right_zero() { zerocap is-zero -q "/dev/$1"; }

compare "qemu-img convert" right_image convert /tmp/image
compare "nbdkit + nbdcopy" right_image nbdcopy /tmp/image
compare "wipe" right_zero wipe
clients_table
