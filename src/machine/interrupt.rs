//! Whether somebody asked this process to end (SIGINT, SIGTERM, SIGHUP). A test must put the content back before the process
//! ends.
//!
//! The signals set a flag, which the acting code checks between acts. Interrupted system calls are restarted (SA_RESTART).

use crate::machine::sys;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that the signals set. From its making on they no longer end the process.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    own: Arc<AtomicBool>,
    /// Whether the signals count too.
    signals: bool,
}

impl Interrupt {
    /// Has the signals set the flag.
    pub fn watch() -> std::io::Result<Interrupt> {
        Interrupt::noted(false)
    }

    /// The same, and the first signal is answered on standard error when it comes: an act may take minutes.
    pub fn watch_and_answer() -> std::io::Result<Interrupt> {
        Interrupt::noted(true)
    }

    fn noted(answered: bool) -> std::io::Result<Interrupt> {
        sys::note_signals(answered)?;
        Ok(Interrupt { signals: true, ..Interrupt::default() })
    }

    /// Whether one came.
    pub fn seen(&self) -> bool {
        self.own.load(Ordering::Relaxed) || self.signals && sys::SIGNALLED.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_noted_and_does_not_end_the_process() {
        let interrupt = Interrupt::watch().unwrap();
        assert!(!interrupt.seen());
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !interrupt.seen() {
            assert!(std::time::Instant::now() < until, "SIGHUP was not noted");
            std::thread::yield_now();
        }
        assert!(!Interrupt::default().seen(), "a flag of its own is not set");
    }
}
