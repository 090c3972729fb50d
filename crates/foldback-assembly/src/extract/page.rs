//! A text that grows up to a limit, and cutting that never splits a character.

/// Collects a summary; what does not fit whole is refused.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    limit: usize,
    full: bool,
}

impl Page {
    /// Starts an empty page of at most `limit` bytes.
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            full: false,
        }
    }

    /// Adds a piece whole, or nothing of it.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        if self.full || self.text.len().saturating_add(piece.len()) > self.limit {
            self.full = true;
            return false;
        }
        self.text.push_str(piece);
        true
    }

    /// Adds a piece on a line of its own, or nothing of it.
    pub(crate) fn line(&mut self, piece: &str) -> bool {
        let gap = usize::from(!self.text.is_empty());
        if self.text.len().saturating_add(piece.len() + gap) > self.limit {
            self.full = true;
            return false;
        }
        if gap == 1 {
            self.text.push('\n');
        }
        self.text.push_str(piece);
        true
    }

    /// Tells whether some piece was refused.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// Tells how many bytes are left.
    pub(crate) const fn room(&self) -> usize {
        self.limit.saturating_sub(self.text.len())
    }

    /// Gives the text as it stands.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Cuts back to a mark taken with `as_str().len()`; a full page stays full.
    pub(crate) fn cut_to(&mut self, mark: usize) {
        self.text.truncate(mark);
    }

    /// Gives the finished text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Gives the longest start of a text within `bytes` bytes that splits no character.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Gives a text whole if it fits, else its start at a word's end with an ellipsis.
pub(crate) fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let cut = head(text, bytes);
    let end = cut
        .rfind(char::is_whitespace)
        .filter(|at| *at >= bytes / 2)
        .unwrap_or(cut.len());
    format!("{}…", head(cut, end).trim_end())
}

/// Writes a byte count for people, without floats.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
