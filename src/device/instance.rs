//! Decides whether the device that has a device number now is the one that had it when something was recorded about it. It
//! does no I/O.
//!
//! A device number is reused. The kernel's sequence number of a disk (diskseq) is never reused in a boot, but Linux before
//! 5.15 has none. There the boot, the number and the size are compared, which makes a match likely but not certain.

use serde::{Deserialize, Serialize};

/// What tells a device from the next one of its number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Instance {
    /// The kernel's sequence number of the disk (Linux 5.15).
    #[serde(default)]
    pub diskseq: Option<u64>,
    /// The boot; it counts where there is no sequence number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The size in bytes; it counts where there is no sequence number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Whether two are one device, given that both had one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// As far as the kernel lets anybody tell.
    Yes,
    /// Certainly not.
    No,
    /// It may be: enough to be careful by, and for nothing else.
    Perhaps,
}

impl Instance {
    /// Whether this, noted of a device, is of the one that has its number `now`.
    pub fn is(&self, now: &Instance) -> Same {
        let same = |yes: bool, otherwise: Same| if yes { Same::Yes } else { otherwise };
        match (self.diskseq, now.diskseq) {
            (Some(then), Some(now)) => same(then == now, Same::No),
            (None, None) => match (&self.boot_id, &now.boot_id) {
                // A disk may grow, so another size alone is no proof of another disk.
                (Some(then), Some(of_now)) if then == of_now => {
                    same(self.size_bytes.is_some() && self.size_bytes == now.size_bytes, Same::Perhaps)
                }
                (Some(_), Some(_)) => Same::No,
                _ => Same::Perhaps,
            },
            // One of them could not be read: the kernel gives all disks one, or none.
            _ => Same::Perhaps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_instance_is_neither_the_same_nor_another_device() {
        let of = |diskseq, boot: &str, size| Instance {
            diskseq,
            boot_id: Some(boot.to_owned()).filter(|b| !b.is_empty()),
            size_bytes: size,
        };
        for (then, now, same) in [
            (of(Some(7), "", None), of(Some(7), "b", Some(1)), Same::Yes),
            (of(Some(7), "a", Some(1)), of(Some(8), "a", Some(1)), Same::No),
            (of(None, "a", Some(1)), of(None, "a", Some(1)), Same::Yes),
            (of(None, "a", Some(1)), of(None, "a", Some(2)), Same::Perhaps),
            (of(None, "a", None), of(None, "a", None), Same::Perhaps),
            (of(None, "a", Some(1)), of(None, "b", Some(1)), Same::No),
            (of(None, "", Some(1)), of(None, "b", Some(1)), Same::Perhaps),
            (of(None, "", Some(1)), of(None, "", Some(1)), Same::Perhaps),
            (of(Some(7), "a", Some(1)), of(None, "a", Some(1)), Same::Perhaps),
            (of(None, "a", Some(1)), of(Some(7), "a", Some(1)), Same::Perhaps),
        ] {
            assert_eq!(then.is(&now), same, "{then:?} {now:?}");
        }
    }
}
