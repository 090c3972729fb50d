//! Whole conversations from a seed: every mode, every fate of a record, and oddities on request.
//!
//! A history of [`history`] is well formed: each event names only what stands before it. One of
//! [`odd_history`] also holds what imports bring: orphans, duplicates, unknown parents and kinds
//! from the future. [`unordered`] then takes the order itself away.

mod director;

use crate::{Rng, Story};
use director::Director;
use foldback_event::Event;

/// Writes a well-formed conversation of about `steps` events.
pub fn history(seed: u64, steps: u64) -> Story {
    play(Director::new(seed), steps, false)
}

/// Writes a well-formed conversation of about `steps` events in which each text holds a canary:
/// a word `cn<number>x` that stands in no other text.
pub fn canary_history(seed: u64, steps: u64) -> Story {
    play(Director::new(seed).with_canaries(), steps, false)
}

/// Writes a conversation of about `steps` events in which some are odd.
pub fn odd_history(seed: u64, steps: u64) -> Story {
    play(Director::new(seed), steps, true)
}

fn play(mut director: Director, steps: u64, odd: bool) -> Story {
    while director.story.position() < steps {
        if odd && director.rng.chance(15) {
            director.odd_step();
        } else {
            director.step();
        }
    }
    director.story
}

/// Drops, repeats and reorders events, as no log would give them.
pub fn unordered(seed: u64, events: &[Event]) -> Vec<Event> {
    let mut rng = Rng::new(seed);
    let mut out = Vec::new();
    for event in events {
        match rng.below(10) {
            0 => {}
            1 => out.extend([event.clone(), event.clone()]),
            _ => out.push(event.clone()),
        }
    }
    rng.shuffle(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldback_event::{Body, Kind};
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_gives_the_same_history() {
        assert_eq!(history(7, 80).events(), history(7, 80).events());
        assert_ne!(history(7, 80).events(), history(8, 80).events());
    }

    #[test]
    fn histories_come_to_use_every_kind() {
        let mut seen = BTreeSet::new();
        let mut unknown = 0;
        for seed in 0..60 {
            for event in odd_history(seed, 120).events() {
                match event.body.kind() {
                    Some(kind) => {
                        seen.insert(kind);
                    }
                    None => unknown += i32::from(matches!(event.body, Body::Unknown(_))),
                }
            }
        }
        let missing: Vec<&Kind> = Kind::ALL.iter().filter(|k| !seen.contains(k)).collect();
        assert!(missing.is_empty(), "never written: {missing:?}");
        assert!(unknown > 0);
    }
}
