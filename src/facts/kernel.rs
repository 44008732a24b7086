//! The release of the kernel: where it stands, and which major and minor number it is.

use crate::fact::Fact;
use crate::machine::fs::root::Root;

/// The release as the kernel spells it: `6.17.0-rc3+`.
pub fn release(root: &Root) -> Fact<String> {
    root.text("proc/sys/kernel/osrelease")
}

/// Major and minor number of a kernel release: `6.17.0-rc3+` is 6.17.
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn releases() {
        assert_eq!(version("6.17.0-rc3+"), Some((6, 17)));
        assert_eq!(version("5.14.0-427.el9.x86_64"), Some((5, 14)));
        assert_eq!(version("7"), None);
        assert_eq!(version("linux-6.1"), None);
        assert_eq!(version(""), None);
    }
}
