# The names of devices, and the words of --scratch, beside what the parser knows.
_zerocap_devices() {
    local d size hidden name
    local -a names
    for d in /sys/block/*(N); do
        hidden=0
        { read -r size <$d/size } 2>/dev/null || continue
        { read -r hidden <$d/hidden } 2>/dev/null
        [[ $size != 0 && $hidden != 1 ]] || continue
        names+=(${d:t})
        { read -r name <$d/dm/name } 2>/dev/null && names+=($name)
    done
    compadd -a names
    _files
}

_zerocap_scratch() {
    compadd -S '' -- @SCRATCH@
    _files
}
