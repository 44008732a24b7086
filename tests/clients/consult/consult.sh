# Reads device nodes, one on each line, and prints what to do with a range that has to read as zero, by udev's properties.
while read -r node; do
    number=$(printf '%d:%d' $(stat -L -c '0x%t 0x%T' "$node"))
    dir=/sys/dev/block/$number
    [ ! -e "$dir/partition" ] || dir=$(readlink -f "$dir")/..
    properties=$(udevadm info --query=property --name="$node")
    get() { printf '%s\n' "$properties" | sed -n "s/^ZEROCAP_$1=//p"; }
    class=unknown
    # The properties are those of this disk (Linux before 5.15 has no sequence number), and its published document exists.
    if [ "$(get DISKSEQ)" = "$(cat "$dir/diskseq" 2>/dev/null)" ] &&
        [ -e "/run/zerocap/$(cat "$dir/dev").json" ]; then
        class=$(get CLASS)
    fi
    case $class,$(get VERIFIED),,$(get FINDINGS), in
    broken,*) echo "write, never zero or discard" ;;
    fast,*,deferred-cost,*) echo "zero only what stays empty" ;;
    fast,1,*) echo "zero" ;;
    fast,*) echo "zero, read back a sample" ;;
    *) echo "write" ;;
    esac
done
