//! Limits that writers keep and readers check again (docs/event-format.md, "Limits").

/// The most bytes one encoded event may have.
pub const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The most bytes one payload may have before sealing.
pub const PAYLOAD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The most events one append may hold.
pub const BATCH_EVENTS_MAX: usize = 16_384;
