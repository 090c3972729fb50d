//! Images and documents, from the block of one provider to the block of another.

use crate::Part;
use serde_json::{Value, json};

/// Where the bytes of an image or a document are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Media {
    /// In the block.
    Base64 {
        /// Their IANA media type.
        media_type: String,
        /// Themselves.
        data: String,
    },
    /// At an address.
    Url(String),
    /// In the block, as text.
    Text(String),
}

impl Media {
    /// Finds the bytes in a block of either provider.
    pub(crate) fn of(part: &Part) -> Option<Self> {
        let block: Value = serde_json::from_str(part.json()?).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(source) = block.get("source") {
            return match source.get("type")?.as_str()? {
                "base64" => Some(Self::Base64 {
                    media_type: text(source.get("media_type")?)?,
                    data: text(source.get("data")?)?,
                }),
                "url" => Some(Self::Url(text(source.get("url")?)?)),
                "text" => Some(Self::Text(text(source.get("data")?)?)),
                _ => None,
            };
        }
        if let Some(image) = block.get("image_url") {
            return Some(Self::of_url(
                image.as_str().or_else(|| image.get("url")?.as_str())?,
            ));
        }
        let file = block.get("file").unwrap_or(&block);
        Some(Self::of_url(file.get("file_data")?.as_str()?))
    }

    fn of_url(url: &str) -> Self {
        let data = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"));
        match data {
            Some((media_type, data)) => Self::Base64 {
                media_type: media_type.to_owned(),
                data: data.to_owned(),
            },
            None => Self::Url(url.to_owned()),
        }
    }

    /// Writes the address, or the bytes as one.
    pub(crate) fn to_url(&self) -> Option<String> {
        match self {
            Self::Base64 { media_type, data } => Some(format!("data:{media_type};base64,{data}")),
            Self::Url(url) => Some(url.clone()),
            Self::Text(_) => None,
        }
    }

    /// Writes the source of an Anthropic block.
    pub(crate) fn to_source(&self) -> Value {
        match self {
            Self::Base64 { media_type, data } => {
                json!({"type": "base64", "media_type": media_type, "data": data})
            }
            Self::Url(url) => json!({"type": "url", "url": url}),
            Self::Text(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
        }
    }
}

/// Says that something stood here which this provider does not take in this place.
pub(crate) fn left_out(part: &Part) -> String {
    let kind = match part {
        Part::Image { .. } => "image".to_owned(),
        Part::Document { .. } => "document".to_owned(),
        part => part
            .json()
            .and_then(|json| serde_json::from_str::<Value>(json).ok())
            .and_then(|block| Some(block.get("type")?.as_str()?.chars().take(40).collect()))
            .unwrap_or_else(|| "block".to_owned()),
    };
    format!("[left out: {kind}]")
}
