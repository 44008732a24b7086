//! After how long a call counts as not answered, from the device's own timeout and the number of commands in the call.
//!
//! The kernel gives up a command after `io_timeout`, aborts it, resets the device, and sends it once more: four timeouts for
//! one command, after which the kernel answers if it can. The commands of one call are in flight together, `nr_requests` at a
//! time; each further round may take one more timeout. The bounds are at least four times 30 s (the kernel's default for
//! disks), because a shorter `io_timeout` says nothing about error handling, and at most 15 minutes, because a person waits.

use crate::facts::Facts;
use crate::machine::fs::root::Root;
use crate::units::Nanos;

/// What the kernel gives a disk command where nothing else is set.
const USUAL_TIMEOUT_MS: u64 = 30_000;
/// Timeout, abort, reset, and the command once more.
const STAGES: u64 = 4;
/// A person waits.
const MOST: Nanos = Nanos::from_secs(15 * 60);
/// What a command holds where no limit says it; and how many are in flight: both on the careful side.
const USUAL_COMMAND: u64 = 64 * 1024;
const USUAL_DEPTH: u64 = 32;

/// The deadline of a call over so many bytes of this device.
pub fn of(root: &Root, facts: &Facts, bytes: u64) -> Nanos {
    let number = |name: &str| root.number(&facts.device.attr(&format!("queue/{name}"))).get();
    let zero = facts.queue.write_zeroes_max.get();
    let write = number("max_sectors_kb").map(|kib| kib.saturating_mul(1024));
    let command = [zero, write].into_iter().flatten().filter(|n| *n > 0).min().unwrap_or(USUAL_COMMAND);
    let depth = number("nr_requests").filter(|n| *n > 0).unwrap_or(USUAL_DEPTH);
    let timeout = facts.queue.io_timeout_ms.get().unwrap_or(USUAL_TIMEOUT_MS);
    after(timeout, bytes.div_ceil(command), depth)
}

fn after(timeout_ms: u64, commands: u64, depth: u64) -> Nanos {
    let rounds = commands.div_ceil(depth).max(1);
    let stages = STAGES.saturating_add(rounds - 1);
    Nanos(timeout_ms.max(USUAL_TIMEOUT_MS).saturating_mul(stages).saturating_mul(1_000_000).min(MOST.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_grows_with_the_rounds_within_its_bounds() {
        assert_eq!(after(30_000, 1, 64), Nanos::from_secs(120));
        assert_eq!(after(30_000, 64, 64), Nanos::from_secs(120));
        assert_eq!(after(30_000, 65, 64), Nanos::from_secs(150));
        assert_eq!(after(1_000, 1, 64), Nanos::from_secs(120), "a short timeout does not shorten error handling");
        assert_eq!(after(60_000, 0, 1), Nanos::from_secs(240));
        assert_eq!(after(u64::MAX, u64::MAX, 1), MOST);
    }
}
