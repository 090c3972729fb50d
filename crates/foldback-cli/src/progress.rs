//! Progress of long work: one line on stderr, and only where a person watches.

use crate::printer::Printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// One line that tells how far the work is; it goes away when the work is done.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

/// How often the line moves although nothing is told.
const TICK: Duration = Duration::from_millis(120);

impl Progress {
    pub(crate) fn begin(printer: &Printer, what: &'static str) -> Self {
        if !printer.shows_progress() {
            return Self(ProgressBar::hidden());
        }
        // Indicatif draws nothing where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    pub(crate) fn tell(&self, message: String) {
        self.0.set_message(message);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
