//! Two ways of doing one thing, in turns, so that what the machine does meanwhile befalls both.

use std::time::{Duration, Instant};

/// The times of one way.
#[derive(Debug, Clone, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// The middle of the times.
    pub fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// The shortest and the longest.
    pub fn spread(&self) -> (Duration, Duration) {
        let least = self.0.iter().min().copied().unwrap_or_default();
        (least, self.0.iter().max().copied().unwrap_or_default())
    }
}

/// Runs both ways in turns; each says itself how long its work took, without its preparation.
pub fn in_turns(
    rounds: usize,
    mut ours: impl FnMut() -> Duration,
    mut theirs: impl FnMut() -> Duration,
) -> (Times, Times) {
    let (mut first, mut second) = (Times::default(), Times::default());
    // One round of each warms up and does not count.
    ours();
    theirs();
    for round in 0..rounds {
        if round % 2 == 0 {
            first.0.push(ours());
            second.0.push(theirs());
        } else {
            second.0.push(theirs());
            first.0.push(ours());
        }
    }
    (first, second)
}

/// Times a piece of work.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let out = work();
    (begin.elapsed(), out)
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub what: &'static str,
    pub peer: &'static str,
    /// Units of work in one round.
    pub units: u64,
    pub ours: Times,
    pub theirs: Times,
    /// By how many hundredths ours must be quicker; none where nothing was asked.
    pub wanted: Option<u64>,
    /// What one does and the other does not.
    pub note: &'static str,
}

impl Row {
    fn hundredths(&self) -> u128 {
        let ours = self.ours.median().as_nanos().max(1);
        self.theirs.median().as_nanos() * 100 / ours
    }

    /// Writes the row in Markdown.
    pub fn line(&self) -> String {
        let rate = |times: &Times| {
            let nanos = times.median().as_nanos().max(1);
            let per_second = u128::from(self.units) * 1_000_000_000 / nanos;
            let (least, most) = times.spread();
            let spread = most.as_nanos() * 100 / least.as_nanos().max(1);
            format!(
                "{per_second}/s (spread {}.{:02})",
                spread / 100,
                spread % 100
            )
        };
        let ratio = self.hundredths();
        let (wanted, verdict) = match self.wanted {
            None => (String::new(), ""),
            Some(wanted) => {
                let met = ratio >= u128::from(wanted);
                let text = format!("{}.{:02}", wanted / 100, wanted % 100);
                (text, if met { "met" } else { "**missed**" })
            }
        };
        format!(
            "| {} | {} | {} | {} | {}.{:02} | {wanted} | {verdict} | {} |",
            self.what,
            rate(&self.ours),
            self.peer,
            rate(&self.theirs),
            ratio / 100,
            ratio % 100,
            self.note
        )
    }
}

/// The head of the table.
pub const HEAD: &str = "| what | ours | peer | peer's | ours quicker by | wanted | | what differs |\n\
                        | --- | ---: | --- | ---: | ---: | ---: | --- | --- |";
