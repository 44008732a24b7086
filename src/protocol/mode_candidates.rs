//! The values of `zeroing_mode` that a test with `--tune` tries, and their order. It decides by the claims only, and writes
//! nothing.

use crate::facts::Facts;
use crate::terms::ZeroingMode;

/// The modes that the claims allow, in the safe order: a rejected WRITE SAME without UNMAP makes sd withdraw the offload, so
/// that mode is the last. A mode that unmaps needs LBPRZ too: else what it leaves is not promised to be zero, whatever is
/// read at the time. "write" is none of its own: sd sends WRITE SAME in it (fieldguide 4.3).
pub(crate) fn candidates(facts: &Facts) -> Vec<&'static str> {
    let Some(s) = facts.scsi().filter(|s| s.scsi_disk.is_some() && s.zeroing_mode.known().is_some()) else {
        return Vec::new();
    };
    // At 0 sd sends none of the commands, whatever the mode.
    if s.max_write_same_blocks.is(0) {
        return Vec::new();
    }
    let unmaps_to_zero = s.lbpme.is(true) && s.lbprz.is(true);
    let claimed = |mode: &&ZeroingMode| match mode {
        ZeroingMode::Writesame16Unmap => unmaps_to_zero && s.lbpws.is(true),
        ZeroingMode::Writesame10Unmap => unmaps_to_zero && s.lbpws10.is(true),
        ZeroingMode::Writesame => s.max_write_same_blocks.get().is_some_and(|n| n > 0),
        ZeroingMode::Write => false,
    };
    ZeroingMode::ALL.iter().filter(claimed).map(|mode| mode.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Fact;
    use crate::facts::testing::with;
    use crate::facts::Bus;

    /// A disk that claims these.
    fn disk(lbprz: bool, lbpws: bool, lbpws10: bool, max_write_same_blocks: &str) -> Facts {
        let dir = "device/scsi_disk/0:0:0:0";
        let mut facts = with(
            "sda",
            &[
                (&format!("{dir}/thin_provisioning"), "1\n"),
                (&format!("{dir}/zeroing_mode"), "writesame\n"),
                (&format!("{dir}/max_write_same_blocks"), max_write_same_blocks),
            ],
        );
        if let Bus::Scsi(s) = &mut facts.bus {
            (s.lbprz, s.lbpws, s.lbpws10) = (Fact::Known(lbprz), Fact::Known(lbpws), Fact::Known(lbpws10));
        }
        facts
    }

    #[test]
    fn only_claimed_modes_are_tried_and_risky_ones_last() {
        let all = ["writesame_16_unmap", "writesame_10_unmap", "writesame"];
        assert_eq!(candidates(&disk(true, true, true, "65535\n")), all);
        assert_eq!(candidates(&disk(true, false, true, "65535\n")), all[1..]);
        assert_eq!(candidates(&disk(false, true, true, "65535\n")), all[2..], "LBPRZ clear: no promise");
        assert!(candidates(&disk(true, true, true, "0\n")).is_empty(), "no_write_same");
        assert!(candidates(&with("sda", &[])).is_empty());
    }
}
