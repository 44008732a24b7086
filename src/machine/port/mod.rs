//! The seam to hardware: commands and acts. This file has the types and the trait, and no system call.
//!
//! The port passes bytes and no typed values, so the same parsers run on live, recorded and simulated bytes. Every *file* is
//! read below a root instead (`machine::fs`).

mod act_error;
mod calls;
pub mod child;
pub mod file_acts;
pub mod live;
pub mod load;
pub mod pattern;
pub mod process;
mod range;
pub mod recorded;
pub mod recorder;
mod rights;
pub mod stretch;

pub use act_error::{errno_name, errno_number, ActError};
pub use calls::fill_buffer;
pub use range::{Fill, ScratchRange};

use crate::device::Device;
use crate::machine::port::file_acts::FileAct;
use crate::machine::port::load::Load;
use crate::machine::port::stretch::Stretch;
use crate::terms::Method;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A question that reads only. Its [`Display`](std::fmt::Display) is the file name below `commands/` in a recorded machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Question {
    /// Identify Controller (CNS 01h), 4096 bytes.
    NvmeIdCtrl,
    /// Identify Namespace (CNS 00h), 4096 bytes.
    NvmeIdNs,
    /// Identify Controller, I/O command set specific, NVM (CNS 06h, CSI 0), 4096 bytes.
    NvmeIdCtrlNvm,
    /// Identify Namespace, I/O command set specific, NVM (CNS 05h, CSI 0), 4096 bytes.
    NvmeIdNsNvm,
    /// Identify Namespace, I/O command set independent (CNS 08h), 4096 bytes.
    NvmeIdNsIndependent,
    /// Standard INQUIRY.
    ScsiInquiry,
    /// INQUIRY with EVPD for one page.
    ScsiVpd(u8),
    /// READ CAPACITY(16), 32 bytes.
    ScsiReadCapacity16,
    /// GET LBA STATUS from this LBA on: a header of 8 bytes and descriptors of 16 (SBC-4 5.6).
    ScsiLbaStatus(u64),
    /// Blocks of the medium, past the page cache: offset and length in bytes, multiples of the block. Never recorded.
    Blocks(u64, u32),
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Question::NvmeIdCtrl => f.write_str("nvme-id-ctrl"),
            Question::NvmeIdNs => f.write_str("nvme-id-ns"),
            Question::NvmeIdCtrlNvm => f.write_str("nvme-id-ctrl-nvm"),
            Question::NvmeIdNsNvm => f.write_str("nvme-id-ns-nvm"),
            Question::NvmeIdNsIndependent => f.write_str("nvme-id-ns-independent"),
            Question::ScsiInquiry => f.write_str("scsi-inquiry"),
            Question::ScsiVpd(page) => write!(f, "scsi-vpd-{page:02x}"),
            Question::ScsiReadCapacity16 => f.write_str("scsi-read-capacity-16"),
            Question::ScsiLbaStatus(lba) => write!(f, "scsi-lba-status-{lba:x}"),
            Question::Blocks(offset, length) => write!(f, "blocks-{offset}-{length}"),
        }
    }
}

/// Why a question got no bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AskError {
    /// Nobody asked: not recorded, or not this kind of device.
    NotAsked,
    /// No answer by the deadline.
    TimedOut,
    /// The system refused: an errno.
    Os(i32),
    /// The controller answered with this status: SCT in bits 10:8, SC in 7:0, as `nvme 0x2002`.
    Nvme(u16),
    /// The target answered with sense key, additional sense code and qualifier.
    Scsi(u8, u8, u8),
    /// A recorded refusal that is none of the forms above.
    Other(String),
}

impl std::fmt::Display for AskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AskError::NotAsked => f.write_str("not asked"),
            AskError::TimedOut => f.write_str("timeout"),
            AskError::Os(errno) => write!(f, "errno {}", errno_name(*errno)),
            AskError::Nvme(status) => write!(f, "nvme {status:#06x}"),
            AskError::Scsi(key, asc, ascq) => write!(f, "scsi {key:x}/{asc:02x}/{ascq:02x}"),
            AskError::Other(text) => f.write_str(text),
        }
    }
}

/// An act on a scratch range. Offsets are bytes on the range's node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Opens the node for writing, exclusively, with O_DIRECT, and checks device number and diskseq. The one fd stays open.
    Open,
    /// O_DIRECT writes of 1 MiB, 8 in flight, then fdatasync.
    Write {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
        /// What.
        fill: Fill,
    },
    /// One zeroing call over the span, then fdatasync.
    Zero {
        /// By which call.
        method: Method,
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// Reads the span with O_DIRECT and says where it first differs from the fill.
    Verify {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
        /// What is expected.
        fill: Fill,
    },
    /// Reads the span with O_DIRECT and gives its bytes.
    Read {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// Writes these bytes with O_DIRECT, then fdatasync.
    PutBack {
        /// Where.
        offset: u64,
        /// The bytes; they cross a process border beside the message.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// Calls one after another, each timed: [`Done::Times`].
    Stretch(Stretch),
    /// On a file that is made for the test.
    File(FileAct),
    /// A load beside zeroing; gives the bytes of a [`Loaded`](crate::machine::port::load::Loaded).
    Load(Load),
}

/// What an act gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// It was done.
    Ok,
    /// Bytes of a read; they cross a process border beside the message.
    Bytes(#[serde(skip)] Vec<u8>),
    /// The time of each call of a stretch, in nanoseconds.
    Times(Vec<u64>),
    /// The first byte offset on the node, of a logical block, that did not hold what was expected.
    Mismatch(u64),
}

/// An answer with the time the act took on the port's own clock, around the system calls alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed<T> {
    /// The time.
    pub took: Nanos,
    /// The answer.
    pub value: T,
}

/// A sysfs attribute that may be written: its path below the device's directory (`queue/write_zeroes_unmap_max_bytes`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunablePath(pub String);

/// What a device calls attention to beside its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// A thinly provisioned unit has reached a threshold of its pool (SBC-4 4.7.3.8; unit attention 38h/07h).
    ThinThreshold,
}

impl std::fmt::Display for Attention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Attention::ThinThreshold => f.write_str(
                "the device reports that a threshold of its thin provisioning is reached (unit attention 38h/07h); \
                 give its pool more space",
            ),
        }
    }
}

/// Everything that is a command or an act.
pub trait Port {
    /// Asks; never changes anything.
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError>;
    /// Acts on a range that was proved to be scratch.
    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>>;
    /// Writes a tunable; `value` without a newline.
    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError>;
    /// The port's monotonic clock.
    fn now(&self) -> Nanos;
    /// The process that did not answer by a deadline and is left behind; nothing is sent to the device any more.
    fn left_behind(&self) -> Option<u32> {
        None
    }
    /// Closes what is open for acts, and ends the process that acts; nothing happens where it is left behind.
    fn close(&mut self) {}
    /// What a device has called attention to since the last question, where somebody listens.
    fn attention(&mut self) -> Option<Attention> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_refusals_have_the_names_of_their_files() {
        assert_eq!(Question::ScsiVpd(0xb2).to_string(), "scsi-vpd-b2");
        assert_eq!(AskError::Os(13).to_string(), "errno EACCES");
        assert_eq!(AskError::Nvme(0x2002).to_string(), "nvme 0x2002");
        assert_eq!(AskError::Scsi(5, 0x24, 0).to_string(), "scsi 5/24/00");
    }
}
