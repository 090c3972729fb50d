//! Events to bytes and back (docs/event-format.md, "Record").
//!
//! The one module that knows bincode. The configuration is bincode 2's standard one: little
//! endian, variable-length integers. A record starts with a version byte, so another codec can
//! stand beside this one.

use crate::{Body, Envelope, Event, Kind, limits};
use bincode::enc::write::Writer;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version byte of the records that this library writes.
pub const RECORD_VERSION: u8 = 1;

/// Says why an event cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It is longer than a record may be.
    #[error("the event takes {bytes} bytes, at most {max} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The codec refuses it.
    #[error("the event cannot be encoded: {reason}")]
    Codec {
        /// What the codec says.
        reason: String,
    },
}

/// Says why bytes are no event.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no bytes.
    #[error("an empty record is no event")]
    Empty,
    /// The record was written by a newer library.
    #[error("record version {found} is not known, at most {max} is")]
    Version {
        /// What was found.
        found: u8,
        /// The newest version that this library reads.
        max: u8,
    },
    /// It is longer than a record may be.
    #[error("the record has {bytes} bytes, at most {max} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The bytes do not follow the layout.
    #[error("{what} is malformed: {reason}")]
    Malformed {
        /// Which part.
        what: &'static str,
        /// What the codec says.
        reason: String,
    },
    /// The bytes decode, but the same value is written otherwise: they are not ours.
    #[error("{what} is not in its one canonical form")]
    NotCanonical {
        /// Which part.
        what: &'static str,
    },
}

/// The most memory that decoding a record may ask for.
///
/// bincode counts a number as its size in memory, whatever it takes in the record: at most eight
/// times as much. So every record up to [`limits::RECORD_BYTES_MAX`] can be read, and a length that
/// promises more than any record holds is refused before memory is taken for it.
const CLAIM_BYTES_MAX: usize = 8 * limits::RECORD_BYTES_MAX;

/// The same for state that a cache keeps: a graph outgrows any one record.
const STATE_BYTES_MAX: usize = 1024 * 1024 * 1024;

type Config<const LIMIT: usize> = bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<LIMIT>,
>;

const fn config<const LIMIT: usize>() -> Config<LIMIT> {
    bincode::config::standard().with_limit::<LIMIT>()
}

#[derive(Serialize, serde::Deserialize)]
struct Header {
    envelope: Envelope,
    kind: u16,
    kind_version: u16,
    must_understand: bool,
}

/// Writes any wire value: bodies, and state that a cache keeps.
pub fn encode_value<T: Serialize>(value: &T) -> Result<Vec<u8>, EncodeError> {
    bincode::serde::encode_to_vec(value, config::<STATE_BYTES_MAX>()).map_err(|error| {
        EncodeError::Codec {
            reason: error.to_string(),
        }
    })
}

/// Reads state that a cache keeps and that takes all the bytes.
pub fn decode_value<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<T, DecodeError> {
    decode_whole::<T, STATE_BYTES_MAX>("the value", bytes)
}

/// Reads the body of a record.
pub(crate) fn decode_body<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<T, DecodeError> {
    decode_whole::<T, CLAIM_BYTES_MAX>("the body", bytes)
}

fn decode_whole<T: DeserializeOwned + Serialize, const LIMIT: usize>(
    what: &'static str,
    bytes: &[u8],
) -> Result<T, DecodeError> {
    let (value, used) = decode_prefix::<T, LIMIT>(what, bytes)?;
    if used != bytes.len() {
        return Err(DecodeError::Malformed {
            what,
            reason: format!("{} bytes are left over", bytes.len() - used),
        });
    }
    Ok(value)
}

/// Reads a value and checks that its bytes are the ones that this library would write.
fn decode_prefix<T: DeserializeOwned + Serialize, const LIMIT: usize>(
    what: &'static str,
    bytes: &[u8],
) -> Result<(T, usize), DecodeError> {
    let malformed = |reason: String| DecodeError::Malformed { what, reason };
    let (value, used) = bincode::serde::decode_from_slice::<T, _>(bytes, config::<LIMIT>())
        .map_err(|error| malformed(error.to_string()))?;
    let mut same = Same(bytes.get(..used).unwrap_or_default());
    let written =
        bincode::serde::encode_into_writer(&value, &mut same, config::<STATE_BYTES_MAX>());
    if written.is_err() || !same.0.is_empty() {
        return Err(DecodeError::NotCanonical { what });
    }
    Ok((value, used))
}

/// Takes the bytes that a value is written as, and holds them to those that it was read from: what
/// differs ends the writing.
struct Same<'b>(&'b [u8]);

impl Writer for Same<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), bincode::error::EncodeError> {
        self.0 = self
            .0
            .strip_prefix(bytes)
            .ok_or(bincode::error::EncodeError::Other(
                "it is written otherwise",
            ))?;
        Ok(())
    }
}

impl Event {
    /// Writes the event as a record.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let (kind, kind_version, must_understand) = match (&self.body, self.body.kind()) {
            (Body::Unknown(unknown), _) => {
                (unknown.number, unknown.version, unknown.must_understand)
            }
            (_, Some(kind)) => (kind.number(), kind.version(), kind.must_understand()),
            (_, None) => {
                return Err(EncodeError::Codec {
                    reason: "the body has no kind".to_owned(),
                });
            }
        };
        let header = Header {
            envelope: self.envelope,
            kind,
            kind_version,
            must_understand,
        };
        let mut record = vec![RECORD_VERSION];
        record.extend(encode_value(&header)?);
        record.extend(self.body.encode()?);
        if record.len() > limits::RECORD_BYTES_MAX {
            return Err(EncodeError::TooLarge {
                bytes: record.len(),
                max: limits::RECORD_BYTES_MAX,
            });
        }
        Ok(record)
    }

    /// Reads an event from a record.
    pub fn decode(record: &[u8]) -> Result<Self, DecodeError> {
        if record.len() > limits::RECORD_BYTES_MAX {
            return Err(DecodeError::TooLarge {
                bytes: record.len(),
                max: limits::RECORD_BYTES_MAX,
            });
        }
        let (version, rest) = record.split_first().ok_or(DecodeError::Empty)?;
        if *version != RECORD_VERSION {
            return Err(DecodeError::Version {
                found: *version,
                max: RECORD_VERSION,
            });
        }
        let (header, used) = decode_prefix::<Header, CLAIM_BYTES_MAX>("the header", rest)?;
        let bytes = rest.get(used..).unwrap_or_default();
        let body = Body::decode(
            header.kind,
            header.kind_version,
            header.must_understand,
            bytes,
        )?;
        // The bit belongs to the kind; only of a kind that is not known is it taken from the record.
        let must = body.kind().map(Kind::must_understand);
        if must.is_some_and(|must| must != header.must_understand) {
            return Err(DecodeError::NotCanonical { what: "the header" });
        }
        Ok(Self {
            envelope: header.envelope,
            body,
        })
    }
}
