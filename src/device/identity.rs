//! The identity of a device, which survives re-plug and reboot, and the file name that is made from it.
//!
//! This file decides which of the kernel's names is stable (DESIGN 2). It reads nothing itself: the parts come from sysfs,
//! and no command is needed. Devices without a stable identity (loop, brd, virtio without a serial) have none, because a
//! guess would give one device's measurement to another.

use super::{display, Kind};
use hmac_sha256::Hash as Sha256;

/// A stable identity: a non-empty text of printable bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity(String);

/// What sysfs gave, each trimmed of blanks at both ends; `None` where the file is not there.
#[derive(Debug, Clone, Default)]
pub struct Parts<'a> {
    /// `wwid` of the disk, else `device/wwid`.
    pub wwid: Option<&'a str>,
    /// `dm/uuid`.
    pub dm_uuid: Option<&'a str>,
    /// `md/uuid`.
    pub md_uuid: Option<&'a str>,
    /// `serial` of a virtio-blk disk.
    pub virtio_serial: Option<&'a str>,
    /// `device/cid` of an MMC card.
    pub mmc_cid: Option<&'a str>,
}

impl Identity {
    /// The identity from what sysfs gave. `name` is the kernel's name: an MMC boot part shares the card's CID, so its
    /// suffix is added.
    pub fn from_parts(kind: Kind, name: &str, parts: &Parts<'_>) -> Option<Identity> {
        let text = |s: Option<&str>| s.map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned);
        let found = text(parts.wwid).or_else(|| match kind {
            Kind::Dm => text(parts.dm_uuid).map(|u| format!("dm.{u}")),
            Kind::Md => text(parts.md_uuid).map(|u| format!("md.{u}")),
            Kind::Virtio => text(parts.virtio_serial).map(|s| format!("virtio.{s}")),
            Kind::Mmc => text(parts.mmc_cid).map(|c| {
                let part =
                    name.strip_prefix("mmcblk").map_or("", |r| r.trim_start_matches(|c: char| c.is_ascii_digit()));
                if part.is_empty() {
                    format!("mmc.{c}")
                } else {
                    format!("mmc.{c}.{part}")
                }
            }),
            _ => None,
        })?;
        // Blanks inside differ between kernels and mean nothing (t10 identities are padded).
        Some(Identity(found.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// The text of the identity; may hold any printable or escaped byte.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file name: every byte outside `A-Za-z0-9.:_-`, and a leading dot, as `\xNN`; over 200 bytes, the first 130,
    /// `-` and the 64 hex digits of SHA-256 of the whole name.
    pub fn file_name(&self) -> String {
        Self::file_name_of(&self.0)
    }

    /// The same of an identity's text, as it stands in a file.
    pub fn file_name_of(text: &str) -> String {
        let mut name = String::new();
        for (i, b) in text.bytes().enumerate() {
            let plain = b.is_ascii_alphanumeric() || b":_-".contains(&b) || (b == b'.' && i > 0);
            if plain {
                name.push(char::from(b))
            } else {
                display::push_hex(&mut name, b)
            }
        }
        if name.len() > 200 {
            // All bytes are ASCII by now, so 130 is a character boundary.
            let digest = display::hex(&Sha256::hash(text.as_bytes()));
            name.truncate(130);
            name = format!("{name}-{digest}");
        }
        name
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What sysfs gave is escaped where it is read: a second time would make a text that no rule fits.
        f.write_str(&display::printable(self.0.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_the_first_of_the_known_sources() {
        let id = |kind, name, parts: Parts<'_>| Identity::from_parts(kind, name, &parts).map(|i| i.0);
        let wwid = Parts { wwid: Some(" eui.0025385 \n"), dm_uuid: Some("LVM-x"), ..Parts::default() };
        assert_eq!(id(Kind::Nvme, "nvme0n1", wwid.clone()).as_deref(), Some("eui.0025385"));
        let dm = Parts { dm_uuid: Some("LVM-abc"), ..Parts::default() };
        assert_eq!(id(Kind::Dm, "dm-0", dm.clone()).as_deref(), Some("dm.LVM-abc"));
        assert_eq!(id(Kind::Loop, "loop0", dm), None, "a loop has no stable identity");
        assert_eq!(id(Kind::Virtio, "vda", Parts { virtio_serial: Some(""), ..Parts::default() }), None);
        let mmc = Parts { mmc_cid: Some("1501"), ..Parts::default() };
        assert_eq!(id(Kind::Mmc, "mmcblk0", mmc.clone()).as_deref(), Some("mmc.1501"));
        assert_eq!(id(Kind::Mmc, "mmcblk0boot0", mmc).as_deref(), Some("mmc.1501.boot0"));
        let t10 = Parts { wwid: Some("t10.ATA     QEMU   X"), ..Parts::default() };
        assert_eq!(id(Kind::Scsi, "sda", t10).as_deref(), Some("t10.ATA QEMU X"));
    }

    #[test]
    fn file_names_stay_inside_their_directory() {
        let name = |s: &str| Identity(s.to_owned()).file_name();
        assert_eq!(name("eui.0025-a:b_c"), "eui.0025-a:b_c");
        assert_eq!(name("../etc"), "\\x2e.\\x2fetc");
        assert_eq!(name("a b\n"), "a\\x20b\\x0a");
        let long = name(&"x".repeat(500));
        assert_eq!(long.len(), 130 + 1 + 64);
        assert_ne!(long, name(&"x".repeat(501)));
    }
}
