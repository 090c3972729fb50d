//! The form of a call's result: raw, compact, or a notice in its place.

use super::super::cost;
use super::super::unit::{Entry, Ladder};
use super::{Judge, entry};
use crate::assembly::{Note, Section};
use crate::policy::{BriefAfter, Conflicting, Outdated, RawSpan};
use foldback_event::kind::RecordRef;
use foldback_event::{CallStatus, MemoryId, Presentation, Reason, RecordKind};
use foldback_graph::node::{Artifact, Call, Memory};

/// The extractors whose compact form keeps the structure of what they condense.
const STRUCTURED: [&str; 2] = ["json", "table"];

/// What rehydration has brought back so far.
#[derive(Default)]
pub(super) struct Rehydrated {
    bytes: u64,
    count: u64,
}

impl<'a> Judge<'_, 'a> {
    /// Lists a call's artifacts that are candidates, the oldest first.
    pub(super) fn outcomes(&self, call: &Call) -> Vec<&'a Artifact> {
        let graph = self.frame.graph;
        let all = call.artifacts.iter().filter_map(|id| graph.artifact(id));
        all.filter(|artifact| self.candidates.contains(&artifact.common.origin.position))
            .collect()
    }

    /// Leaves out an artifact, and its memories that do not stand alone, for one reason.
    pub(super) fn omit_outcome(&self, artifact: &Artifact, reason: Reason) -> Vec<Entry> {
        let mut out = vec![self.artifact_entry(artifact)];
        out.extend(
            self.memories(artifact)
                .iter()
                .filter(|memory| self.is_judged_with_call(memory))
                .map(|memory| self.memory_entry(memory)),
        );
        for entry in out
            .iter_mut()
            .filter(|entry| entry.reason == Reason::Permitted)
        {
            entry.omit(reason);
        }
        out
    }

    /// Decides in which form the last outcome of a call stands.
    pub(super) fn outcome(
        &mut self,
        call: &mut Entry,
        artifact: &Artifact,
        protected: bool,
    ) -> Vec<Entry> {
        let mut raw = self.artifact_entry(artifact);
        let memories = self.memories(artifact);
        let mut entries: Vec<Entry> = memories
            .iter()
            .map(|memory| self.memory_entry(memory))
            .collect();
        let standing = standing(&entries, &memories);
        let memory = standing.and_then(|at| memories.get(at).copied());
        let withheld = memory.is_none() && raw.reason == Reason::PrivacyRoute;
        if withheld && self.outline(&mut entries, &memories, artifact) {
            entries.push(raw);
            return entries;
        }
        let mut ladder = None;
        let compact = self.form(call, &mut raw, artifact, memory, protected, &mut ladder);
        if let Some(at) = standing
            && let Some(entry) = entries.get_mut(at)
        {
            entry.ladder = ladder;
        }
        for (at, entry) in entries.iter_mut().enumerate() {
            if entry.reason != Reason::Permitted {
                continue;
            }
            let broken = memories.get(at).is_some_and(|memory| memory.broken);
            match (&compact, memory) {
                _ if broken && Some(at) != standing => entry.omit(Reason::BrokenProvenance),
                (Some(form), Some(_)) if Some(at) == standing => {
                    entry.show(form.presentation, form.reason, form.tokens);
                    entry.note = form.note;
                }
                _ if call.presentation.is_none() => {
                    entry.omit(call.reason);
                    entry.note = call.note;
                }
                _ if raw.reason == Reason::Erased => entry.omit(Reason::Erased),
                (None, Some(_)) if raw.presentation == Some(Presentation::Raw) => {
                    entry.omit(Reason::Replaced);
                    entry.note = Some(Note::Shown(artifact.id));
                }
                _ => entry.omit(Reason::Replaced),
            }
        }
        if compact.is_some() && raw.presentation.is_none() && raw.reason == Reason::Permitted {
            raw.omit(Reason::Compacted);
            raw.note = memory.map(|memory| Note::StandsFor(memory.id));
        }
        entries.push(raw);
        entries
    }

    /// Chooses the form; a form of the memory is given back, any other is set on the artifact.
    fn form(
        &mut self,
        call: &mut Entry,
        raw: &mut Entry,
        artifact: &Artifact,
        memory: Option<&Memory>,
        protected: bool,
        ladder: &mut Option<Ladder>,
    ) -> Option<Form> {
        let may_raw = raw.reason == Reason::Permitted;
        let size = raw.tokens;
        let failed = artifact.status == CallStatus::Failed;
        if artifact.status.is_open() || artifact.result.is_none() {
            let reason = if protected {
                Reason::Recovery
            } else {
                Reason::Permitted
            };
            if may_raw && artifact.result.is_some() {
                raw.show(Presentation::Raw, reason, size);
            } else {
                raw.show(Presentation::Marker, reason, cost::marker(reason));
            }
            return None;
        }
        if artifact
            .result
            .is_some_and(|result| self.frame.graph.is_erased(&result.address))
        {
            raw.show(
                Presentation::Marker,
                Reason::Erased,
                cost::marker(Reason::Erased),
            );
            return None;
        }
        let large = size > self.frame.policy.presentation.raw_tokens_max;
        let brief = size <= self.frame.policy.recovery.error_tokens_max;
        if protected && failed && may_raw && !large && (brief || memory.is_none()) {
            raw.show(Presentation::Raw, Reason::Recovery, size);
            return None;
        }
        let Some(memory) = memory else {
            self.bare(raw, artifact, may_raw, large);
            return None;
        };
        let outdated = self.outdated(memory);
        let fresh = may_raw && !large && self.is_fresh(artifact, memory);
        let stale = matches!(
            outdated,
            Some((_, Reason::Stale | Reason::BrokenProvenance, _))
        );
        if fresh && !stale {
            raw.show(Presentation::Raw, Reason::FreshRaw, size);
            if !protected && self.may_stand_in(memory) {
                *ladder = Some(self.ladder(artifact, memory, Some(size), Presentation::Raw));
            }
            return None;
        }
        self.rehydrate(raw, artifact, may_raw);
        let exact = raw.presentation.is_some();
        if let Some((form, reason, note)) = outdated {
            if raw.reason == Reason::Permitted {
                raw.omit(reason);
                raw.note = Some(note);
            }
            if form == Outdated::Omit && !protected {
                call.omit(reason);
                call.note = Some(note);
                return None;
            }
            let (presentation, tokens) = (Presentation::Marker, cost::marker(reason));
            return Some(Form {
                presentation,
                reason,
                tokens,
                note: Some(note),
            });
        }
        if raw.reason == Reason::Permitted && large {
            raw.omit(Reason::TooLarge);
            raw.note = Some(Note::StandsFor(memory.id));
        }
        // A result that disagrees with another is never raw: the notice stands at its memory.
        let agrees = self.disagrees_with(memory).is_none();
        let size = (may_raw && !large && !exact && agrees).then_some(size);
        self.settle(raw, artifact, memory, size, protected, ladder)
    }

    /// Chooses among the forms of a memory that holds, and of a result that may stand raw if it has
    /// a size.
    fn settle(
        &mut self,
        raw: &mut Entry,
        artifact: &Artifact,
        memory: &Memory,
        size: Option<u64>,
        protected: bool,
        ladder: &mut Option<Ladder>,
    ) -> Option<Form> {
        let kept = size.filter(|size| self.saves_nothing(*size, memory));
        let due = if kept.is_some() {
            Presentation::Raw
        } else {
            Presentation::Compact
        };
        let form = self.compact(memory);
        if form.presentation == Presentation::Marker {
            if let Some(size) = kept {
                raw.show(Presentation::Raw, Reason::NoSaving, size);
                return None;
            }
            return Some(form);
        }
        let mut forms = self.ladder(artifact, memory, size, due);
        if raw.reason == Reason::TooLarge {
            forms.out = Reason::TooLarge;
        }
        forms.why = form.reason;
        forms.note = form.note;
        let notice = form.tokens.saturating_sub(self.compact_tokens(memory));
        for tokens in [&mut forms.compact, &mut forms.brief] {
            *tokens = tokens.map(|tokens| tokens.saturating_add(notice));
        }
        if self.is_brief_due(artifact) && forms.brief.is_some() && !protected {
            forms.due = Presentation::Brief;
        }
        *ladder = Some(forms);
        if forms.due == Presentation::Raw {
            raw.show(
                Presentation::Raw,
                Reason::NoSaving,
                size.unwrap_or_default(),
            );
            return None;
        }
        Some(Form {
            presentation: forms.due,
            tokens: forms.tokens(forms.due).unwrap_or(form.tokens),
            ..form
        })
    }

    /// Lists the forms of a result without any notice.
    fn ladder(
        &self,
        artifact: &Artifact,
        memory: &Memory,
        raw: Option<u64>,
        due: Presentation,
    ) -> Ladder {
        let compact = self.compact_tokens(memory);
        let least = raw.map_or(compact, |raw| raw.min(compact));
        let brief = memory
            .brief
            .filter(|brief| !self.frame.graph.is_erased(&brief.address));
        let brief = brief.map(|brief| u64::from(brief.tokens).saturating_add(self.cost.handle));
        Ladder {
            artifact: artifact.id,
            raw,
            compact: Some(compact),
            brief: brief.filter(|brief| self.saves(least, *brief)),
            due,
            why_raw: if self.is_fresh(artifact, memory) {
                Reason::FreshRaw
            } else {
                Reason::NoSaving
            },
            why: Reason::Permitted,
            note: None,
            out: Reason::Compacted,
        }
    }

    fn compact_tokens(&self, memory: &Memory) -> u64 {
        u64::from(memory.summary.tokens).saturating_add(self.cost.handle)
    }

    /// Tells whether a result is old enough to be brief.
    fn is_brief_due(&self, artifact: &Artifact) -> bool {
        let position = artifact.common.origin.position;
        match self.frame.policy.presentation.brief_after {
            BriefAfter::Start => true,
            BriefAfter::Once => position <= self.frame.marks.run,
            BriefAfter::Turn => position <= self.frame.marks.prompt,
            BriefAfter::Never => false,
        }
    }

    /// Lets the outline of a result stand whose values may not go on the route, where the policy
    /// has it so for the class; tells whether it did.
    fn outline(&self, entries: &mut [Entry], memories: &[&Memory], artifact: &Artifact) -> bool {
        let allowed = &self.frame.policy.presentation.outline;
        let erased = artifact
            .result
            .is_none_or(|result| self.frame.graph.is_erased(&result.address));
        if erased || artifact.status.is_open() {
            return false;
        }
        let newest = entries
            .iter_mut()
            .zip(memories)
            .rev()
            .find(|(entry, memory)| {
                entry.reason == Reason::PrivacyRoute && allowed.contains(&memory.common.privacy)
            });
        let Some((entry, memory)) = newest else {
            return false;
        };
        let outline = memory
            .outline
            .filter(|outline| !self.frame.graph.is_erased(&outline.address));
        let Some(outline) = outline else { return false };
        let tokens = u64::from(outline.tokens).saturating_add(cost::WITHHELD);
        entry.show(Presentation::Outline, Reason::PrivacyRoute, tokens);
        true
    }

    /// Chooses the form of a result that has no compact one: the bytes, or a notice.
    fn bare(&mut self, raw: &mut Entry, artifact: &Artifact, may_raw: bool, large: bool) {
        if may_raw && !large {
            let size = raw.tokens;
            raw.show(Presentation::Raw, Reason::Permitted, size);
            return;
        }
        self.rehydrate(raw, artifact, may_raw);
        if raw.presentation.is_some() {
            // Nothing else stands at the call, so the bytes do.
            raw.section = Section::History;
            return;
        }
        let reason = match raw.reason {
            Reason::Permitted => Reason::TooLarge,
            other => other,
        };
        let rule = raw.rule.clone();
        raw.show(Presentation::Marker, reason, cost::marker(reason));
        raw.rule = rule;
    }

    /// Tells whether a result is recent enough to be shown raw.
    ///
    /// Positions only grow, so what was compact once never becomes raw again: the prefix of a
    /// request stays what it was.
    fn is_fresh(&self, artifact: &Artifact, memory: &Memory) -> bool {
        let rules = &self.frame.policy.presentation;
        let structured = STRUCTURED.contains(&memory.extractor.as_str());
        let span = match (memory.lossless, structured) {
            (true, true) => rules.raw_structured,
            (true, false) => rules.raw_lossless,
            (false, _) => rules.raw_lossy,
        };
        let position = artifact.common.origin.position;
        match span {
            RawSpan::Never => false,
            RawSpan::Always => true,
            RawSpan::Once => position > self.frame.marks.run,
            RawSpan::Turn => position > self.frame.marks.prompt,
        }
    }

    fn saves_nothing(&self, size: u64, memory: &Memory) -> bool {
        let small = size <= self.frame.policy.presentation.small_tokens;
        small || !self.saves(size, self.compact_tokens(memory))
    }

    /// Tells whether a smaller form saves the share of a larger one that the policy asks for.
    fn saves(&self, larger: u64, smaller: u64) -> bool {
        let percent = self.frame.policy.presentation.saving_percent_min;
        let allowed = larger.saturating_mul(100_u64.saturating_sub(percent)) / 100;
        smaller <= allowed
    }

    /// Step 8: exact bytes, only for what was selected, is permitted raw, was asked for, and fits.
    fn rehydrate(&mut self, raw: &mut Entry, artifact: &Artifact, may_raw: bool) {
        if !self.frame.request.exact.contains(&artifact.id) || !may_raw {
            return;
        }
        let rules = &self.frame.policy.rehydration;
        let size = artifact.result.map_or(0, |result| result.bytes);
        let bytes = self.rehydrated.bytes.saturating_add(size);
        if !rules.allows(artifact.common.privacy, self.frame.facts.trust) {
            raw.omit(Reason::PrivacyRoute);
        } else if bytes > rules.bytes_max || self.rehydrated.count >= rules.count_max {
            raw.omit(Reason::RehydrationLimit);
        } else {
            self.rehydrated.bytes = bytes;
            self.rehydrated.count += 1;
            let tokens = raw.tokens.saturating_add(cost::CAPTION);
            raw.show(Presentation::Raw, Reason::ExactNeeded, tokens);
            raw.section = Section::Tail;
        }
    }

    /// Shows a memory that stands by itself.
    pub(super) fn show_memory(&mut self, entry: &mut Entry, memory: &Memory, caption: u64) {
        let form = match self.outdated(memory) {
            Some((Outdated::Omit, reason, note)) => {
                entry.omit(reason);
                entry.note = Some(note);
                return;
            }
            Some((_, reason, note)) => {
                let (presentation, tokens) = (Presentation::Marker, cost::marker(reason));
                Form {
                    presentation,
                    reason,
                    tokens,
                    note: Some(note),
                }
            }
            None => self.compact(memory),
        };
        entry.show(
            form.presentation,
            form.reason,
            form.tokens.saturating_add(caption),
        );
        entry.note = form.note;
    }

    /// Finds an older memory that a memory disagrees with, and that could be in the request too.
    fn disagrees_with(&self, memory: &Memory) -> Option<MemoryId> {
        let graph = self.frame.graph;
        let others = memory.conflicts_with.iter();
        let mut others = others.filter_map(|id| graph.memory(id));
        let older = others.find(|other| {
            other.common.origin.position < memory.common.origin.position
                && !self.is_replaced(other)
                && self.is_admissible(&other.id)
        });
        older.map(|other| other.id)
    }

    /// The compact form, with a notice where an older memory on the lineage disagrees.
    fn compact(&mut self, memory: &Memory) -> Form {
        let graph = self.frame.graph;
        if graph.is_erased(&memory.summary.address) {
            let (presentation, tokens) = (Presentation::Marker, cost::marker(Reason::Erased));
            return Form {
                presentation,
                reason: Reason::Erased,
                tokens,
                note: None,
            };
        }
        let tokens = self.compact_tokens(memory);
        let presentation = Presentation::Compact;
        let rules = &self.frame.policy.conflicts;
        match self.disagrees_with(memory) {
            Some(other)
                if rules.conflicting == Conflicting::Notice && self.notices < rules.notices_max =>
            {
                self.notices += 1;
                Form {
                    presentation,
                    reason: Reason::Conflicted,
                    tokens: tokens.saturating_add(cost::CONFLICT),
                    note: Some(Note::ConflictsWith(other)),
                }
            }
            _ => Form {
                presentation,
                reason: Reason::Permitted,
                tokens,
                note: None,
            },
        }
    }

    /// Lists the candidate memories of one artifact alone, the oldest first.
    fn memories(&self, artifact: &Artifact) -> Vec<&'a Memory> {
        let graph = self.frame.graph;
        let all = artifact.memories.iter().filter_map(|id| graph.memory(id));
        let fits = |memory: &&Memory| {
            memory.artifacts.len() == 1 && self.candidates.contains(&memory.common.origin.position)
        };
        all.filter(fits).collect()
    }

    fn artifact_entry(&self, artifact: &Artifact) -> Entry {
        let record = RecordRef {
            kind: RecordKind::Artifact,
            id: *artifact.id.as_bytes(),
        };
        let verdict = self.frame.gate(&record, &artifact.common, true);
        let tokens = artifact.result.map_or(0, |result| u64::from(result.tokens));
        entry(artifact.common.origin.position, record, &verdict, tokens)
    }

    fn memory_entry(&self, memory: &Memory) -> Entry {
        let record = RecordRef {
            kind: RecordKind::Memory,
            id: *memory.id.as_bytes(),
        };
        let verdict = self.frame.gate_memory(memory);
        entry(
            memory.common.origin.position,
            record,
            &verdict,
            u64::from(memory.summary.tokens),
        )
    }
}

/// Finds the newest memory that may enter: it stands for the artifact, and older ones are replaced. One
/// whose provenance is broken stands only where none is sound.
fn standing(entries: &[Entry], memories: &[&Memory]) -> Option<usize> {
    let enters = |at: &usize| {
        let entry = entries.get(*at);
        entry.is_some_and(|entry| entry.reason == Reason::Permitted)
    };
    let is_sound = |at: &usize| memories.get(*at).is_some_and(|memory| !memory.broken);
    let newest_first = || (0..entries.len()).rev().filter(enters);
    newest_first()
        .find(is_sound)
        .or_else(|| newest_first().next())
}

/// The form of a memory.
struct Form {
    presentation: Presentation,
    reason: Reason,
    tokens: u64,
    note: Option<Note>,
}
