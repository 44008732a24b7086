//! The port of a recorded machine: replies from `commands/<name>/<question>.bin`, refusals from `.err`. It refuses every act
//! and every set. What was not recorded is [`AskError::NotAsked`].

use crate::device::Device;
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use crate::machine::port::{
    errno_number, Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::units::Nanos;

/// The port of a recorded machine.
#[derive(Debug)]
pub struct RecordedPort<'a> {
    root: &'a Root,
}

impl<'a> RecordedPort<'a> {
    /// The port of the machine recorded below this root.
    pub fn new(root: &'a Root) -> Self {
        RecordedPort { root }
    }
}

impl Port for RecordedPort<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        let stem = format!("commands/{}/{question}", device.name);
        match self.root.read(&format!("{stem}.bin")) {
            Fact::Known(bytes) => Ok(bytes),
            Fact::Unknown(_) => match self.root.text(&format!("{stem}.err")) {
                Fact::Known(line) => Err(refusal(&line)),
                Fact::Unknown(_) => Err(AskError::NotAsked),
            },
        }
    }

    fn act(&mut self, _: &ScratchRange, _: &Act) -> Timed<Result<Done, ActError>> {
        Timed { took: Nanos(0), value: Err(ActError::Refused("a recorded machine is never written to".to_owned())) }
    }

    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> Result<(), ActError> {
        Err(ActError::Refused("a recorded machine is never written to".to_owned()))
    }

    fn now(&self) -> Nanos {
        Nanos(0)
    }
}

/// Reads the one line of an `.err` file, the inverse of [`AskError`]'s display.
fn refusal(line: &str) -> AskError {
    let other = || AskError::Other(crate::device::display::escape_str(line));
    let mut words = line.split_ascii_whitespace();
    match (words.next(), words.next()) {
        (Some("timeout"), None) => AskError::TimedOut,
        (Some("errno"), Some(name)) => errno_number(name).map_or_else(other, AskError::Os),
        (Some("nvme"), Some(status)) => {
            let digits = status.strip_prefix("0x").unwrap_or(status);
            u16::from_str_radix(digits, 16).map_or_else(|_| other(), AskError::Nvme)
        }
        (Some("scsi"), Some(sense)) => {
            let mut parts = sense.split('/').map(|p| u8::from_str_radix(p, 16));
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(Ok(key)), Some(Ok(asc)), Some(Ok(ascq)), None) => AskError::Scsi(key, asc, ascq),
                _ => other(),
            }
        }
        _ => other(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_refusals_are_read_as_they_were_written() {
        for e in [AskError::TimedOut, AskError::Os(13), AskError::Nvme(0x2002), AskError::Scsi(5, 0x24, 0)] {
            assert_eq!(refusal(&e.to_string()), e);
        }
        assert_eq!(refusal("scsi 5/24"), AskError::Other("scsi 5/24".to_owned()));
        assert_eq!(refusal("\x1b"), AskError::Other("\\x1b".to_owned()));
    }
}
