
# The names of devices, and the words of --scratch, beside what the parser knows.
_zerocap_devices() {
    local d size hidden name
    for d in /sys/block/*; do
        hidden=0
        { read -r size <"$d/size"; } 2>/dev/null || continue
        { read -r hidden <"$d/hidden"; } 2>/dev/null
        [[ $size != 0 && $hidden != 1 ]] || continue
        printf '%s\n' "${d##*/}"
        { read -r name <"$d/dm/name"; } 2>/dev/null && printf '%s\n' "$name"
    done
}

_zerocap_words() {
    _zerocap "$@"
    local cur=${COMP_WORDS[COMP_CWORD]} word value='' verb='' named=0
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ -n $value ]]; then value=''; continue; fi
        case " @VALUES@ " in *" $word "*) value=$word; continue ;; esac
        case $word in
        -*) ;;
        *) case "|@BOTH@|" in *"|${verb:+$verb }$word|"*) verb=${verb:+$verb }$word ;; *) named=$((named + 1)) ;; esac ;;
        esac
    done
    if [[ $value = --scratch ]]; then
        COMPREPLY=($(compgen -W '@SCRATCH@' -- "$cur") $(compgen -f -- "$cur"))
    elif [[ -z $value && $cur != -* ]]; then
        case "|@MANY@|" in *"|$verb|"*) named=0 ;; esac
        case "|@DEVICES@|" in *"|$verb|"*) [[ $named != 0 ]] || COMPREPLY+=($(compgen -W "$(_zerocap_devices)" -- "$cur")) ;; esac
    fi
}
complete -F _zerocap_words -o bashdefault -o default zerocap
