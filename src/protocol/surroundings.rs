//! What around a test would be measured in place of the device: limits on the I/O of the own control group, on the device or
//! on one below it. Reads only; a limit refuses the test, and so does not knowing.

use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::block::stack;
use crate::machine::cgroup;
use crate::machine::fs::root::Root;

/// That no control group limits this process's I/O to the device.
pub(crate) fn unlimited(root: &Root, facts: &Facts) -> Result<()> {
    let refuse = |why: String| Err(Error::NotSafe { device: facts.device.node(), why });
    let devices: Vec<_> = stack::with_members(root, &facts.device).into_iter().filter_map(|d| d.devnum).collect();
    match cgroup::limits(root, &devices) {
        crate::fact::Fact::Known(limits) => match limits.first() {
            None => Ok(()),
            Some(limit) => refuse(format!(
                "{} says \"{}\": this limit on the I/O of the own control group would be measured in place of the device; \
                 run the test outside of that group, or take the limit away meanwhile",
                limit.file, limit.line
            )),
        },
        crate::fact::Fact::Unknown(why) => refuse(format!(
            "whether a control group limits its I/O is not known ({why}); see that /proc and /sys/fs/cgroup can be read"
        )),
    }
}
