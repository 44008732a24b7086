//! Structures and numbers of the nvme-cli project's libnvme and of the kernel, as C has them.
//!
//! Nothing here does anything: no function, no call, no `std`. What a bit means
//! and when a field may be believed is for the user of this crate to know; field
//! and constant names are those of the headers, so that a specification or a
//! header can be searched for them.
//!
//! * NVMe: `nvme_id_ctrl`, `nvme_id_ns`, `nvme_id_ctrl_nvm`, `nvme_nvm_id_ns`,
//!   `nvme_id_independent_id_ns` (the 4096 byte answers of Identify),
//!   `nvme_passthru_cmd` and `nvme_passthru_cmd64`, and the masks of the fields
//!   that concern zeroing.
//! * SCSI: `sg_io_hdr` and `SG_*`.
//! * Block devices: `BLK*`, `FALLOC_FL_*`, partitions by `BLKPG`, loop devices.
//!
//! Multi-byte fields of the Identify answers are little-endian as the device
//! sends them (`__le16` is a plain `u16` to the compiler): read them with
//! `from_le`. The structures are for reading bytes at the right offset, and the
//! compiler checks every offset against the header's: `generated.rs` ends each
//! structure with assertions that fail the build.
//!
//! Enumerations are constants: a device may send any value, reserved ones too,
//! and a Rust `enum` that holds a value it has no name for is undefined behaviour.
#![no_std]
// The names are those of C.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

// The text is made for 64 bit pointers (`sg_io_hdr`, `blkpg_ioctl_arg`) and for the
// common encoding of ioctl numbers; alpha, mips, powerpc and sparc have another.
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "loongarch64",
        target_arch = "s390x"
    )
)))]
compile_error!("zerocap-nvme-cli-sys: the generated ioctl numbers and layouts are not this target's");

// `include!` and not `mod`: rustfmt would go through a module and change its bytes.
include!("generated.rs");
