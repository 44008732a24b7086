//! A typed reading, or why there is none. Uses nothing of the crate.
//!
//! Absent, malformed, refused, timed out and not asked are five things, and none of them is 0 or "no". Rules match on
//! [`Fact::known`]; `probe` shows which of the five it was.

use serde::{Deserialize, Serialize};

/// One typed reading, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact<T> {
    /// The reading.
    Known(T),
    /// No reading, and why.
    Unknown(Why),
}

/// Why a reading is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// The file or page does not exist here.
    Absent,
    /// It exists and makes no sense; the text says what was expected or found.
    Malformed(String),
    /// The system or the device refused: `errno EACCES`, `nvme 0x2002`, `scsi 5/24/00`.
    Refused(String),
    /// No answer by the deadline.
    TimedOut,
    /// Nobody asked: not recorded, or not this kind of device.
    NotAsked,
}

impl<T> Fact<T> {
    /// The absent reading.
    pub const ABSENT: Fact<T> = Fact::Unknown(Why::Absent);
    /// The reading nobody asked for.
    pub const NOT_ASKED: Fact<T> = Fact::Unknown(Why::NotAsked);

    /// A malformed reading; `what` says what was wrong, without raw control bytes.
    pub fn malformed(what: impl Into<String>) -> Self {
        Fact::Unknown(Why::Malformed(what.into()))
    }

    /// The reading where there is one.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(v) => Some(v),
            Fact::Unknown(_) => None,
        }
    }

    /// Why there is no reading.
    pub fn why(&self) -> Option<&Why> {
        match self {
            Fact::Known(_) => None,
            Fact::Unknown(w) => Some(w),
        }
    }

    /// Turns the reading into another, keeping the reason where there is none.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::Known(v) => Fact::Known(f(v)),
            Fact::Unknown(w) => Fact::Unknown(w),
        }
    }

    /// Turns the reading into another that may be unknown in its turn.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Fact::Known(v) => f(v),
            Fact::Unknown(w) => Fact::Unknown(w),
        }
    }

    /// This reading, else the other one; of two unknowns the first reason stays, unless it is only "not asked".
    pub fn or(self, other: impl FnOnce() -> Fact<T>) -> Fact<T> {
        match self {
            Fact::Known(_) => self,
            Fact::Unknown(first) => match other() {
                Fact::Unknown(second) => Fact::Unknown(if first == Why::NotAsked { second } else { first }),
                known => known,
            },
        }
    }

    /// A reading by reference.
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Fact::Known(v) => Fact::Known(v),
            Fact::Unknown(w) => Fact::Unknown(w.clone()),
        }
    }
}

impl<T: Copy> Fact<T> {
    /// The reading by value where there is one.
    pub fn get(&self) -> Option<T> {
        self.known().copied()
    }
}

impl<T: PartialEq> Fact<T> {
    /// Whether the reading is known to be this value.
    pub fn is(&self, value: T) -> bool {
        self.known() == Some(&value)
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Absent => f.write_str("absent"),
            Why::Malformed(what) => write!(f, "malformed: {what}"),
            Why::Refused(by) => write!(f, "refused: {by}"),
            Why::TimedOut => f.write_str("timed out"),
            Why::NotAsked => f.write_str("not asked"),
        }
    }
}
