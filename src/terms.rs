//! The words of the answer: class, basis, method, severity, finding code.
//!
//! The bottom of the house: uses nothing of the crate. Each word is spelled one way in JSON, in udev properties and on a
//! terminal; that spelling is [`Class::as_str`] and its like.

use serde::{Deserialize, Serialize};

/// Declares an enum whose every variant has exactly one spelling.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The one spelling of the word.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.as_str()) }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;
            fn from_str(s: &str) -> Result<Self, UnknownWord> {
                Self::ALL.iter().copied().find(|w| w.as_str() == s).ok_or(UnknownWord)
            }
        }
    };
}

/// A text that is none of the words asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord;

words! {
    /// sd's `zeroing_mode`, as the kernel spells it (fieldguide 4.4), in the order that is safe to try them in.
    ZeroingMode {
        /// WRITE SAME(16) with UNMAP.
        Writesame16Unmap = "writesame_16_unmap",
        /// WRITE SAME(10) with UNMAP.
        Writesame10Unmap = "writesame_10_unmap",
        /// WRITE SAME without UNMAP.
        Writesame = "writesame",
        /// The same command while the limit stands.
        Write = "write",
    }
}

words! {
    /// What zeroing on the device is like.
    Class {
        /// Zeroing takes clearly less time than writing.
        Fast = "fast",
        /// Zeroing takes about as long as writing, or longer.
        Slow = "slow",
        /// There is no offload: the kernel writes zero pages, the caller may as well write.
        None = "none",
        /// Not measured, or not conclusive.
        Unknown = "unknown",
        /// It failed, left data, or did not answer.
        Broken = "broken",
    }
}

words! {
    /// What a class rests on.
    Basis {
        /// A timed and verified test of this very device.
        Measured = "measured",
        /// An administrator pinned it.
        Policy = "policy",
        /// Measured on other devices of the same model and firmware.
        Model = "model",
        /// A stack, from its members.
        Derived = "derived",
    }
}

words! {
    /// A way to have a range zeroed, or to write it.
    Method {
        /// `fallocate(PUNCH_HOLE | KEEP_SIZE)`: may deallocate, never falls back to writing.
        PunchHole = "punch-hole",
        /// `fallocate(WRITE_ZEROES)`, Linux 6.17 and later: may deallocate, passes the unmap-limit gate first.
        WriteZeroes = "write-zeroes",
        /// `fallocate(ZERO_RANGE)`: asks not to deallocate, falls back to writing.
        ZeroRange = "zero-range",
        /// `ioctl(BLKZEROOUT)`: asks not to deallocate, falls back to writing, can be killed.
        BlkZeroOut = "blkzeroout",
        /// `ioctl(BLKDISCARD)`: promises nothing about what is read afterwards.
        BlkDiscard = "blkdiscard",
        /// Ordinary writes of zeroes.
        WriteZeros = "write-zeros",
    }
}

words! {
    /// How much a finding matters.
    Severity {
        /// Worth knowing.
        Notice = "notice",
        /// A contradiction, or something that makes a claim untrustworthy.
        Warning = "warning",
        /// The device did something wrong.
        Error = "error",
    }
}

words! {
    /// A hazard that a test recorded, or an administrator declared.
    Hazard {
        /// Zeroing reported success and old data was still read.
        OldDataLeft = "old-data-left",
        /// Zeroing failed with an error other than "not supported".
        ZeroingError = "zeroing-error",
        /// A command was not answered by its deadline.
        NoAnswer = "no-answer",
    }
}

words! {
    /// The code of a finding; severities and rules stand in the findings table.
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
        /// Median and pooled ratio fall on different sides of the threshold.
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

impl Hazard {
    /// The finding that reports this hazard.
    pub const fn finding(self) -> FindingCode {
        match self {
            Hazard::OldDataLeft => FindingCode::OldDataLeft,
            Hazard::ZeroingError => FindingCode::ZeroingError,
            Hazard::NoAnswer => FindingCode::NoAnswer,
        }
    }
}
