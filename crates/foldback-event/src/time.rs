//! Time as it is stored.

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01T00:00:00Z, which may be negative.
///
/// Calendars and time zones are the business of the edges; inside, time is only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Micros(pub i64);

impl Micros {
    /// Adds a number of seconds, stopping at the ends of the range.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }
}
