//! The content of a message: a text, or a list of parts, with one byte form for each.
//!
//! The byte form is what a vault keeps as a message's payload. A text is its own UTF-8 bytes; parts
//! are a JSON array in which images, documents and unknown blocks stand as the source had them, to
//! the byte. The same content gives the same bytes, and reading them back gives the same content.

use foldback_event::MediaType;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One text, exactly as it was written.
    Text(String),
    /// Several parts, or parts that are not text.
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning that a provider lets its client see and may ask to be sent back unchanged.
    Thinking {
        /// The reasoning.
        text: String,
        /// The provider's signature over it.
        signature: Option<String>,
    },
    /// Reasoning that only the provider can read.
    RedactedThinking {
        /// The provider's opaque bytes.
        data: String,
    },
    /// An image.
    Image {
        /// The block of the source, one JSON value, to the byte.
        json: String,
    },
    /// A document, such as a PDF.
    Document {
        /// The block of the source, one JSON value, to the byte.
        json: String,
    },
    /// A block of another kind, or one that carries more than the kinds above can hold.
    Other {
        /// The block of the source, one JSON value, to the byte.
        json: String,
    },
}

/// Says why bytes are no content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContentError {
    /// A text is not UTF-8.
    #[error("the text is not UTF-8 at byte {at}")]
    Utf8 {
        /// The first byte that does not fit.
        at: usize,
    },
    /// The bytes are no array of known parts.
    #[error("the bytes are no array of message parts, at column {column}")]
    Parts {
        /// The column of the JSON text, from 1.
        column: usize,
        /// What the JSON reader saw.
        source: serde_json::Error,
    },
}

/// The JSON form of a part.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Wire<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Thinking {
        thinking: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Cow<'a, str>>,
    },
    RedactedThinking {
        data: Cow<'a, str>,
    },
    Image {
        json: Cow<'a, str>,
    },
    Document {
        json: Cow<'a, str>,
    },
    Other {
        json: Cow<'a, str>,
    },
}

impl Content {
    /// Makes the simplest content of parts: one text part is a text.
    pub fn of_parts(mut parts: Vec<Part>) -> Self {
        if parts.len() == 1 {
            match parts.pop() {
                Some(Part::Text { text }) => return Self::Text(text),
                Some(other) => parts.push(other),
                None => {}
            }
        }
        Self::Parts(parts)
    }

    /// Gives the media type that goes with [`Self::to_bytes`].
    pub const fn media_type(&self) -> MediaType {
        match self {
            Self::Text(_) => MediaType::Text,
            Self::Parts(_) => MediaType::Parts,
        }
    }

    /// Gives the byte form.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Parts(parts) => {
                let wires: Vec<Wire<'_>> = parts.iter().map(Wire::of).collect();
                // Strings alone cannot fail to serialize; an empty array stands for "no parts".
                serde_json::to_vec(&wires).unwrap_or_else(|_| b"[]".to_vec())
            }
        }
    }

    /// Reads the byte form back.
    ///
    /// Any media type but [`MediaType::Parts`] is read as text.
    pub fn from_bytes(media_type: MediaType, bytes: &[u8]) -> Result<Self, ContentError> {
        if media_type == MediaType::Parts {
            let wires: Vec<Wire<'_>> =
                serde_json::from_slice(bytes).map_err(|source| ContentError::Parts {
                    column: source.column(),
                    source,
                })?;
            return Ok(Self::Parts(wires.into_iter().map(Part::from).collect()));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::Text(text.to_owned())),
            Err(error) => Err(ContentError::Utf8 {
                at: error.valid_up_to(),
            }),
        }
    }

    /// Gives the plain text of all text parts, one line break between two; reasoning, images and
    /// documents are left out.
    pub fn plain_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let texts: Vec<Cow<'_, str>> = parts.iter().filter_map(Part::plain_text).collect();
                Cow::Owned(texts.join("\n"))
            }
        }
    }

    /// Tells whether there is nothing to read: no part, or empty text only.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts
                .iter()
                .all(|p| matches!(p, Part::Text { text } if text.is_empty())),
        }
    }
}

impl Part {
    /// Gives the text that a reader sees: of a text part, or of an unknown block that has a text.
    pub fn plain_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text { text } => Some(Cow::Borrowed(text)),
            Self::Other { json } => Self::text_in(json).map(Cow::Owned),
            _ => None,
        }
    }

    fn text_in(json: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct TextOnly {
            text: Option<String>,
        }
        serde_json::from_str::<TextOnly>(json).ok()?.text
    }

    /// Gives the source block of an image, document or unknown part.
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Image { json } | Self::Document { json } | Self::Other { json } => Some(json),
            _ => None,
        }
    }

    /// Keeps a block of a source, to the byte, under the kind that its `type` names.
    pub fn of_block(kind: &str, block: &RawValue) -> Self {
        let json = block.get().to_owned();
        match kind {
            "image" | "image_url" | "input_image" => Self::Image { json },
            "document" | "file" | "input_file" => Self::Document { json },
            _ => Self::Other { json },
        }
    }
}

impl<'a> Wire<'a> {
    fn of(part: &'a Part) -> Self {
        match part {
            Part::Text { text } => Self::Text { text: text.into() },
            Part::Thinking { text, signature } => Self::Thinking {
                thinking: text.into(),
                signature: signature.as_deref().map(Cow::Borrowed),
            },
            Part::RedactedThinking { data } => Self::RedactedThinking { data: data.into() },
            Part::Image { json } => Self::Image { json: json.into() },
            Part::Document { json } => Self::Document { json: json.into() },
            Part::Other { json } => Self::Other { json: json.into() },
        }
    }
}

impl From<Wire<'_>> for Part {
    fn from(wire: Wire<'_>) -> Self {
        match wire {
            Wire::Text { text } => Self::Text {
                text: text.into_owned(),
            },
            Wire::Thinking {
                thinking,
                signature,
            } => Self::Thinking {
                text: thinking.into_owned(),
                signature: signature.map(Cow::into_owned),
            },
            Wire::RedactedThinking { data } => Self::RedactedThinking {
                data: data.into_owned(),
            },
            Wire::Image { json } => Self::Image {
                json: json.into_owned(),
            },
            Wire::Document { json } => Self::Document {
                json: json.into_owned(),
            },
            Wire::Other { json } => Self::Other {
                json: json.into_owned(),
            },
        }
    }
}
