//! Decides whether a device provisions thinly, and which thresholds a test has to watch. It reads facts and files.

use crate::device::Kind;
use crate::facts::Facts;
use crate::machine::fs::root::Root;

/// VPD B2 PROVISIONING TYPE: not reported.
const TYPE_NOT_REPORTED: u64 = 0;
/// VPD B2 PROVISIONING TYPE: thin.
const TYPE_THIN: u64 = 2;

/// The limits and modes that a zeroing call can change, below the device.
const WATCHED: &[&str] = &[
    "queue/write_zeroes_max_bytes",
    "queue/write_zeroes_unmap_max_hw_bytes",
    "queue/write_zeroes_unmap_max_bytes",
    "queue/discard_max_bytes",
];
/// The same below `scsi_disk/*`.
const WATCHED_MODES: &[&str] = &["max_write_same_blocks", "zeroing_mode", "provisioning_mode"];

impl Facts {
    /// Why writing to the device may take space from a pool that others share; `None` where nothing says so.
    ///
    /// VPD B2 type 2; LBPME=1 with type 0 or not known, except behind libata, whose page is a constant; dm-thin.
    pub fn thin(&self) -> Option<String> {
        if self.device.kind == Kind::Dm && self.stack.target.known().is_some_and(|t| t.contains("thin") || t == "LVM") {
            // An LVM volume's uuid does not say linear from thin; a linear one passes zeroing, a thin one has no offload.
            let thin = self.stack.target.known().is_some_and(|t| t.contains("thin"));
            return (thin || self.queue.write_zeroes_max.is(0) && self.queue.discard_max.get().is_some_and(|n| n > 0))
                .then(|| "a device-mapper volume that may be thin".to_owned());
        }
        let scsi = self.scsi()?;
        match scsi.provisioning_type.get() {
            Some(TYPE_THIN) => Some("thinly provisioned (VPD B2 type 2)".to_owned()),
            Some(TYPE_NOT_REPORTED) | None if scsi.lbpme.is(true) && !self.is_libata() => {
                Some("possibly thinly provisioned (LBPME=1, provisioning type not reported)".to_owned())
            }
            _ => None,
        }
    }

    /// The limits and modes that a zeroing call can change: paths below the device.
    pub fn watched(&self) -> Vec<String> {
        let modes = self.scsi().and_then(|s| s.scsi_disk.as_ref());
        let modes = modes.into_iter().flat_map(|dir| WATCHED_MODES.iter().map(move |m| format!("{dir}/{m}")));
        WATCHED.iter().map(|p| (*p).to_owned()).chain(modes).collect()
    }

    /// Those as `name=value` lines, read anew; one that cannot be read is left out.
    pub fn limit_lines(&self, root: &Root) -> Vec<String> {
        let line = |path: &String| {
            let shown = path.strip_prefix("device/").and_then(|p| p.rsplit('/').next()).unwrap_or(path);
            root.text(&self.device.attr(path)).known().map(|v| format!("{shown}={v}"))
        };
        self.watched().iter().filter_map(line).collect()
    }
}
