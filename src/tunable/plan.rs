//! Whether a tunable is to be written now. Pure.
//!
//! A write freezes the queue, so what is there already is never written; and a value that neither the kernel nor zerocap
//! put there is an administrator's: hands off.

/// What zerocap last wrote, and what it found before its first write.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Last {
    /// What was there before the first write.
    pub found: String,
    /// What was written.
    pub wrote: String,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Write the wanted value.
    Write,
    /// It is there already, or nothing is wanted of this kernel.
    Leave,
    /// Somebody else's value is there.
    Foreign(String),
}

/// Plans one tunable. `now` and `default`: what the two files hold; `None` where they cannot be read.
pub fn plan(now: Option<&str>, default: Option<&str>, wanted: &str, last: Option<&Last>) -> Plan {
    match now {
        None => Plan::Leave,
        Some(now) if now == wanted => Plan::Leave,
        Some(now) if Some(now) == default || last.is_some_and(|l| l.wrote == now) => Plan::Write,
        Some(now) => Plan::Foreign(now.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_or_the_kernels_value_is_replaced() {
        let ours = Last { found: "4096".to_owned(), wrote: "0".to_owned() };
        assert_eq!(plan(Some("4096"), Some("4096"), "0", None), Plan::Write);
        assert_eq!(plan(Some("0"), Some("4096"), "0", None), Plan::Leave);
        assert_eq!(plan(Some("0"), Some("4096"), "4096", Some(&ours)), Plan::Write, "what we wrote we may undo");
        assert_eq!(plan(Some("0"), Some("4096"), "4096", None), Plan::Foreign("0".to_owned()), "an administrator's 0");
        assert_eq!(plan(Some("512"), Some("4096"), "0", Some(&ours)), Plan::Foreign("512".to_owned()));
        assert_eq!(plan(None, None, "0", None), Plan::Leave);
    }
}
