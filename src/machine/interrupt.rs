//! Whether somebody asked this process to end (SIGINT, SIGTERM, SIGHUP). A test must put content back before it does.
//!
//! The signals set a flag and nothing else; whoever acts looks at it between acts. By the `signal-hook` crate, whose
//! handlers are async-signal-safe and keep interrupted calls going (SA_RESTART): no `unsafe` of our own.

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that the signals set. From its making on they no longer end the process.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Has the signals set the flag.
    pub fn watch() -> std::io::Result<Interrupt> {
        let flag = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&flag.0))?;
        }
        Ok(flag)
    }

    /// Whether one came.
    pub fn seen(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
