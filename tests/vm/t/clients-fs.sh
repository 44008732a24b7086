#!/bin/bash
# ring: long
# As clients.sh, for clients that make or use a file system: mkfs.ext4, mkfs.xfs, and a write-ahead log on ext4.
# vm: -n fast:40M:write_ms_per_mib=80,quick=1 -n slow:40M:write_ms_per_mib=80,zero_ms_per_mib=320,quick=1
# vm: -n none:40M:bus=ata,write_ms_per_mib=80,quick=1 -n liar:40M:zero=lie,write_ms_per_mib=80,quick=1 -m 768
. "${0%/*}/../lib.sh"
. "${0%/*}/../clients.sh"
clients_measure

# Where mkfs says that an inode table is zeroed, its unused part is: group 0 holds the few inodes in use.
right_tables() {
    dumpe2fs "/dev/$1" 2>/dev/null >/tmp/groups || return 1
    e2fsck -fn "/dev/$1" >/dev/null 2>&1 || return 1
    python3 - "/dev/$1" <<'PY'
import re, sys
text = open("/tmp/groups").read()
block = int(re.search(r"Block size: +(\d+)", text).group(1))
disk = open(sys.argv[1], "rb")
for group in re.split(r"\nGroup (?=\d+:)", text)[2:]:
    if "ITABLE_ZEROED" in group.split("\n")[0]:
        first, last = map(int, re.search(r"Inode table at (\d+)-(\d+)", group).groups())
        disk.seek(first * block)
        if any(disk.read((last - first + 1) * block)):
            sys.exit(1)
PY
}
compare "mkfs.ext4" right_tables mkfs-ext4 -- -i 1024 -O ^has_journal

# mkfs writes the first block of the log and zeroes the rest: what stays there a later mount could take for records.
right_xfs() {
    xfs_repair -n "/dev/$1" >/dev/null 2>&1 || return 1
    xfs_db -r -c 'sb 0' -c 'p logstart logblocks blocksize agblocks agblklog' "/dev/$1" >/tmp/sb
    python3 - "/dev/$1" <<'PY'
import sys
sb = {k: int(v) for k, v in (line.split(" = ") for line in open("/tmp/sb"))}
group, block = divmod(sb["logstart"], 1 << sb["agblklog"])
disk = open(sys.argv[1], "rb")
disk.seek((group * sb["agblocks"] + block + 1) * sb["blocksize"])
sys.exit(any(disk.read((sb["logblocks"] - 1) * sb["blocksize"])))
PY
}
# So small only to be quick: the log has 12 MiB of the 40.
compare "mkfs.xfs" right_xfs mkfs-xfs -- --unsupported

# The log: 16 MiB, 64 records; what was not written yet must read zero.
right_log() {
    python3 - <<'PY'
import sys
data = open("/m/log", "rb").read()
want = b"".join(n.to_bytes(8, "little") * 1024 for n in range(64))
sys.exit(len(data) != 16 << 20 or data[:len(want)] != want or any(data[len(want):]))
PY
}
mkdir -p /m
log_before() { # on a file system whose free space holds old data, as after a file that was deleted
    mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=1 "/dev/$1"; mount "/dev/$1" /m
}
log_after() { umount /m; mount "/dev/$1" /m; }
log_done() { umount /m; }
BEFORE=log_before AFTER=log_after DONE=log_done compare "write-ahead log" right_log wal /m/log 16 64
clients_table
