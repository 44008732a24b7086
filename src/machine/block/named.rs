//! Resolves what a person typed to a device: the kernel's name, a node, a link, a volume, a device-mapper name, a mount
//! point. If two devices have the name, the result is an error that names both; none is preferred, because a test may follow.

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::machine::block::devices::{self, Target};
use crate::machine::block::names::{self, Mounted};
use crate::machine::fs::path_info;
use crate::machine::fs::root::Root;

/// A device that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The device, and the partition that was named.
    pub target: Target,
    /// Where something else was named that the whole device answers for: what, in a sentence.
    pub stands_for: Option<String>,
}

/// Finds what was typed.
pub fn resolve(root: &Root, typed: &str) -> Result<Found> {
    let mut found: Vec<Target> = Vec::new();
    let mut add = |target: Target| {
        if !found.iter().any(|f| node(f) == node(&target)) {
            found.push(target);
        }
    };
    let first = devices::resolve(root, typed);
    if root.is_system() {
        let others = nodes(typed).into_iter().filter(|node| path_info::node_number(node).is_some());
        others
            .filter_map(|node| devices::resolve(root, &node).ok())
            .chain(first.as_ref().ok().cloned())
            .for_each(&mut add);
    } else {
        // The kernel's own name can only meet one that an administrator made.
        let called = names::called(root, typed, first.is_ok());
        first.as_ref().ok().cloned().into_iter().chain(called).for_each(&mut add);
    }
    match (found.as_slice(), first) {
        ([target], _) => {
            let stands_for = target
                .partition
                .as_ref()
                .map(|_| format!("{0} is a partition of {1}; {1} is used", escape_str(typed), target.device.node()));
            Ok(Found { target: target.clone(), stands_for })
        }
        ([], Err(e)) => at_mount_point(root, typed).unwrap_or(Err(e)),
        ([], Ok(target)) => Ok(Found { target, stands_for: None }),
        (several, _) => Err(ambiguous(typed, "is a name of", several.iter().map(node))),
    }
}

/// The nodes that may be meant on a running system.
fn nodes(typed: &str) -> Vec<String> {
    let below_dev = typed.strip_prefix("/dev/").unwrap_or(typed);
    let volume = names::mapper_name(below_dev).filter(|_| below_dev != typed || !typed.starts_with('/'));
    let mut nodes: Vec<String> = volume.map(|name| format!("/dev/mapper/{name}")).into_iter().collect();
    if !typed.starts_with(['/', '.']) && !typed.is_empty() {
        nodes.extend(["", "mapper/", "md/", "disk/by-id/"].map(|dir| format!("/dev/{dir}{typed}")));
    }
    nodes
}

fn node(target: &Target) -> String {
    target.partition.as_ref().map_or_else(|| target.device.node(), |p| p.node())
}

fn ambiguous(typed: &str, how: &str, nodes: impl Iterator<Item = String>) -> Error {
    let nodes: Vec<String> = nodes.map(|n| escape_str(&n)).collect();
    Error::Usage(format!("{} {how} {}; name one of them", escape_str(typed), nodes.join(" and ")))
}

/// The device of the file system that is mounted there; `None` where nothing is.
fn at_mount_point(root: &Root, typed: &str) -> Option<Result<Found>> {
    if !typed.starts_with('/') {
        return None;
    }
    let point = match root.is_system() {
        true => path_info::locate(typed).ok()?.path,
        false => typed.to_owned(),
    };
    let on = Mounted::read(root).at(root, &point);
    match on.as_slice() {
        [] => None,
        [device] => {
            let says = format!("{0}: its file system is on {1}; {1} is used", escape_str(typed), device.node());
            let target = Target { device: device.clone(), partition: None };
            Some(Ok(Found { target, stands_for: Some(says) }))
        }
        several => Some(Err(ambiguous(typed, "has its file system on", several.iter().map(|d| d.node())))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_may_be_meant() {
        assert_eq!(nodes("/dev/vg0/root"), ["/dev/mapper/vg0-root"]);
        assert_eq!(nodes("vg0/root")[..2], ["/dev/mapper/vg0-root", "/dev/vg0/root"]);
        assert_eq!(nodes("sda"), ["/dev/sda", "/dev/mapper/sda", "/dev/md/sda", "/dev/disk/by-id/sda"]);
        for none in ["/home", "/", "./x", "../x", "/dev/sda", "/dev/disk/by-id/x", "", "/srv/data"] {
            assert!(nodes(none).is_empty(), "{none}: {:?}", nodes(none));
        }
    }
}
