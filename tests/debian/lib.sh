# Sourced by what makes Debian roots: the programs for it, and the archive that this machine's own apt uses.
# The caller has `say TEXT` and `die TEXT`. ZEROCAP_VM_MIRROR names another archive.
# shellcheck shell=bash

# debian_programs LOG PACKAGE:PROGRAM... : installs what is missing
debian_programs() {
    local log=$1 pair need=
    shift
    for pair in "$@"; do command -v "${pair#*:}" >/dev/null || need="$need ${pair%:*}"; done
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need="$need debian-archive-keyring"
    [ -n "$need" ] || return 0
    say "installing$need"
    _fetch() { # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends $need >"$log" 2>&1
    }
    _fetch || { apt-get -qq update && _fetch; } || { cat "$log" >&2; die "apt-get install failed"; }
}

# The archive that apt already uses for this machine's own Debian release.
_mirror() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        awk '$3 == "main" && $2 !~ /-/ { sub("/$", "", $1); print $1; exit }'
}

# debian_archive : sets uri, trust (before the URI in a line of sources.list) and opts (for mmdebstrap)
debian_archive() {
    local line
    uri=${ZEROCAP_VM_MIRROR:-$(_mirror)}
    [ -n "$uri" ] || { apt-get -qq update; uri=$(_mirror); }
    [ -n "$uri" ] || die "apt knows no Debian archive; name one in ZEROCAP_VM_MIRROR"
    # [trusted=yes] of the machine's own entry is kept for the same archive; nothing else switches the signatures off.
    trust=
    if grep -rhsE '^[^#]*trusted(=|: *)yes' /etc/apt/sources.list /etc/apt/sources.list.d >/dev/null; then trust='[trusted=yes] '; fi
    # Proxies, TLS settings and the like, as this machine has them; the default values would do no harm, only noise.
    opts=()
    while IFS= read -r line; do opts+=(--aptopt="$line"); done < <(apt-config dump |
        grep -E '^(Acquire::(https?|Proxy|Retries|ForceIPv|Check-|Allow)|APT::Get::AllowUnauthenticated)' | grep -v '""' || true)
}
