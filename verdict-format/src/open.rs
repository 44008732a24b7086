//! How the reader treats words that it does not know: it still reads a document of a newer zerocap, and an unknown word never
//! makes the answer better.

use crate::fleet::Cause;
use crate::{Basis, Class, Kind, Severity, State};
use serde::{Deserialize, Deserializer};
use std::str::FromStr;

fn word<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(String::deserialize(deserializer)?.parse().ok())
}

/// The type of a document. A file of an answer of another type is no document.
pub(crate) fn verdict() -> Kind {
    Kind::Verdict
}

/// A class that is not known counts as `unknown`.
pub(crate) fn class<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Class, D::Error> {
    Ok(word(deserializer)?.unwrap_or(Class::Unknown))
}

/// A severity that is not known counts as `warning`.
pub(crate) fn severity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Severity, D::Error> {
    Ok(word(deserializer)?.unwrap_or(Severity::Warning))
}

/// A state that is not known counts as `unknown`.
pub(crate) fn state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
    Ok(word(deserializer)?.unwrap_or(State::Unknown))
}

/// A cause that is not known counts as `unexplained`.
pub(crate) fn cause<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cause, D::Error> {
    Ok(word(deserializer)?.unwrap_or(Cause::Unexplained))
}

/// A basis that is not known counts as `model`, the weakest that there is.
pub(crate) fn basis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Basis>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|word| word.parse().unwrap_or(Basis::Model)))
}

/// As [`class`], where there may be none.
pub(crate) fn class_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Class>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|word| word.parse().unwrap_or(Class::Unknown)))
}

/// A word that is not known counts as null.
pub(crate) fn or_none<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|word| word.parse().ok()))
}
