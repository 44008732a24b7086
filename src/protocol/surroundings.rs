//! What around a test would be measured instead of the device: limits on the I/O of zerocap's control group, for the device
//! or for one below it. It only reads. A limit refuses the test, and so does a limit that is not known.

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
                "{} says \"{}\": this limits the I/O of zerocap's control group, so the test would measure the limit \
                 and not the device; run the test outside of that control group, or remove the limit for its time",
                limit.file, limit.line
            )),
        },
        crate::fact::Fact::Unknown(why) => refuse(format!(
            "it is not known whether a control group limits its I/O ({why}); make sure that /proc and /sys/fs/cgroup \
             can be read"
        )),
    }
}
