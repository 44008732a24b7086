//! The purpose of a partition by its type, if it forbids a test: firmware, boot loaders and volume managers use such
//! partitions without any file system or signature in them. It also has the type of swap space. It is pure.

/// GPT types (UEFI 5.3.3, and their makers' own documents).
const GPT: &[(&str, &str)] = &[
    ("21686148-6449-6e6f-744e-656564454649", "a BIOS boot partition: a boot loader without a file system"),
    ("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "an EFI system partition"),
    ("9e1a2d38-c612-4316-aa26-8b49521e5a8b", "a PReP boot partition: a boot loader without a file system"),
    ("fe3a2a5d-4f32-41a7-b725-accc3285a309", "a ChromeOS kernel: a kernel without a file system"),
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "the metadata of a Windows dynamic disk (LDM)"),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "data of a Windows dynamic disk (LDM)"),
    ("e6d6d379-f507-44c2-a23c-238f2a3df928", "a partition of LVM"),
];

/// Types of an MBR.
const MBR: &[(u8, &str)] = &[
    (0x41, "a PReP boot partition: a boot loader without a file system"),
    (0x42, "a Windows dynamic disk (LDM)"),
    (0x8e, "a partition of LVM"),
    (0xef, "an EFI system partition"),
];

/// Swap space of Linux in a GPT (Discoverable Partitions Specification).
const GPT_SWAP: &str = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f";
/// Swap space of Linux in an MBR.
pub(super) const MBR_SWAP: u8 = 0x82;

/// Whether a type in a GPT entry (16 bytes, as they lie on the disk) is that of swap space.
pub(super) fn is_gpt_swap(raw: &[u8]) -> bool {
    guid(raw).is_some_and(|text| text == GPT_SWAP)
}

/// What a partition with this type in a GPT entry (16 bytes, as they lie on the disk) is, where no test may use it.
pub(super) fn of_gpt(raw: &[u8]) -> Option<&'static str> {
    let text = guid(raw)?;
    GPT.iter().find(|(guid, _)| *guid == text).map(|(_, what)| *what)
}

/// The same for a type of an MBR.
pub(super) fn of_mbr(kind: u8) -> Option<&'static str> {
    MBR.iter().find(|(byte, _)| *byte == kind).map(|(_, what)| *what)
}

/// A GUID as text: its first three numbers are little-endian on the disk.
fn guid(raw: &[u8]) -> Option<String> {
    let b: [u8; 16] = raw.get(..16)?.try_into().ok()?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let turned = |bytes: &[u8]| hex(&bytes.iter().rev().copied().collect::<Vec<u8>>());
    let (a, tail) = ([turned(&b[0..4]), turned(&b[4..6]), turned(&b[6..8])], [hex(&b[8..10]), hex(&b[10..16])]);
    Some(format!("{}-{}", a.join("-"), tail.join("-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_is_read_as_uefi_writes_it() {
        // UEFI 5.3.3: the EFI system partition, byte by byte.
        let esp = [0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11, 0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b];
        assert_eq!(of_gpt(&esp), Some("an EFI system partition"));
        // "Hah!IdontNeedEFI", as it lies there.
        assert!(of_gpt(b"Hah!IdontNeedEFI").is_some_and(|what| what.contains("BIOS boot")));
        assert_eq!((of_gpt(&[0; 16]), of_gpt(b"short")), (None, None));
        let swap = [0x6d, 0xfd, 0x57, 0x06, 0xab, 0xa4, 0xc4, 0x43, 0x84, 0xe5, 0x09, 0x33, 0xc8, 0x4b, 0x4f, 0x4f];
        assert!(is_gpt_swap(&swap) && !is_gpt_swap(&esp) && of_gpt(&swap).is_none());
    }

    #[test]
    fn every_type_is_spelled_as_a_guid_and_linux_data_is_allowed() {
        for (guid, _) in GPT {
            assert!(guid.len() == 36 && guid.to_lowercase() == **guid, "{guid}");
        }
        assert_eq!((of_mbr(0x83), of_mbr(0xef)), (None, Some("an EFI system partition")));
    }
}
