//! `auto`: the first possible place of those that nobody has to name. It decides the order and what is left out; the proof of
//! each is that of the place itself.

use super::checks::{self, Checks};
use super::place::ScratchSpec;
use super::proof::{Asked, Proof};
use super::swap;
use crate::device::Device;
use crate::error::{Error, Result};

/// Proves the first that is possible: label, gap, an inactive swap partition. `prove` proves one place.
pub(super) fn first_possible(
    on: &mut Asked<'_>,
    device: &Device,
    prove: &mut dyn FnMut(&mut Asked<'_>, &ScratchSpec) -> Result<Proof>,
) -> Result<Proof> {
    let mut reasons = Vec::new();
    for (name, place) in places(on, device)? {
        match prove(on, &place) {
            Err(Error::NotSafe { why, .. }) => reasons.push(format!("{name}: {why}")),
            // A partition that was swap space when it was looked for, and is not any more, was named by nobody.
            Ok(proof) if matches!(place, ScratchSpec::Node(_)) && !proof.ownerless => {
                reasons.push(format!("{name} is no longer swap space"));
            }
            other => return other,
        }
    }
    Err(Error::NoPlace { device: device.node(), why: reasons.join("; ") })
}

fn places(on: &Asked<'_>, device: &Device) -> Result<Vec<(String, ScratchSpec)>> {
    let checks = Checks { device: device.node(), lines: Vec::new() };
    let partitions = checks::partitions(&checks, on.root, device)?;
    let swaps = swap::candidates(on, &partitions)?.into_iter().map(|node| (node.clone(), ScratchSpec::Node(node)));
    let named = [("label".to_owned(), ScratchSpec::Label), ("gap".to_owned(), ScratchSpec::Gap)];
    Ok(named.into_iter().chain(swaps).collect())
}
