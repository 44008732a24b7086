# Sourced by the tests of clients, after lib.sh: measures the four devices, runs a client three ways on each, compares.
# shellcheck shell=bash
CLIENTS=$(cd "${BASH_SOURCE[0]%/*}/../clients" && pwd)
KINDS=${KINDS-"fast slow none liar"}
ONLY=("$@") # the arguments of the test: only these programs of tests/clients
ROWS=()
declare -A DISK

# clients_measure : names and verdicts of the four devices
clients_measure() {
    local kind code want try
    for kind in $KINDS; do
        DISK[$kind]=$(disk "$kind")
        case $kind in fast) want=0 ;; slow) want=3 ;; none) want=4 ;; liar) want=6 ;; esac
        # On a busy machine a test may not decide; what it costs is not what is tested here.
        for try in 1 2 3; do
            [ "$kind" = none ] || zerocap measure "/dev/${DISK[$kind]}" --scratch 8MiB+8MiB --max-bytes 192MiB --journal /host/journal --data-ok >/tmp/measured 2>&1 ||
                [ "$kind" = liar ] || cat /tmp/measured
            code=0
            zerocap check "/dev/${DISK[$kind]}" >/tmp/said 2>&1 || code=$?
            [ $code != 5 ] || continue
            break
        done
        timed check_eq $code $want "the $kind device is $(sed -n 's/^[a-z0-9]* //p' /tmp/said | head -n 1)"
    done
    settle
    # The programs come over 9p: the first start of each is no one's time.
    for want in "qemu-img --version" "nbdkit --version" "nbdcopy --version" "mkfs.ext4 -V" "mkfs.xfs -V" "zerocap --version" "dd --version" "fallocate -V" "blkdiscard -V" "python3 -c pass"; do
        $want >/dev/null 2>&1
    done
}

# image_of_a_quarter : /tmp/image, 24 MiB of which a quarter holds data, in four runs; the rest are holes
image_of_a_quarter() {
    python3 - <<'PY'
import random
r = random.Random(2)
with open("/tmp/image", "wb") as f:
    f.truncate(24 << 20)
    for start in (0, 6, 12, 18):
        f.seek(start << 20)
        f.write(r.randbytes(3 << 19))
PY
}

# dirty DISK : old data everywhere, nothing of it zero
dirty() {
    local kind
    for kind in $KINDS; do touch "/host/$kind.quick"; done
    python3 - "/dev/$1" <<'PY'
import mmap, os, random, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
size = os.lseek(fd, 0, os.SEEK_END)
block = mmap.mmap(-1, 1 << 20)
block[:] = bytes(b | 1 for b in random.Random(3).randbytes(1 << 20))
for offset in range(0, size, 1 << 20):
    os.pwrite(fd, block, offset)
PY
    for kind in $KINDS; do rm "/host/$kind.quick"; done
    settle
}

# once DISK RIGHT CLIENT ARG... : TIME in ms and STATE (right, wrong or failed) of one run
once() {
    local disk=$1 right=$2 client=$3 from args=()
    shift 3
    dirty "$disk"
    ${BEFORE:-:} "$disk"
    sync
    # A client gets the device last; "--" in its arguments stands for it, and a client on a file system gets none.
    if [ -n "${BEFORE-}" ]; then args=("$@"); else
        local seen='' a
        for a in "$@"; do if [ "$a" = -- ]; then args+=("/dev/$disk"); seen=1; else args+=("$a"); fi; done
        [ -n "$seen" ] || args+=("/dev/$disk")
    fi
    from=$(date +%s%N)
    if "$CLIENTS/$client" "${args[@]}" >/tmp/client 2>&1; then STATE=; else STATE=failed; fi
    TIME=$((($(date +%s%N) - from) / 1000000))
    ${AFTER:-:} "$disk"
    blockdev --flushbufs "/dev/$disk"
    if [ -z "$STATE" ]; then if $right "$disk"; then STATE=right; else STATE=wrong; fi; else sed 's/^/      /' /tmp/client; fi
    ${DONE:-:}
    settle
}

# compare NAME RIGHT CLIENT ARG... : three ways on four devices, in three rounds. All this runs under emulation beside other work,
# so the least time of each way is what is compared; the table has the most too.
compare() {
    local name=$1 right=$2 client=$3 kind way round time most state best
    shift 3
    case "${#ONLY[@]} ${ONLY[*]} " in 0* | *" $client "*) ;; *) return 0 ;; esac
    for kind in $KINDS; do
        declare -A time=() most=() state=()
        for round in 1 2 3; do
            for way in zero write verdict; do
                # Wrong data is wrong however long it took.
                [ "${state[$way]-right}" = right ] || continue
                if [ $way = verdict ]; then once "${DISK[$kind]}" "$right" "$client" "$@"; else
                    once "${DISK[$kind]}" "$right" "$client" --as $way "$@"
                fi
                state[$way]=$STATE
                [ -n "${time[$way]-}" ] && [ "${time[$way]}" -le $TIME ] || time[$way]=$TIME
                [ "${most[$way]-0}" -ge $TIME ] || most[$way]=$TIME
            done
        done
        note "$name, $kind: trusting ${time[zero]} ms (${state[zero]}), writing ${time[write]} ms (${state[write]}), by verdict ${time[verdict]} ms (${state[verdict]})"
        check_eq "${state[verdict]}" right "$name, $kind: by the verdict the data is right"
        if not_slower; then ok "$name, $kind: not slower by the verdict"; else
            timed fail "$name, $kind: ${time[verdict]} ms by the verdict, $best ms without"
        fi
        case $kind in
        fast) if faster; then ok "$name, fast: faster by the verdict"; else
            timed fail "$name, fast: ${time[verdict]} ms by the verdict, ${time[write]} ms by writing"
        fi ;;
        liar) check_eq "${state[zero]}" wrong "$name, liar: trusting the offload leaves old data" ;;
        esac
        ROWS+=("| $name | $kind | $(cell zero) | $(cell write) | **$(cell verdict)** |")
    done
}
# Both of compare's variables. Only ways that ended right are a comparison; the verdict itself costs some processes, which
# take a few hundred milliseconds under emulation.
not_slower() {
    best=${time[write]}
    [ "${state[zero]}" != right ] || [ "${time[zero]}" -ge "$best" ] || best=${time[zero]}
    [ "${time[verdict]}" -le $((best * 5 / 4 + 400)) ]
}
faster() { [ "$kind" != fast ] || [ $((time[verdict] * 3)) -lt $((time[write] * 2)) ]; }
cell() { # of compare's variables
    [ "${state[$1]}" = right ] || { printf '%s data' "${state[$1]}"; return; }
    printf '%d.%02d to %d.%02d s' $((time[$1] / 1000)) $((time[$1] % 1000 / 10)) $((most[$1] / 1000)) $((most[$1] % 1000 / 10))
}

# clients_table : for the README
clients_table() {
    printf 'Linux %s in QEMU (TCG), %s; writing 80 ms/MiB, the slow device zeroes 320 ms/MiB\n\n' "$(uname -r)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    printf '| client | device | trusting the offload | writing every zero | by the verdict |\n|---|---|---|---|---|\n'
    printf '%s\n' "${ROWS[@]}"
}
