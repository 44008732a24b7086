//! How much may be read while facts are gathered: an event has a budget of system calls and sends as few commands as
//! possible; `probe` reads everything.

use crate::fact::Fact;

/// How much may be asked while gathering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Neither a queue file nor a command: a test of this boot has not come back, and both may block behind it.
    Quiet,
    /// Files, and a command only where a claim needs one that sysfs has not (the rule's way).
    Event,
    /// What the answer and its findings rest on: Identify, or READ CAPACITY(16) and the VPD pages that sysfs has not (`show`,
    /// `check`).
    Answer,
    /// The same, and what the proof of a test looks at besides.
    Claims,
    /// Every question that fits the bus (`probe`, `record`).
    All,
}

impl Depth {
    /// Whether only what the answer rests on is read: an event has a budget of system calls.
    pub(crate) fn lean(self) -> bool {
        matches!(self, Depth::Quiet | Depth::Event)
    }

    /// Whether what no answer shows is read too: what a test has to know, and what `probe` tells.
    pub(crate) fn more_than_the_answer(self) -> bool {
        matches!(self, Depth::Claims | Depth::All)
    }

    /// Whether commands may be sent for claims; `in_sysfs` is what sysfs says of them.
    pub(crate) fn asks(self, in_sysfs: &Fact<u64>) -> bool {
        match self {
            Depth::Quiet => false,
            Depth::Event => in_sysfs.known().is_none(),
            Depth::Answer | Depth::Claims | Depth::All => true,
        }
    }
}
