//! The place where a test may write, as an administrator types it (`ScratchSpec`). It is pure and proves nothing.

use crate::device::display::escape_str;
use crate::units::{parse_size, SIZE_FORMS};
use serde::{Deserialize, Serialize};

/// What an administrator named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ScratchSpec {
    /// A partition node, or a directory of a file system on the device.
    Node(String),
    #[default]
    /// The GPT partition named [`super::LABEL`] on the device.
    Label,
    /// A byte range of the whole device.
    Range {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// The largest gap between the partitions that reads all zero.
    Gap,
    /// A logical volume that is made for the test in this volume group.
    Group(String),
    /// The first of these that is possible: label, gap, an inactive swap partition, a volume in a group, a directory.
    Auto,
}

impl std::str::FromStr for ScratchSpec {
    type Err = String;
    fn from_str(s: &str) -> std::result::Result<Self, String> {
        if s == "label" {
            return Ok(ScratchSpec::Label);
        }
        if s == "gap" {
            return Ok(ScratchSpec::Gap);
        }
        if s == "auto" {
            return Ok(ScratchSpec::Auto);
        }
        if let Some(group) = s.strip_prefix("vg:") {
            // What LVM itself allows in a name (lvm(8)).
            let allowed = |c: char| c.is_ascii_alphanumeric() || "+_.-".contains(c);
            return match !group.is_empty() && !group.starts_with(['-', '.']) && group.chars().all(allowed) {
                true => Ok(ScratchSpec::Group(group.to_owned())),
                false => Err(format!("{group}: this is not a name of a volume group")),
            };
        }
        if let Some((offset, length)) = s.split_once('+').filter(|_| !s.starts_with(['/', '.'])) {
            let bad = |what: &str| format!("{}: this is not a size; give {SIZE_FORMS}", escape_str(what));
            let offset = parse_size(offset).ok_or_else(|| bad(offset))?;
            return match parse_size(length).ok_or_else(|| bad(length))? {
                0 => Err("the range is empty".to_owned()),
                length => Ok(ScratchSpec::Range { offset, length }),
            };
        }
        if ["/", "./", "../"].iter().any(|start| s.starts_with(start)) {
            return Ok(ScratchSpec::Node(s.to_owned()));
        }
        Err("give a partition or logical volume (/dev/…), a directory (/…, ./…), `label`, `gap`, `vg:VG`, `auto`, or OFFSET+LENGTH"
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_places_are_parsed() {
        assert_eq!("label".parse(), Ok(ScratchSpec::Label));
        assert_eq!("gap".parse(), Ok(ScratchSpec::Gap));
        assert_eq!("auto".parse(), Ok(ScratchSpec::Auto));
        assert_eq!("1GiB+64MiB".parse(), Ok(ScratchSpec::Range { offset: 1 << 30, length: 64 << 20 }));
        assert_eq!("1.5G+100MB".parse(), Ok(ScratchSpec::Range { offset: 3 << 29, length: 100_000_000 }));
        assert_eq!("/dev/sda3".parse(), Ok(ScratchSpec::Node("/dev/sda3".to_owned())));
        assert_eq!("/dev/disk/by-label/a+b".parse(), Ok(ScratchSpec::Node("/dev/disk/by-label/a+b".to_owned())));
        assert_eq!("vg:my-vg_0".parse(), Ok(ScratchSpec::Group("my-vg_0".to_owned())));
        for bad in ["vg:", "vg:-x", "vg:a b", "vg:a/b", "", "sda3", "1GiB", "+", "1+0", "1MiB+x", "-1+5"] {
            assert!(bad.parse::<ScratchSpec>().is_err(), "{bad}");
        }
    }
}
