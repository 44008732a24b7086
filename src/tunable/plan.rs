//! Decides whether a tunable has to be written now. It is pure.
//!
//! A write freezes the queue, so a value that is already there is never written. A value that neither the kernel nor zerocap
//! set is an administrator's, and is not changed.

use crate::verdict::LastWrite;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Write the wanted value.
    Write,
    /// It is there already, or nothing is wanted of this kernel.
    Leave,
    /// It was set to what is wanted before, and somebody has changed it since: an event does not quarrel.
    Changed,
    /// Somebody else's value is there.
    Foreign(String),
}

/// Plans one tunable. `now` and `default`: what is there, and what the kernel would have there; `None` where that is not
/// known.
pub fn plan(now: Option<&str>, default: Option<&str>, wanted: &str, last: Option<&LastWrite>) -> Plan {
    match now {
        None => Plan::Leave,
        Some(now) if now == wanted => Plan::Leave,
        Some(now) if Some(now) == default || last.is_some_and(|l| l.wrote == now) => Plan::Write,
        Some(now) => Plan::Foreign(now.to_owned()),
    }
}

/// The same at an event. What the kernel keeps (`lost` is false) is written once for each value that is wanted: a removal
/// forgets the record with the device, so whatever differs later is somebody's will. What the kernel loses is written
/// again each time, except what `tune reset` put back.
pub fn at_event(now: Option<&str>, default: Option<&str>, wanted: &str, last: Option<&LastWrite>, lost: bool) -> Plan {
    match plan(now, default, wanted, last) {
        Plan::Write if last.is_some_and(|l| l.wanted == wanted && (l.put_back || !lost)) => Plan::Changed,
        other => other,
    }
}

/// Who put a value there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// It is the kernel's own.
    Kernel,
    /// zerocap wrote it.
    Zerocap,
    /// Somebody else.
    Admin,
}

impl SetBy {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            SetBy::Kernel => "kernel",
            SetBy::Zerocap => "zerocap",
            SetBy::Admin => "admin",
        }
    }
}

/// Who put the value there; `None` where what the kernel would have there is not known.
pub fn set_by(now: &str, default: Option<&str>, last: Option<&LastWrite>) -> Option<SetBy> {
    match default {
        Some(default) if now == default => Some(SetBy::Kernel),
        _ if last.is_some_and(|l| l.wrote == now) => Some(SetBy::Zerocap),
        Some(_) => Some(SetBy::Admin),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(wrote: &str, put_back: bool) -> LastWrite {
        LastWrite { found: "4096".to_owned(), wrote: wrote.to_owned(), wanted: "0".to_owned(), put_back }
    }

    #[test]
    fn only_our_own_or_the_kernels_value_is_replaced() {
        let ours = last("0", false);
        assert_eq!(plan(Some("4096"), Some("4096"), "0", None), Plan::Write);
        assert_eq!(plan(Some("0"), Some("4096"), "0", None), Plan::Leave);
        assert_eq!(plan(Some("0"), Some("4096"), "4096", Some(&ours)), Plan::Write, "what we wrote we may undo");
        assert_eq!(plan(Some("0"), Some("4096"), "4096", None), Plan::Foreign("0".to_owned()), "an administrator's 0");
        assert_eq!(plan(Some("512"), Some("4096"), "0", Some(&ours)), Plan::Foreign("512".to_owned()));
        assert_eq!(plan(None, None, "0", None), Plan::Leave);
    }

    #[test]
    fn an_event_writes_each_wish_once_and_what_the_kernel_loses_each_time() {
        let ours = last("0", false);
        let now = Some("4096");
        assert_eq!(at_event(now, now, "0", None, false), Plan::Write, "the device is new");
        assert_eq!(at_event(now, now, "0", Some(&ours), false), Plan::Changed, "an administrator turned it on again");
        assert_eq!(at_event(now, now, "0", Some(&ours), true), Plan::Write, "the kernel lost it");
        assert_eq!(at_event(Some("0"), now, "4096", Some(&ours), false), Plan::Write, "another value is wanted now");
        assert_eq!(at_event(now, now, "0", Some(&last("4096", true)), true), Plan::Changed, "tune reset");
        assert_eq!(at_event(Some("7"), now, "0", None, true), Plan::Foreign("7".to_owned()));
    }

    #[test]
    fn the_setter_of_a_tunable_is_recognised() {
        assert_eq!(set_by("1", Some("1"), None), Some(SetBy::Kernel));
        assert_eq!(set_by("0", Some("1"), Some(&last("0", false))), Some(SetBy::Zerocap));
        assert_eq!(set_by("0", Some("1"), None), Some(SetBy::Admin));
        assert_eq!(set_by("0", None, None), None);
    }
}
