//! The methods in the order that is safe to try them in. Pure.
//!
//! A rejected WRITE SAME without the UNMAP bit makes sd withdraw the offload (fieldguide 1.7), so what asks to deallocate
//! goes first, what asks not to goes after it, and what promises nothing goes late.

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
