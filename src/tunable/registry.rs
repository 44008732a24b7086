//! The registry: one row for each tunable (fieldguide 1.2 to 1.4, 4.4).

use super::{wedged, Row};
use crate::fact::Fact;
use crate::facts::{scsi, Facts};
use crate::verdict::wants::{accepted, mode_refused};

/// Why a tunable that is only shown is not written.
const NOT_SET: &str = "zerocap does not set it";

/// Every tunable, the managed ones first.
pub const ROWS: &[Row] = &[
    Row {
        name: "write_zeroes_unmap_max_bytes",
        path: "queue/write_zeroes_unmap_max_bytes",
        managed: true,
        who: "every disk with a queue, from Linux 6.17 on",
        accepts: "0, or the hardware's value (modulo 4 GiB)",
        changes: "whether the kernel allows FALLOC_FL_WRITE_ZEROES on the device",
        reset_by: "removal of the device, reboot; for device-mapper also a reload of the table",
        put_back: "yes, unless the hardware's value is a multiple of 4 GiB",
        now: |f| number(&f.queue.unmap),
        // The kernel itself clears it when it withdraws the offload (fieldguide 1.4 b).
        kernel: |f| if wedged(f) { f.queue.unmap.get() } else { f.queue.unmap_hw.get() }.map(|n| n.to_string()),
        encode: knob,
        volatile: |f| f.device.kind.is_stack(),
    },
    Row {
        name: "zeroing_mode",
        path: "device/scsi_disk/*/zeroing_mode",
        managed: true,
        who: "SCSI disks",
        accepts: "write, writesame, and with LBPME writesame_16_unmap, writesame_10_unmap",
        changes: "the command that zeroes; the queue limits do not follow it",
        reset_by: "every revalidation: a close after writing, a rescan, a reread of the partition table",
        put_back: "yes",
        now: |f| f.scsi().map_or(Fact::ABSENT, |s| s.zeroing_mode.clone()),
        kernel: |f| f.kernel_zeroing_mode().map(str::to_owned),
        encode: |f, value| mode_refused(f, value).map_or_else(|| Ok(value.to_owned()), Err),
        volatile: |_| true,
    },
    Row {
        name: "discard_max_bytes",
        path: "queue/discard_max_bytes",
        managed: false,
        who: "every disk with a queue",
        accepts: "multiples of discard_granularity below 4 GiB",
        changes: "how many bytes one discard may have; 0 switches discard off",
        reset_by: "removal of the device, reboot",
        put_back: "no, once it was 0 (Linux 6.12 and newer)",
        now: |f| number(&f.queue.discard_max),
        kernel: |f| f.queue.discard_max_hw.get().map(|n| n.to_string()),
        encode: |_, _| Err(NOT_SET.to_owned()),
        volatile: |_| false,
    },
    Row {
        name: "provisioning_mode",
        path: "device/scsi_disk/*/provisioning_mode",
        managed: false,
        who: "SCSI disks",
        accepts: "full, unmap, writesame_16, writesame_10, writesame_zero, disabled",
        changes: "the command that discards, and the discard limits; a forced mode has hung hosts",
        reset_by: "every revalidation",
        put_back: "yes",
        now: |f| f.scsi().map_or(Fact::ABSENT, |s| s.provisioning_mode.clone()),
        kernel: |f| f.scsi().and_then(scsi::Scsi::provisioning_of_choice).map(str::to_owned),
        encode: |_, _| Err(NOT_SET.to_owned()),
        volatile: |_| true,
    },
    Row {
        name: "max_write_same_blocks",
        path: "device/scsi_disk/*/max_write_same_blocks",
        managed: false,
        who: "SCSI disks",
        accepts: "0 to 8388607; 0 switches zeroing off and survives a rescan",
        changes: "zeroing_mode and the zeroing limits, which are computed anew",
        reset_by: "every revalidation",
        put_back: "yes",
        now: |f| f.scsi().map_or(Fact::ABSENT, |s| number(&s.max_write_same_blocks)),
        kernel: |_| None,
        encode: |_, _| Err(NOT_SET.to_owned()),
        volatile: |_| true,
    },
];

