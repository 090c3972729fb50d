//! Units: records that enter or stay out together.

use crate::assembly::{Decision, Item, Note, Section};
use foldback_event::kind::RecordRef;
use foldback_event::{ArtifactId, Label, MemoryId, Presentation, Reason};

/// The verdict on one record, while it can still change.
pub(super) struct Entry {
    pub(super) position: u64,
    /// Where it is written: a result stands at its call.
    pub(super) anchor: u64,
    pub(super) record: RecordRef,
    pub(super) section: Section,
    pub(super) presentation: Option<Presentation>,
    pub(super) reason: Reason,
    pub(super) rule: Option<Label>,
    /// What it takes in this form, or as it was captured if it is out.
    pub(super) tokens: u64,
    pub(super) note: Option<Note>,
    /// The forms of the result that this memory condenses, where they can still change.
    pub(super) ladder: Option<Ladder>,
}

/// The forms in which a result may stand, from the largest to the smallest, with what each takes.
///
/// The raw form is the artifact's own; in any other the memory stands for it. The brief form is
/// there only where it is the smallest.
#[derive(Clone, Copy)]
pub(super) struct Ladder {
    pub(super) artifact: ArtifactId,
    pub(super) raw: Option<u64>,
    pub(super) compact: Option<u64>,
    pub(super) brief: Option<u64>,
    /// The form that the policy aims at.
    pub(super) due: Presentation,
    /// Why the raw form stands, where it is the one that is due.
    pub(super) why_raw: Reason,
    /// Why the memory stands, and what it points to.
    pub(super) why: Reason,
    pub(super) note: Option<Note>,
    /// Why the artifact is out where the memory stands for it.
    pub(super) out: Reason,
}

impl Ladder {
    /// Gives what a form takes; none if the result may not stand in it.
    pub(super) fn tokens(&self, form: Presentation) -> Option<u64> {
        match form {
            Presentation::Raw => self.raw,
            Presentation::Compact => self.compact,
            Presentation::Brief => self.brief,
            _ => None,
        }
    }

    /// Gives the smallest form that takes less than the one that is due.
    fn smaller(&self) -> Option<Presentation> {
        let due = self.tokens(self.due)?;
        [Presentation::Brief, Presentation::Compact]
            .into_iter()
            .filter(|form| self.tokens(*form).is_some_and(|tokens| tokens < due))
            .min_by_key(|form| self.tokens(*form))
    }
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

    /// Lets the result of a memory's ladder stand in a form, for a reason of its own or, without
    /// one, for that of the form that is due. A form that the ladder lacks changes nothing.
    pub(super) fn stand(&mut self, memory: usize, form: Presentation, cause: Option<Reason>) {
        let Some(entry) = self.entries.get_mut(memory) else {
            return;
        };
        let Some(ladder) = entry.ladder else { return };
        let Some(tokens) = ladder.tokens(form) else {
            return;
        };
        let raw = form == Presentation::Raw;
        let stands = MemoryId::from_bytes(entry.record.id);
        if raw {
            entry.omit(Reason::Replaced);
            entry.note = Some(Note::Shown(ladder.artifact));
        } else {
            let told = ladder.why != Reason::Permitted;
            let why = cause.filter(|cause| !told && *cause != Reason::Budget);
            entry.show(form, why.unwrap_or(ladder.why), tokens);
            entry.note = ladder.note;
        }
        let artifact = self.entries.iter_mut();
        let mut artifact = artifact.filter(|e| e.record.id == *ladder.artifact.as_bytes());
        // Exact bytes in the tail stand whatever stands at the call.
        let Some(artifact) = artifact.find(|e| e.section == Section::History) else {
            return;
        };
        if raw {
            artifact.show(Presentation::Raw, cause.unwrap_or(ladder.why_raw), tokens);
            artifact.note = None;
        } else if artifact.presentation.is_some() || artifact.reason == Reason::Permitted {
            artifact.omit(cause.filter(|c| *c == Reason::Budget).unwrap_or(ladder.out));
            artifact.note = Some(Note::StandsFor(stands));
        }
    }

    /// Lets smaller forms stand for the results, and tells whether that saves.
    pub(super) fn condense(&mut self) -> bool {
        let before = self.tokens();
        for at in 0..self.entries.len() {
            let ladder = self.entries.get(at).and_then(|entry| entry.ladder);
            if let Some(form) = ladder.and_then(|ladder| ladder.smaller()) {
                self.stand(at, form, Some(Reason::Budget));
            }
        }
        self.tokens() < before
    }

    /// Takes all of it out, and with it what the rest of it stood for.
    pub(super) fn omit(&mut self, reason: Reason) {
        for entry in &mut self.entries {
            let stood = matches!(entry.note, Some(Note::StandsFor(_) | Note::Shown(_)));
            if entry.presentation.is_some() || stood {
                entry.omit(reason);
                entry.note = None;
            }
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

    /// Lists what is in, each with the place at which it is written.
    pub(super) fn items(&self) -> impl Iterator<Item = (u64, Item)> + '_ {
        self.entries.iter().filter_map(|entry| {
            let item = Item {
                section: entry.section,
                position: entry.position,
                record: entry.record,
                presentation: entry.presentation?,
                reason: entry.reason,
                tokens: entry.tokens,
                note: entry.note,
            };
            Some((entry.anchor, item))
        })
    }
}
