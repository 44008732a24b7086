//! What sd derives from the pages, as readings of `probe`: the modes that it would choose beside those that it shows, and the
//! driver of the host (fieldguide 4.3, 4.6). It judges nothing: the findings are made in `verdict`.

use crate::fact::{Fact, Why};
use crate::facts::field::Reading;
use crate::facts::nvme::derived::derived;
use crate::facts::scsi::Scsi;

/// Adds what sd would choose and who drives the host; a choice that rests on something unknown adds nothing.
pub fn notes(s: &Scsi, readings: &mut Vec<Reading>) {
    let mut choice = |field: &str, choice: Option<&'static str>, shown: &Fact<String>| {
        let Some(choice) = choice else { return };
        let says = match shown.known() {
            Some(mode) if mode == choice => "the mode that sd shows".to_owned(),
            Some(mode) => format!("sd shows {mode}, which was set by hand or after an error"),
            None => "sd shows no mode".to_owned(),
        };
        readings.push(derived(field, Fact::Known(choice.to_owned()), says));
    };
    choice("zeroing_mode of choice", s.mode_of_choice(), &s.zeroing_mode);
    choice("provisioning_mode of choice", s.provisioning_of_choice(), &s.provisioning_mode);
    if !matches!(s.host_driver.why(), Some(Why::Absent | Why::NotAsked)) {
        readings.push(derived("host driver", s.host_driver.clone(), None));
    }
}
