//! The methods in the order in which it is safe to try them. It is pure.
//!
//! A rejected WRITE SAME without the UNMAP bit makes sd withdraw the offload (fieldguide 1.7). So methods that ask to
//! deallocate come first, then those that ask not to, and a method that promises nothing comes late.

use crate::terms::Method;

/// After the deciding method, in this order.
pub const SCREENED: &[Method] = &[Method::WriteZeroes, Method::ZeroRange, Method::BlkZeroOut, Method::BlkDiscard];

/// The method that the class of a device is about: never falls back to writing.
pub const DECIDING: Method = Method::PunchHole;

/// The method that the class is about where the test is made in a file: to the device the same request as [`DECIDING`], and
/// the only one after which the file holds its bytes where it held them before.
pub const IN_FILES: Method = Method::WriteZeroes;

/// Pairs of a screening.
pub const SCREENING_PAIRS: u32 = 3;

/// Whether success promises that zeroes are read afterwards.
pub const fn promises_zeroes(method: Method) -> bool {
    !matches!(method, Method::BlkDiscard)
}