fn number(fact: &Fact<u64>) -> Fact<String> {
    fact.as_ref().map(u64::to_string)
}

/// The knob takes 0, or the hardware's value modulo 4 GiB; a value between, which a grown limit can leave behind, cannot
/// be written again.
fn knob(facts: &Facts, value: &str) -> Result<String, String> {
    let hw = facts.queue.unmap_hw.get().ok_or("the hardware's limit is not known")?;
    let on = accepted(hw);
    match value.parse::<u64>() {
        // A 0 that nothing could undo is for a device that is broken; the want says so.
        Ok(0) => Ok("0".to_owned()),
        Ok(n) if on == 0 && n == hw => {
            Err(format!("{hw} is a multiple of 4 GiB, so the kernel accepts no value but 0"))
        }
        Ok(n) if n == hw || n == on => Ok(on.to_string()),
        _ => Err(format!("the kernel accepts only 0 or {on}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::row;
    use crate::facts::testing::facts;

    #[test]
    fn the_knob_is_encoded_as_the_kernel_accepts_it() {
        let knob = row("write_zeroes_unmap_max_bytes").unwrap();
        let with = |hw: &str| facts("sda", &[("sys/block/sda/queue/write_zeroes_unmap_max_hw_bytes", hw)], &[]);
        let four_gib = with("34359734272");
        assert_eq!(knob.encode(&four_gib, "34359734272"), Ok("4294963200".to_owned()), "modulo 4 GiB");
        assert_eq!(knob.encode(&four_gib, "4294963200"), Ok("4294963200".to_owned()));
        assert_eq!(knob.encode(&four_gib, "0"), Ok("0".to_owned()));
        assert!(knob.encode(&four_gib, "512").is_err(), "a value between is EINVAL");
        assert!(knob.encode(&with("8589934592"), "8589934592").unwrap_err().contains("no value but 0"));
        assert!(knob.encode(&facts("sda", &[], &[]), "0").is_err(), "without the file there is nothing to write");
    }

    #[test]
    fn an_unmap_mode_needs_lbpme() {
        let mode = row("zeroing_mode").unwrap();
        let with = |thin: &str| {
            let dir = "sys/block/sda/device/scsi_disk/0:0:0:0";
            facts(
                "sda",
                &[
                    (&format!("{dir}/thin_provisioning"), thin),
                    (&format!("{dir}/zeroing_mode"), "writesame\n"),
                    (&format!("{dir}/max_write_same_blocks"), "65535\n"),
                ],
                &[],
            )
        };
        assert!(mode.encode(&with("0\n"), "writesame_16_unmap").unwrap_err().contains("LBPME"));
        assert_eq!(mode.encode(&with("1\n"), "writesame_16_unmap"), Ok("writesame_16_unmap".to_owned()));
        assert_eq!(mode.encode(&with("0\n"), "write"), Ok("write".to_owned()));
        assert!(mode.encode(&with("1\n"), "sanitize").is_err());
        assert_eq!(mode.file(&with("1\n")).unwrap(), "device/scsi_disk/0:0:0:0/zeroing_mode");
        assert_eq!(mode.kernel(&with("0\n")).as_deref(), Some("writesame"), "sd does not look at LBPRZ then");
        assert_eq!(mode.kernel(&with("1\n")).as_deref(), None, "LBPRZ is not known");
    }

    #[test]
    fn tunables_that_are_only_shown_are_never_written() {
        let f = facts("sda", &[], &[]);
        for row in super::ROWS.iter().filter(|r| !r.managed) {
            assert!(row.encode(&f, "0").is_err(), "{}", row.name);
        }
    }
}
