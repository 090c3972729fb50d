//! Step 7, first half: which results change to a smaller form now, and which wait (the article, 7).
//!
//! A provider reads the unchanged beginning of a request from its cache and is paid anew for all
//! behind the first change. So a form that is due waits as long as it saves less than writing anew
//! what stands behind it costs, reckoned over as many further requests as there were so far.
//! What stands behind a change that must be (something stale, replaced, erased or out) is written
//! anew anyway: there, all that is due changes at once.
//!
//! **Invariant:** a result that was written in a smaller form never grows again.

use super::frame::Frame;
use super::unit::Unit;
use crate::assembly::{Item, Note, Section};
use crate::policy::Edits;
use foldback_event::kind::{ContextAssembled, LayoutPlan, Placement, Selected};
use foldback_event::{Presentation, Reason, RecordKind};
use foldback_graph::RuntimeGraph;
use std::collections::BTreeMap;

/// Where an item is written; the order of these is the order of the request.
pub(super) type Place = (Section, u64, u64, RecordKind);

/// Gives where an item is written. Assembler 1 wrote down the order of events.
pub(super) fn place(assembler: u16, anchor: u64, item: &Item) -> Place {
    let anchor = if assembler < 2 { item.position } else { anchor };
    (item.section, anchor, item.position, item.record.kind)
}

/// A result that stands in a larger form than the one that is due.
struct Pending {
    unit: usize,
    memory: usize,
    /// The form that is due.
    due: Presentation,
    /// What the larger form takes more.
    saving: u64,
    place: Place,
}

/// Keeps the forms of the request before, where changing them does not pay.
pub(super) fn plan(
    frame: &Frame<'_>,
    previous: Option<&ContextAssembled>,
    units: &mut [Unit],
) -> LayoutPlan {
    let (read_permille, write_permille) = frame.policy.price(&frame.request.route);
    let mut out = LayoutPlan {
        read_permille,
        write_permille,
        ..LayoutPlan::default()
    };
    // Another policy begins another epoch: nothing is owed to what an earlier one chose.
    let previous = previous.filter(|previous| previous.policy == frame.policy.digest);
    let (Some(previous), Edits::WhenTheyPay) = (previous, frame.policy.layout.edits) else {
        return out;
    };
    let pending = keep(frame, previous, units);
    out.pending = pending.len() as u64;
    out.horizon = frame.policy.layout.horizon(frame.runs_before());
    let items = laid_out(frame.assembler, units);
    let kept = shared(previous, &items, frame);
    let changed = items.get(kept).map(|(place, _)| *place);
    let behind = |pending: &Pending| changed.is_some_and(|changed| pending.place >= changed);
    let cut = weigh(&mut out, &pending, &items, kept, behind);
    for pending in &pending {
        if behind(pending) || cut.is_some_and(|cut| pending.place >= cut) {
            if let Some(unit) = units.get_mut(pending.unit) {
                unit.stand(pending.memory, pending.due, None);
            }
            out.applied += 1;
        }
    }
    out
}

/// Sets every result to the form in which the request before held it, and lists those that wait.
fn keep(frame: &Frame<'_>, previous: &ContextAssembled, units: &mut [Unit]) -> Vec<Pending> {
    let mut forms: BTreeMap<(u64, RecordKind), Presentation> = BTreeMap::new();
    for selected in &previous.selection {
        forms.insert((selected.record, selected.kind), selected.presentation);
    }
    let mut out = Vec::new();
    for (at, unit) in units.iter_mut().enumerate() {
        for memory in 0..unit.entries.len() {
            let Some((entry, ladder)) = unit
                .entries
                .get(memory)
                .and_then(|entry| Some((entry, entry.ladder?)))
            else {
                continue;
            };
            let artifact = frame.graph.artifact(&ladder.artifact);
            let artifact = artifact.map_or(0, |artifact| artifact.common.origin.position);
            let own = forms.get(&(entry.position, RecordKind::Memory));
            let raw = forms.get(&(artifact, RecordKind::Artifact));
            let raw = raw.filter(|form| **form == Presentation::Raw);
            let Some(before) = own.or(raw).copied() else {
                continue;
            };
            let (Some(larger), Some(due)) = (ladder.tokens(before), ladder.tokens(ladder.due))
            else {
                continue;
            };
            let place = (entry.section, entry.anchor, artifact, RecordKind::Artifact);
            let waits = size(before) > size(ladder.due);
            unit.stand(memory, before, waits.then_some(Reason::Cached));
            if waits {
                out.push(Pending {
                    unit: at,
                    memory,
                    due: ladder.due,
                    saving: larger.saturating_sub(due),
                    place,
                });
            }
        }
    }
    out.sort_by_key(|pending| pending.place);
    out
}

