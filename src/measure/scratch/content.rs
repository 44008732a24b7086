//! What lies in the bytes that a test would write over. Decides whether it may be put away; reads only.

use super::proof::Proof;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::machine::block::hold::Hold;

/// What lies in the bytes that a test would write over and put back, as a line of the proof. Content without a signature
/// may be somebody's all the same: it is allowed by `--data-ok`, by a rule that names these bytes as scratch, or by the GPT
/// name of the partition. In a gap, which was taken because it read zero, it is allowed by nothing.
pub fn content(hold: &dyn Hold, device: &Device, proof: &Proof, span: (u64, u64), allowed: bool) -> Result<String> {
    if proof.made().is_some() {
        return Ok("its extents were free: what they held is nobody's, and is lost".to_owned());
    }
    if proof.ownerless {
        return Ok("what lies in an inactive swap partition is nobody's: it is neither kept nor put back".to_owned());
    }
    let Some(at) = hold.first_not_zero(proof.range.node_offset + span.0, span.1)? else {
        return Ok("the bytes of the test read zero".to_owned());
    };
    if proof.is_zero {
        let why =
            format!("byte {at} of the disk, in the gap, read zero at first and does not now: somebody writes there");
        return Err(Error::NotSafe { device: device.node(), why });
    }
    let what =
        format!("the scratch holds data without a signature (byte {at} of the disk is the first that is not zero)");
    if allowed || proof.labelled {
        return Ok(format!("{what}: it is journalled and put back"));
    }
    let why = format!(
        "{what}; the test puts it back, but a disk that fails meanwhile may lose it. If it may be lost, allow that with \
         --data-ok"
    );
    Err(Error::NotSafe { device: device.node(), why })
}
