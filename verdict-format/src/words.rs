//! The words of an answer: class, basis, method, plan, severity, state. Each is spelled the same in JSON, in udev properties
//! and on a terminal. Parsing by [`std::str::FromStr`] and serde is strict; the reader of documents is not (see `open`).

use serde::{Deserialize, Serialize};

/// Declares an enum whose every variant has exactly one spelling. The caller imports serde's two derives.
#[doc(hidden)]
#[macro_export]
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
            type Err = $crate::UnknownWord;
            fn from_str(s: &str) -> Result<Self, $crate::UnknownWord> {
                Self::ALL.iter().copied().find(|w| w.as_str() == s).ok_or($crate::UnknownWord)
            }
        }
    };
}

/// A text that is none of the words asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord;

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
        Write = "write",
    }
}

words! {
    /// Which kind of answer a JSON object is.
    Kind {
        /// A [`crate::Document`].
        Verdict = "verdict",
        /// A [`crate::answers::PathAnswer`].
        Path = "path",
        /// A [`crate::answers::Estimate`].
        Estimate = "estimate",
        /// A [`crate::answers::IsZero`].
        IsZero = "is-zero",
        /// A [`crate::answers::Probe`].
        Probe = "probe",
        /// The [`crate::samples::Samples`] of a test.
        Samples = "samples",
        /// A [`crate::fleet::Summary`].
        Fleet = "fleet",
        /// A [`crate::answers::Failure`].
        Error = "error",
    }
}

words! {
    /// What to do with a target of which a part will hold data.
    Plan {
        /// Zero all of it, then write the data.
        ZeroFirst = "zero-first",
        /// Zero what holds no data, write the data.
        ZeroRest = "zero-rest",
        /// Write data and zeroes alike.
        WriteAll = "write-all",
    }
}

words! {
    /// What bears on zeroing a file ahead of use; zerocap-verdict(5) says what each means and what to do.
    PathCode {
        /// Parts of the file are shared with other files.
        SharedExtents = "shared-extents",
        /// The file system puts what is written over in new space.
        CopyOnWrite = "copy-on-write",
        /// A device below has a snapshot, or is one.
        SnapshotBelow = "snapshot-below",
        /// The data goes through the journal.
        DataJournal = "data-journal",
        /// The file system compresses what is written.
        FileCompressed = "file-compressed",
        /// The file system encrypts what is written.
        FileEncrypted = "file-encrypted",
        /// Parts of the file have no space.
        FileHoles = "file-holes",
        /// Parts of the file have space that was never written.
        UnwrittenExtents = "unwritten-extents",
    }
}

words! {
    /// What fallocate(FALLOC_FL_WRITE_ZEROES) does where a finding of a path holds.
    Effect {
        /// It zeroes, and later writes gain by it.
        Works = "works",
        /// It succeeds, but what it writes takes as long as writing.
        Writes = "writes",
        /// It zeroes, and later writes gain less by it.
        GainsLess = "gains-less",
        /// It fails.
        Fails = "fails",
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
    /// What a device holds.
    State {
        /// Every block reads as zero.
        Zero = "zero",
        /// Blocks are allocated, whatever they hold.
        Data = "data",
        /// It is not known.
        Unknown = "unknown",
    }
}
