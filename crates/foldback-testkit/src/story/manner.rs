//! What is out of the ordinary about the next event.

use super::Story;
use foldback_event::{
    BranchId, Freshness, Isolation, Label, Ownership, ParticipantId, Privacy, RunId, RuntimeKind,
    ShortDigest, Visibility,
};

/// Settings for the next event alone; none for the ordinary.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    pub(super) privacy: Option<Privacy>,
    visibility: Option<Visibility>,
    shared_with: Vec<ParticipantId>,
    mode: Option<RuntimeKind>,
    pub(super) freshness: Option<Freshness>,
    pub(super) stale_after: Option<i64>,
    pub(super) subject: Option<ShortDigest>,
    pub(super) facts: Vec<(String, String)>,
    pub(super) lossless: bool,
    pub(super) brief: Option<String>,
    pub(super) outline: Option<String>,
    pub(super) structured: bool,
    pub(super) source_id: Option<Label>,
    pub(super) silent: bool,
}

/// Shortens a plain BLAKE3, where the engine has a keyed one.
pub(super) fn short(parts: &[&str]) -> ShortDigest {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    let mut out = [0; 16];
    for (to, from) in out.iter_mut().zip(hasher.finalize().as_bytes()) {
        *to = *from;
    }
    ShortDigest::from_bytes(out)
}

impl Story {
    /// Sets the privacy class of the next record; ordinary is `internal`.
    pub const fn privacy(&mut self, class: Privacy) -> &mut Self {
        self.next.privacy = Some(class);
        self
    }

    /// Sets who may see the next record; ordinary is `branch`, and `participant-private` for what
    /// a child agent does.
    pub const fn visibility(&mut self, visibility: Visibility) -> &mut Self {
        self.next.visibility = Some(visibility);
        self
    }

    /// Keeps the next record to its owner.
    pub const fn private(&mut self) -> &mut Self {
        self.visibility(Visibility::ParticipantPrivate)
    }

    /// Shares the next record, private otherwise, with participants.
    pub fn shared_with(&mut self, participants: &[ParticipantId]) -> &mut Self {
        self.next.shared_with = participants.to_vec();
        self.next.shared_with.sort_unstable();
        self.private()
    }

    /// Sets the mode of the next record; ordinary is `chat`, and the run's mode for what a run
    /// does.
    pub const fn mode(&mut self, mode: RuntimeKind) -> &mut Self {
        self.next.mode = Some(mode);
        self
    }

    /// Sets how long the next memory holds; ordinary is `bounded`.
    pub const fn freshness(&mut self, class: Freshness) -> &mut Self {
        self.next.freshness = Some(class);
        self
    }

    /// Makes the next memory stale so many seconds after its event.
    pub const fn stale_after(&mut self, seconds: i64) -> &mut Self {
        self.next.stale_after = Some(seconds);
        self
    }

    /// Says what the next memory is about.
    pub fn about(&mut self, subject: &str) -> &mut Self {
        self.next.subject = Some(short(&["subject", subject]));
        self
    }

    /// Gives the next memory facts: what each is about, and its value.
    pub fn facts(&mut self, facts: &[(&str, &str)]) -> &mut Self {
        let owned = facts
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        self.next.facts = owned.collect();
        self
    }

    /// Says that every value of the source stands in the next memory.
    pub const fn lossless(&mut self) -> &mut Self {
        self.next.lossless = true;
        self
    }

    /// Says that the next memory is of structured data, and keeps every value of it.
    pub const fn structured(&mut self) -> &mut Self {
        self.next.structured = true;
        self.lossless()
    }

    /// Gives the next memory a brief text.
    pub fn brief(&mut self, text: &str) -> &mut Self {
        self.next.brief = Some(text.to_owned());
        self
    }

    /// Gives the next memory an outline.
    pub fn outline(&mut self, text: &str) -> &mut Self {
        self.next.outline = Some(text.to_owned());
        self
    }

    /// Gives the next call the provider's id.
    pub fn source_id(&mut self, id: &str) -> &mut Self {
        self.next.source_id = Some(Label::or_stand_in(id));
        self
    }

    /// Leaves out the text of the next record that may go without: a result, a report.
    pub const fn silent(&mut self) -> &mut Self {
        self.next.silent = true;
        self
    }

    /// Gives the digest of a question: a tool and its arguments.
    pub fn question(tool: &str, arguments: &str) -> ShortDigest {
        short(&["question", tool, arguments])
    }

    /// Gives the digest of a subject, as [`Story::about`] sets it.
    pub fn subject(subject: &str) -> ShortDigest {
        short(&["subject", subject])
    }

    pub(super) const fn next_mode(&self) -> Option<RuntimeKind> {
        self.next.mode
    }

    pub(super) fn next_privacy(&self) -> Privacy {
        self.next.privacy.unwrap_or(Privacy::Internal)
    }

    /// Says whose the next record is, by the ordinary rules and what was set.
    pub(super) fn ownership(
        &self,
        owner: Option<ParticipantId>,
        run: Option<RunId>,
        branch: BranchId,
    ) -> Ownership {
        let child = owner.is_some_and(|owner| self.children.contains_key(&owner));
        let (visibility, mode) = if child {
            (Visibility::ParticipantPrivate, RuntimeKind::Child)
        } else {
            (Visibility::Branch, RuntimeKind::Chat)
        };
        let mode = run
            .and_then(|run| self.runs.get(&run))
            .map_or(mode, |place| place.kind);
        let shared_with = self.next.shared_with.clone();
        Ownership {
            owner_participant: owner,
            owner_run: run,
            branch,
            visibility: self.next.visibility.unwrap_or(visibility),
            isolation: if shared_with.is_empty() {
                Isolation::Isolated
            } else {
                Isolation::Shared
            },
            shared_with,
            runtime_kind: self.next.mode.unwrap_or(mode),
        }
    }
}
