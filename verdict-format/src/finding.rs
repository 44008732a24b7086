//! The codes of findings. The set is open: a document may have codes that this package does not know.

use crate::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

words! {
    /// The code of a finding, as far as this package knows it; zerocap-verdict(5) says what each means and what to do.
    FindingCode {
        /// LBPME=1 and the two LBPRZ disagree.
        LbprzConflict = "lbprz-conflict",
        /// Unmap bits or counts while LBPME=0.
        UnmapWithoutLbpme = "unmap-without-lbpme",
        /// DLFEAT bit 3 set and bits 2:0 not 1.
        DeacWithoutReadZero = "deac-without-read-zero",
        /// DLFEAT 2:0 = 1 and bit 3 clear.
        ReadZeroWithoutDeac = "read-zero-without-deac",
        /// DLFEAT 2:0 is 3 to 7.
        DlfeatReserved = "dlfeat-reserved",
        /// ONCS bit 3 set and no offload limit.
        QuirkedOff = "quirked-off",
        /// A DEAC claim on a kernel before 6.2.
        KernelSendsNoDeac = "kernel-sends-no-deac",
        /// A leaf whose offload was withdrawn at run time.
        OffloadWithdrawn = "offload-withdrawn",
        /// A stack whose limits contradict each other or a member.
        StackLimitsConflict = "stack-limits-conflict",
        /// The limit is no multiple of the physical block.
        LimitNotBlockMultiple = "limit-not-block-multiple",
        /// The limit is below 1 MiB.
        LimitTiny = "limit-tiny",
        /// The limit is beyond the command's length field.
        LimitBeyondNlb = "limit-beyond-nlb",
        /// The deallocation granularity is over 1 MiB.
        GranularityLarge = "granularity-large",
        /// Discard, but no zeroing offload.
        DiscardOnly = "discard-only",
        /// A discard limit beside a granularity of 0.
        DiscardRefused = "discard-refused",
        /// A loop on a block device without discard: its discards zero that device.
        DiscardIsZeroing = "discard-is-zeroing",
        /// `provisioning_mode` is not what sd would choose.
        ProvisioningModeForced = "provisioning-mode-forced",
        /// A pin of `fast` on a device without an offload.
        PinWithoutOffload = "pin-without-offload",
        /// A rotating medium with an offload known not to unmap.
        RotationalOffload = "rotational-offload",
        /// The effective unmap limit is 0 although the hardware limit is not.
        KnobOff = "knob-off",
        /// The effective unmap limit is neither 0 nor the hardware limit.
        KnobPartial = "knob-partial",
        /// The hardware limit is 4 GiB or more: a 0 cannot be undone with the hw value.
        KnobStuck4Gib = "knob-stuck-4gib",
        /// A recorded hazard.
        OldDataLeft = "old-data-left",
        /// A recorded hazard.
        ZeroingError = "zeroing-error",
        /// A recorded hazard.
        NoAnswer = "no-answer",
        /// Two devices present bear the same identity.
        IdentityShared = "identity-shared",
        /// A tunable holds a value of somebody else.
        SetByAdmin = "set-by-admin",
        /// The kernel has no unmap limits (before 6.17).
        NoKnob = "no-knob",
        /// `zeroing_mode` is not what sd would choose.
        ZeroingModeOverridden = "zeroing-mode-overridden",
        /// Single calls zero fast, one long stretch of them does not.
        NotSustained = "not-sustained",
        /// The device was not the same all the time.
        NotStationary = "not-stationary",
        /// The device served others during the test.
        OtherIo = "other-io",
        /// A test in a file whose bytes the file system moved.
        MovedByFilesystem = "moved-by-filesystem",
        /// The long stretch was shorter than what a usual cache holds.
        ShortScratch = "short-scratch",
        /// Zero-filled writes are much faster than writes of data.
        ZeroWritesElided = "zero-writes-elided",
        /// A new measurement contradicts the kept one.
        VerdictChanged = "verdict-changed",
        /// Single slow calls decide over the total.
        StallDominated = "stall-dominated",
        /// What zeroing saves, the next write pays.
        DeferredCost = "deferred-cost",
        /// PUNCH_HOLE and WRITE_ZEROES differ by more than 25 %.
        MethodsDisagree = "methods-disagree",
        /// A limit or mode changed during the test.
        LimitsChangedByTest = "limits-changed-by-test",
        /// Blocks mapped before and not after, or the reverse.
        AllocationChanged = "allocation-changed",
        /// A test was cut off.
        TestInterrupted = "test-interrupted",
        /// Limits differ from those at the measurement.
        LimitsChangedSinceMeasured = "limits-changed-since-measured",
        /// The kernel release differs from that at the measurement.
        KernelChangedSinceMeasured = "kernel-changed-since-measured",
        /// The fingerprint of the measurement no longer holds.
        MeasurementStale = "measurement-stale",
    }
}

/// The code of a finding in a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Code {
    /// One that this package knows.
    Known(FindingCode),
    /// One of a newer zerocap, as it is spelled.
    Other(String),
}

impl Code {
    /// The word as it stands in the document.
    pub fn as_str(&self) -> &str {
        match self {
            Code::Known(code) => code.as_str(),
            Code::Other(word) => word,
        }
    }
}

impl From<FindingCode> for Code {
    fn from(code: FindingCode) -> Code {
        Code::Known(code)
    }
}

impl PartialEq<FindingCode> for Code {
    fn eq(&self, other: &FindingCode) -> bool {
        matches!(self, Code::Known(code) if code == other)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let word = String::deserialize(deserializer)?;
        Ok(word.parse().map_or(Code::Other(word), Code::Known))
    }
}
