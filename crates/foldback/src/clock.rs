//! The one place that reads the clock and the random source.
//!
//! Times and ids made here are written into events and read back from there ever after.

use foldback_event::{EventId, Micros};

/// Where time and event ids come from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The system's clock and random source.
    #[default]
    System,
    /// A clock that starts at a time and gains a second at each reading, with ids that count up:
    /// for tests and simulations that must give the same bytes twice.
    Fixed(
        /// The state that all clones share.
        std::sync::Arc<std::sync::atomic::AtomicI64>,
    ),
}

impl Clock {
    /// Makes a clock that starts at a time and gains a second at each reading.
    pub fn fixed(start: Micros) -> Self {
        Self::Fixed(std::sync::Arc::new(std::sync::atomic::AtomicI64::new(
            start.0,
        )))
    }

    /// Reads the time.
    pub fn now(&self) -> Micros {
        match self {
            #[expect(
                clippy::disallowed_methods,
                reason = "this is the edge where time enters"
            )]
            Self::System => Micros(chrono::Utc::now().timestamp_micros()),
            Self::Fixed(state) => {
                Micros(state.fetch_add(1_000_000, std::sync::atomic::Ordering::SeqCst))
            }
        }
    }

    /// Makes an event id: UUIDv7 of the time and, from the system's clock, of random bits.
    ///
    /// Without a random source the ids still differ by time and by the order of reading.
    pub fn event_id(&self) -> EventId {
        let now = self.now();
        let mut random = [0_u8; 10];
        match self {
            Self::System => {
                if getrandom::fill(&mut random).is_err() {
                    for (to, from) in random.iter_mut().zip(now.0.to_le_bytes()) {
                        *to = from;
                    }
                }
            }
            Self::Fixed(_) => {
                for (to, from) in random.iter_mut().zip(now.0.to_be_bytes()) {
                    *to = from;
                }
            }
        }
        let millis = u64::try_from(now.0.div_euclid(1_000)).unwrap_or(0);
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
        EventId::from_bytes(id.into_bytes())
    }
}

/// Writes a time as RFC 3339 in UTC, to the second.
pub fn rfc3339(at: Micros) -> String {
    let time = chrono::DateTime::from_timestamp_micros(at.0);
    time.map_or_else(
        || format!("{} us", at.0),
        |time| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    )
}
