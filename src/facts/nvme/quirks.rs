//! The kernel's table of NVMe devices whose Write Zeroes it does not use, or replaces (`nvme_id_table` of
//! drivers/nvme/host/pci.c; fieldguide 3.5). It is used only to explain a limit of 0 in words. The table of the running
//! kernel may differ, so no class, expectation or finding depends on it.

/// One entry of the kernel's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// PCI vendor ID.
    pub vid: u64,
    /// PCI device ID.
    pub did: u64,
    /// The kernel's name of the quirk.
    pub name: &'static str,
    /// The product, as the table names it.
    pub product: &'static str,
}

const fn off(vid: u64, did: u64, product: &'static str) -> Quirk {
    Quirk { vid, did, name: "disable_write_zeroes", product }
}

const fn dsm(vid: u64, did: u64, product: &'static str) -> Quirk {
    Quirk { vid, did, name: "deallocate_zeroes", product }
}

/// Kernels 6.1, 6.12 and 7.3, read side by side; what stands in some of them only is said in the product's name.
const TABLE: &[Quirk] = &[
    off(0x8086, 0xf1a5, "Intel 600P/P3100"),
    off(0x8086, 0x5845, "old QEMU emulated controller"),
    off(0x144d, 0xa822, "Samsung PM1725a"),
    off(0x144d, 0xa80b, "Samsung PM9B1 256G/512G"),
    off(0x144d, 0xa809, "Samsung MZALQ256HBJD 256G"),
    off(0x15b7, 0x2001, "SanDisk Skyhawk"),
    off(0x1987, 0x5019, "Phison E19"),
    off(0x1987, 0x5021, "Phison E21"),
    off(0x1c5c, 0x1504, "SK hynix PC400"),
    off(0x1c5c, 0x1d59, "SK hynix BC901 (from 6.12)"),
    off(0x1cc4, 0x6302, "UMIS RPJTJ256MGE1QDY"),
    off(0x1cc4, 0x6303, "UMIS RPJTJ512MGE1QDY"),
    off(0x1d97, 0x2263, "SPCC, Lexar NM610"),
    off(0x2646, 0x5016, "Kingston OM3PGP4xxxxP"),
    off(0x2646, 0x5018, "Kingston OM8SFP4xxxxP"),
    off(0x2646, 0x501a, "Kingston OM8PGP4xxxxP"),
    off(0x2646, 0x501b, "Kingston OM8PGP4xxxxQ"),
    off(0x2646, 0x501e, "Kingston OM3PGP4xxxxQ"),
    off(0x2646, 0x502f, "Kingston OM3SGP4xxxxK"),
    dsm(0x8086, 0x0953, "Intel 750/P3500/P3600/P3700"),
    dsm(0x8086, 0x0a53, "Intel P3520"),
    dsm(0x8086, 0x0a54, "Intel P4500/P4600 (up to 6.12)"),
    dsm(0x8086, 0x0a55, "Dell Intel P4600 (up to 6.12)"),
];

/// The entry of a PCI device; the first match wins, as in the kernel.
pub fn known(vid: u64, did: u64) -> Option<&'static Quirk> {
    TABLE.iter().find(|q| q.vid == vid && q.did == did)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_by_their_ids() {
        assert_eq!(known(0x1cc4, 0x6302).map(|q| q.name), Some("disable_write_zeroes"));
        assert_eq!(known(0x8086, 0x0953).map(|q| q.name), Some("deallocate_zeroes"));
        assert_eq!(known(0x1987, 0x5012), None);
        let mut ids: Vec<_> = TABLE.iter().map(|q| (q.vid, q.did)).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), TABLE.len(), "each once");
    }
}