/// Orders the forms of a result from the smallest.
const fn size(form: Presentation) -> u8 {
    match form {
        Presentation::Raw => 2,
        Presentation::Compact => 1,
        _ => 0,
    }
}

/// Finds the place from which on all that is due should change, if any, and writes down the sides
/// of the account: those of the place that was found, or else of the one that came nearest.
///
/// In thousandths of an input token, with D the saving and S what is written anew without it:
/// the change costs `write × (S − D) − read × S` now and saves `read × D` in each further request.
fn weigh(
    out: &mut LayoutPlan,
    pending: &[Pending],
    items: &[(Place, Item)],
    kept: usize,
    behind: impl Fn(&Pending) -> bool,
) -> Option<Place> {
    let (read, write) = (
        i128::from(out.read_permille),
        i128::from(out.write_permille),
    );
    let mut best: Option<(i128, Place)> = None;
    let (mut saving, mut suffix) = (0_u64, 0_u64);
    let mut cached = items.iter().take(kept).rev().peekable();
    for pending in pending.iter().rev().filter(|pending| !behind(pending)) {
        while let Some((_, item)) = cached.next_if(|(place, _)| *place >= pending.place) {
            suffix = suffix.saturating_add(item.tokens);
        }
        saving = saving.saturating_add(pending.saving);
        let (d, s) = (i128::from(saving), i128::from(suffix));
        let now = write * (s - d) - read * s;
        let gain = read * d * i128::from(out.horizon) - now;
        if best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, pending.place));
            (out.saving, out.suffix) = (saving, suffix);
            out.break_even = break_even(now, read * d);
        }
    }
    best.filter(|(gain, _)| *gain > 0).map(|(_, place)| place)
}

/// Divides and rounds up; a change that saves nothing later pays at once or never.
fn break_even(now: i128, later: i128) -> u64 {
    if now <= 0 {
        return 0;
    }
    if later <= 0 {
        return u64::MAX;
    }
    u64::try_from((now + later - 1) / later).unwrap_or(u64::MAX)
}

/// Lists what is in, in the order of the request.
pub(super) fn laid_out(assembler: u16, units: &[Unit]) -> Vec<(Place, Item)> {
    let mut items: Vec<(Place, Item)> = units
        .iter()
        .flat_map(Unit::items)
        .map(|(anchor, item)| (place(assembler, anchor, &item), item))
        .collect();
    items.sort_by_key(|(place, _)| *place);
    items
}

/// Counts the leading items that the request before had too, in the same words.
fn shared(previous: &ContextAssembled, items: &[(Place, Item)], frame: &Frame<'_>) -> usize {
    let Some(layout) = &previous.layout else {
        return 0;
    };
    let before = previous.selection.iter().zip(&layout.placements);
    let same = |((_, item), (selected, placement)): &(&(Place, Item), (&Selected, &Placement))| {
        let notice = matches!(
            item.presentation,
            Presentation::Marker | Presentation::Outline
        );
        (item.position, item.record.kind) == (selected.record, selected.kind)
            && item.presentation == selected.presentation
            && (!notice || item.reason == selected.reason)
            && item.tokens == placement.tokens
            && named(frame.graph, item.note) == placement.names
            && was_known(item.note, previous)
    };
    items.iter().zip(before).take_while(same).count()
}

/// Counts the tokens that a request shares with the beginning of the one before it.
pub(super) fn prefix(
    frame: &Frame<'_>,
    previous: Option<&ContextAssembled>,
    items: &[(Place, Item)],
) -> u64 {
    let kept = previous.map_or(0, |previous| shared(previous, items, frame));
    let kept = items.iter().take(kept);
    kept.fold(0, |sum, (_, item)| sum.saturating_add(item.tokens))
}

/// Tells whether the words of a notice can be what they were: a memory that was checked again
/// meanwhile is stale since another time, and one that was changed meanwhile for another reason.
fn was_known(note: Option<Note>, previous: &ContextAssembled) -> bool {
    match note {
        Some(Note::StaleSince(since)) => since < previous.request.as_of,
        Some(Note::Changed { position, .. }) => position <= previous.request.position,
        _ => true,
    }
}

/// Gives the position of the memory that the words of an item name besides its own.
pub(super) fn named(graph: &RuntimeGraph, note: Option<Note>) -> Option<u64> {
    let (Note::SupersededBy(other) | Note::ConflictsWith(other)) = note? else {
        return None;
    };
    let memory = graph.memory(&other);
    memory.map(|memory| memory.common.origin.position)
}
