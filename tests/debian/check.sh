# Sourced by the scripts that run in a Debian root.
# shellcheck shell=bash
passes=0 fails=0
# check TEXT COMMAND... : one line, "ok" or "FAIL", and what the command printed where it fails
check() {
    local text=$1 said
    shift
    if said=$("$@" 2>&1); then passes=$((passes + 1)); echo "ok    $text"; else
        fails=$((fails + 1)); echo "FAIL  $text"; printf '%s\n' "$said" | tail -n 30 | sed 's/^/      /'; fi
}
no() { ! "$@"; }
equal() { [ "$1" = "$2" ] || { printf 'is   %s\nshould be %s\n' "$1" "$2"; return 1; }; }
# result : the last line, and whether nothing failed
result() { echo "$passes passed, $fails failed"; [ $fails = 0 ] && [ $passes -gt 0 ]; }
