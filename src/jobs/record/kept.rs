//! The file of a kept measurement in a recording: without the identity, and with a fingerprint that holds where it held. Pure.

use crate::redact::secrets::{Reach, Secrets};
use crate::verdict::{fingerprint, Measurement};

/// A kept measurement: its fingerprint is made of the identity too, and must hold again where it held.
pub fn hidden(bytes: &[u8], secrets: &Secrets) -> Vec<u8> {
    let Ok(mut m) = serde_json::from_slice::<Measurement>(bytes) else { return secrets.hide(bytes, Reach::Long) };
    let held = fingerprint::digest(&m.fingerprint_of) == m.fingerprint;
    m.identity = m.identity.map(|i| secrets.hide_str(&i, Reach::All));
    if let Some(identity) = m.fingerprint_of.get_mut("identity") {
        *identity = secrets.hide_str(identity, Reach::All);
    }
    if held {
        m.fingerprint = fingerprint::digest(&m.fingerprint_of);
    }
    // The rest are numbers, codes and the tool's own words; long names in them are replaced like everywhere.
    serde_json::to_vec_pretty(&m).map_or_else(|_| Vec::new(), |b| secrets.hide(&b, Reach::Long))
}
