
# The names of devices, and the words of --scratch, beside what the parser knows.
function __zerocap_devices
    for d in /sys/block/*
        set -l size (cat $d/size 2>/dev/null); or continue
        set -l hidden (cat $d/hidden 2>/dev/null)
        if test "$size" != 0 -a "$hidden" != 1
            string replace -r ".*/" "" $d
            cat $d/dm/name 2>/dev/null
        end
    end
end
complete -c zerocap -n "__fish_zerocap_using_subcommand measure" -l scratch -r -a "@SCRATCH@"
