//! Whether other programs used the device during a run: the I/O that the kernel counted, minus the I/O of the run. It is
//! pure.

use crate::machine::block::served::Served;
use crate::machine::port::Act;
use crate::terms::FindingCode;
use crate::units::{human_bytes, MIB};
use crate::verdict::measurement::TestFinding;

/// What udev and the looks of the test itself read of a disk in passing is less than this.
const IN_PASSING: u64 = 4 * MIB;

/// What an act asks of the device, at most: what fails may have been served in part.
pub(crate) fn asked(act: &Act) -> Served {
    let read = |read| Served { read, written: 0 };
    let written = |written| Served { read: 0, written };
    match act {
        Act::Read { length, .. } | Act::Verify { length, .. } => read(*length),
        Act::Write { length, .. } | Act::Zero { length, .. } => written(*length),
        Act::Stretch(stretch) => written(stretch.length),
        Act::PutBack { bytes, .. } => written(bytes.len() as u64),
        Act::Open => Served::default(),
        // They run for a time, over nobody knows how many bytes: after them nothing can be told apart.
        Act::Load(_) | Act::File(_) => Served { read: u64::MAX, written: u64::MAX },
    }
}

/// The finding, where others did more than what happens in passing.
pub(crate) fn finding(others: Served) -> Option<TestFinding> {
    let did = |word: &str, bytes: u64| (bytes >= IN_PASSING).then(|| format!("{word} {}", human_bytes(bytes)));
    let all: Vec<String> = [did("read", others.read), did("wrote", others.written)].into_iter().flatten().collect();
    let text = format!("others {} during the test, so the rates may be lower than on an idle disk", all.join(" and "));
    (!all.is_empty()).then_some(TestFinding { code: FindingCode::OtherIo, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_io_is_reported_as_reads_and_writes() {
        let text = |read, written| finding(Served { read, written }).map(|f| f.text);
        assert_eq!(text(IN_PASSING - 1, IN_PASSING - 1), None);
        let rest = "during the test, so the rates may be lower than on an idle disk";
        assert_eq!(text(8 * MIB, 0), Some(format!("others read 8 MiB {rest}")));
        assert_eq!(text(8 * MIB, 16 * MIB), Some(format!("others read 8 MiB and wrote 16 MiB {rest}")));
    }
}
