//! What lies in the bytes that a test would overwrite. It decides whether this content may be journalled and overwritten, and
//! only reads.

use super::proof::Proof;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::machine::block::hold::Hold;

/// What lies in the bytes that a test would write over and put back, as a line of the proof. Content without a signature
/// may be somebody's all the same: it is allowed by `--data-ok`, by a rule that names these bytes as scratch, or by the GPT
/// name of the partition. In a gap, which was taken because it read zero, it is allowed by nothing.
pub fn content(hold: &dyn Hold, device: &Device, proof: &Proof, span: (u64, u64), allowed: bool) -> Result<String> {
    if proof.made().is_some() {
        return Ok("its extents were free, so their old content belongs to nobody; it is lost".to_owned());
    }
    if proof.ownerless {
        return Ok("nobody needs the content of an inactive swap partition: it is neither kept nor put back".to_owned());
    }
    let Some(at) = hold.first_not_zero(proof.range.node_offset + span.0, span.1)? else {
        return Ok("the bytes of the test read as zero".to_owned());
    };
    if proof.is_zero {
        let why = format!(
            "byte {at} of the disk, which lies in the gap, was zero at first and is not zero now, so \
                     somebody writes there"
        );
        return Err(Error::NotSafe { device: device.node(), why });
    }
    let what = format!(
        "the scratch range holds data without a known signature (byte {at} of the disk is the first that is \
                 not zero)"
    );
    if allowed || proof.labelled {
        return Ok(format!("{what}: it is journalled and put back"));
    }
    let why = format!(
        "{what}; the test puts it back, but it may be lost if the disk fails during the test. If that is acceptable, \
         allow it with --data-ok"
    );
    Err(Error::NotSafe { device: device.node(), why })
}
