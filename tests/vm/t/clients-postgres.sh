#!/bin/bash
# ring: long
# PostgreSQL with its WAL directory on each of the four devices: wal_init_zero off, on, and by the verdict (tests/clients/postgres),
# in three rounds (or as many as the argument says). pgbench fills four segments; then the server is killed and the file system shut
# down as by a power cut, without its journal being flushed: every transaction that pgbench saw committed must be there. A
# benchmark: of times nothing is checked, only of what was written.
# vm: -n fast:64M:write_ms_per_mib=80,quick=1,log=1 -n slow:64M:write_ms_per_mib=80,zero_ms_per_mib=320,quick=1,log=1
# vm: -n none:64M:bus=ata,write_ms_per_mib=80,quick=1,log=1 -n liar:64M:zero=lie,write_ms_per_mib=80,quick=1,log=1 -m 1024
# vm: -e "$("$here/extra" postgresql postgresql-17 postgresql-client-17 libpq5)"
# takes: 900
. "${0%/*}/../lib.sh"
. "${0%/*}/../clients.sh"
ROUNDS=${1-3} TRANSACTIONS=128
pg=/persist/usr/lib/postgresql/17/bin
export LD_LIBRARY_PATH=/persist/usr/lib/x86_64-linux-gnu PATH=$pg:$PATH PGHOST=/tmp PGDATABASE=postgres PGUSER=nobody LC_ALL=C
as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; } # PostgreSQL refuses root
quick() { local k; for k in $KINDS; do if [ "$1" = on ]; then touch "/host/$k.quick"; else rm -f "/host/$k.quick"; fi; done; }
mkdir -p /m /data
chown 65534:65534 /data
clients_measure
quick on
as initdb -D /data/first -A trust -N --wal-segsize=2 >/tmp/initdb 2>&1 || { cat /tmp/initdb; fail initdb; }
# All of a transaction's 64 KiB go to the WAL. A segment is never used twice, as where the load grows; no checkpoint by itself.
cat >>/data/first/postgresql.conf <<'C'
listen_addresses = ''
unix_socket_directories = '/tmp'
wal_recycle = off
wal_compression = off
autovacuum = off
max_wal_size = 48MB
min_wal_size = 4MB
checkpoint_timeout = 1h
shared_buffers = 16MB
fsync = on
C
server() { as pg_ctl -D /data/now -s -w -t 300 -l /data/log "$@" || { tail -n 20 /data/log; return 1; }; }
cp -a /data/first /data/now
server start
as psql -q <<'S'
create table seed (k int primary key, d bytea);
alter table seed alter d set storage external;
insert into seed select k, (select string_agg(sha512((k::text || '.' || i)::bytea), '') from generate_series(1, 1024) i) from generate_series(0, 15) k;
create table t (n bigint primary key, d bytea);
alter table t alter d set storage external;
S
server stop
rm -rf /data/first
mv /data/now /data/first
# The n of a transaction tells its data, of which nothing can be compressed.
cat >/tmp/script <<'S'
\set n random(1, 1000000000000)
insert into t select :n, d from seed where k = mod(:n, 16);
S
# once_pg DISK WAY : TIME of pgbench in ms; for how long the disk was BUSY, in ms, and MIB written to it, the making of segments with
# it; SETTING of wal_init_zero; STATE of the data afterwards
once_pg() {
    local disk=$1 way=$2 from there before after line
    dirty "$disk"
    quick on
    mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=1 "/dev/$disk"
    mount "/dev/$disk" /m
    cp -a /data/first /data/now
    mv /data/now/pg_wal /m/wal
    ln -s /m/wal /data/now/pg_wal
    sync
    quick off
    STATE=
    before=($(cat "/sys/block/$disk/stat")) line=$(wc -l <"/host/$kind.log")
    as "$CLIENTS/postgres" $([ "$way" = verdict ] || echo --as "$way") /data/now 6 >/tmp/client 2>&1 || { STATE=failed; sed 's/^/      /' /tmp/client; }
    SETTING=$(tail -n 1 /data/now/postgresql.conf)
    server start || STATE=failed
    from=$(date +%s%N)
    as pgbench -n -f /tmp/script -t $TRANSACTIONS -c 1 >/tmp/bench 2>&1 || { STATE=failed; cat /tmp/bench; }
    TIME=$((($(date +%s%N) - from) / 1000000))
    after=($(cat "/sys/block/$disk/stat"))
    BUSY=$((after[9] - before[9])) MIB=$(awk -v from="$line" 'NR > from && $1 == "write" { n += $3 } END { print int(n / 1048576) }' "/host/$kind.log")
    # As a power cut: what is in the page cache of the file system is lost, and so is the server.
    kill -KILL "$(head -n 1 /data/now/postmaster.pid)"
    xfs_io -x -c 'shutdown' /m >/dev/null 2>&1 || fail "the file system cannot be shut down"
    while pgrep -x postgres >/dev/null; do sleep 0.2; done
    umount /m
    quick on
    mount "/dev/$disk" /m
    rm -f /data/now/postmaster.pid
    server start || STATE=failed
    there=$(as psql -qAtc "select count(*), count(*) filter (where t.d = seed.d) from t join seed on k = mod(n, 16)")
    [ -n "$STATE" ] || { if [ "$there" = "$TRANSACTIONS|$TRANSACTIONS" ]; then STATE=right; else STATE=wrong; note "$there"; fi; }
    server -m immediate stop
    umount /m
    rm -rf /data/now
}
declare -A least most busy mib
for kind in $KINDS; do
    for ((round = 1; round <= ROUNDS; round++)); do
        for way in off on verdict; do
            once_pg "${DISK[$kind]}" $way
            note "$kind, $way, round $round: $TIME ms, the disk busy for $BUSY ms, $MIB MiB written, $STATE"
            check_eq "$STATE" right "PostgreSQL, $kind, $way, round $round: all that was committed is there"
            if [ $way = verdict ]; then
                case $kind in fast) want=off ;; *) want=on ;; esac
                check_eq "$SETTING" "wal_init_zero = $want" "PostgreSQL, $kind, round $round: by the verdict $want"
            fi
            key=$kind/$way
            [ "${least[$key]-999999999}" -le $TIME ] || least[$key]=$TIME
            [ "${most[$key]-0}" -ge $TIME ] || most[$key]=$TIME
            [ "${busy[$key]-999999999}" -le $BUSY ] || busy[$key]=$BUSY
            [ "${mib[$key]-0}" -ge $MIB ] || mib[$key]=$MIB
        done
    done
done
# What is written needs no clock: with its default the server writes each new segment twice.
check "fast: by the verdict less is written than by the default (${mib[fast/verdict]} of ${mib[fast/on]} MiB)" test $((mib[fast/verdict] * 4)) -le $((mib[fast/on] * 3))
sec() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }
cell() { echo "$(sec "${least[$1]}") to $(sec "${most[$1]}") s, $(sec "${busy[$1]}") s, ${mib[$1]} MiB"; }
echo '| device | `wal_init_zero=off` | `wal_init_zero=on` | by the verdict |'
echo '|---|---|---|---|'
for kind in $KINDS; do echo "| $kind | $(cell "$kind/off") | $(cell "$kind/on") | **$(cell "$kind/verdict")** |"; done
