//! The active swap of the kernel: the lines of `/proc/swaps` (proc_swaps(5)). It only reads.

use crate::fact::{Fact, Why};
use crate::machine::fs::mounts::unescape;
use crate::machine::fs::root::Root;

/// Where the list stands.
const SWAPS: &str = "proc/swaps";

/// The files and devices that are active swap, as the kernel names them. A kernel without swap has no such file, and none of
/// them.
pub fn active(root: &Root) -> Fact<Vec<String>> {
    match root.read(SWAPS) {
        Fact::Unknown(Why::Absent) => Fact::Known(Vec::new()),
        read => read.and_then(|bytes| parse(&String::from_utf8_lossy(&bytes))),
    }
}

/// The first line names the columns; the first column of each other is the file.
fn parse(text: &str) -> Fact<Vec<String>> {
    let mut lines = text.lines();
    if !text.ends_with('\n') || lines.next().is_none_or(|head| !head.starts_with("Filename")) {
        return Fact::malformed("it is empty or cut short");
    }
    Fact::Known(lines.filter_map(|line| line.split_whitespace().next()).map(unescape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_table_that_is_cut_short_gives_nothing() {
        // Linux 6.18, with two of them.
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/sda2                               partition\t1048572\t\t0\t\t-2\n\
                    /srv/my\\040swap                          file\t\t65532\t\t12\t\t-3\n";
        assert_eq!(parse(text), Fact::Known(vec!["/dev/sda2".to_owned(), "/srv/my swap".to_owned()]));
        assert_eq!(parse("Filename\tType\tSize\tUsed\tPriority\n"), Fact::Known(Vec::new()));
        for cut in ["", "Filename", &text[..text.len() - 1], "/dev/sda2 partition 1 0 -2\n"] {
            assert!(parse(cut).known().is_none(), "{cut:?}");
        }
    }
}
