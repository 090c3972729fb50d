//! Units: records that enter or stay out together.

use crate::assembly::{Decision, Item, Note, Section};
use foldback_event::kind::RecordRef;
use foldback_event::{Label, MemoryId, Presentation, Reason};

/// The verdict on one record, while it can still change.
pub(super) struct Entry {
    pub(super) position: u64,
    pub(super) record: RecordRef,
    pub(super) section: Section,
    pub(super) presentation: Option<Presentation>,
    pub(super) reason: Reason,
    pub(super) rule: Option<Label>,
    /// What it takes in this form, or as it was captured if it is out.
    pub(super) tokens: u64,
    pub(super) note: Option<Note>,
    /// What a memory would take in the place of its artifact, where that is shown raw.
    pub(super) stand_in: Option<u64>,
}

impl Entry {
    pub(super) fn omit(&mut self, reason: Reason) {
        self.presentation = None;
        self.reason = reason;
        self.rule = None;
    }

    /// Lets it in. The gate that permitted it stays named, but for a notice, which is there because
    /// the record itself is not.
    pub(super) fn show(&mut self, presentation: Presentation, reason: Reason, tokens: u64) {
        self.presentation = Some(presentation);
        self.reason = reason;
        if presentation == Presentation::Marker {
            self.rule = None;
        }
        self.tokens = tokens;
    }
}

/// Records that are decided together: a run's message and calls with their results, or one record.
pub(super) struct Unit {
    /// The position of its first record, by which it is ordered.
    pub(super) position: u64,
    pub(super) entries: Vec<Entry>,
    /// Whether it survives any budget.
    pub(super) protected: bool,
}

impl Unit {
    pub(super) fn is_in(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.presentation.is_some())
    }

    pub(super) fn tokens(&self) -> u64 {
        let taken = self
            .entries
            .iter()
            .filter(|entry| entry.presentation.is_some());
        taken.fold(0, |sum, entry| sum.saturating_add(entry.tokens))
    }

    /// Lets memories stand for the raw results that they condense, and tells whether that saves.
    pub(super) fn condense(&mut self) -> bool {
        let before = self.tokens();
        let mut replaced = Vec::new();
        for entry in &mut self.entries {
            if let (Some(tokens), Some(Note::Shown(artifact))) = (entry.stand_in, entry.note) {
                replaced.push((*artifact.as_bytes(), MemoryId::from_bytes(entry.record.id)));
                entry.show(Presentation::Compact, Reason::Permitted, tokens);
                entry.note = None;
            }
        }
        for entry in &mut self.entries {
            let stands = replaced
                .iter()
                .find(|(artifact, _)| *artifact == entry.record.id);
            if let Some((_, memory)) = stands {
                entry.omit(Reason::Budget);
                entry.note = Some(Note::StandsFor(*memory));
            }
        }
        self.tokens() < before
    }

    /// Takes all of it out.
    pub(super) fn omit(&mut self, reason: Reason) {
        for entry in self
            .entries
            .iter_mut()
            .filter(|entry| entry.presentation.is_some())
        {
            entry.presentation = None;
            entry.reason = reason;
            entry.rule = None;
            entry.note = None;
        }
    }

    pub(super) fn decisions(&self) -> impl Iterator<Item = Decision> + '_ {
        self.entries.iter().map(|entry| Decision {
            position: entry.position,
            record: entry.record,
            presentation: entry.presentation,
            reason: entry.reason,
            rule: entry.rule.clone(),
            tokens: entry.tokens,
            note: entry.note,
        })
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item> + '_ {
        self.entries.iter().filter_map(|entry| {
            Some(Item {
                section: entry.section,
                position: entry.position,
                record: entry.record,
                presentation: entry.presentation?,
                reason: entry.reason,
                tokens: entry.tokens,
            })
        })
    }
}
