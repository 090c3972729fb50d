//! Text that reads well in 60 columns: tables, wrapped sentences, figures.

/// The most characters of a line that is made for people, unless they ask for more.
pub(crate) const WIDTH: usize = 58;

/// Rows under a heading; every column but the last is as wide as its widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    right: Vec<bool>,
    /// The cells of each row, and the parts of its last one.
    rows: Vec<(Vec<String>, Vec<String>)>,
}

impl Table {
    /// Begins a table; a heading that starts with `>` is set to the right, as its cells are.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = Self {
            right: headings.iter().map(|name| name.starts_with('>')).collect(),
            rows: Vec::new(),
        };
        table.right.pop();
        let names = headings.iter();
        table.row(
            names
                .map(|name| name.trim_start_matches('>').to_owned())
                .collect(),
        );
        table
    }

    /// Adds a row; the last cell is shortened where it does not fit.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        let last = cells.pop();
        self.row_with_list(cells, last.into_iter().collect());
    }

    /// Adds a row; the parts of the last cell are listed as far as they fit.
    pub(crate) fn row_with_list(&mut self, cells: Vec<String>, last: Vec<String>) {
        self.rows.push((cells, last));
    }

    /// Gives the lines; what does not fit into `width` is left out of the last column.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|(cells, _)| cells.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let columns: Vec<(usize, bool)> = self
            .right
            .iter()
            .enumerate()
            .map(|(at, right)| (widest(at), *right))
            .collect();
        let used: usize = columns.iter().map(|(width, _)| width + 1).sum();
        let rest = width.saturating_sub(used);
        let line = |(cells, last): &(Vec<String>, Vec<String>)| {
            let mut line = String::new();
            for (cell, (width, right)) in cells.iter().zip(&columns) {
                let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = if *right {
                    (pad.as_str(), "")
                } else {
                    ("", pad.as_str())
                };
                line.extend([before, cell, after, " "]);
            }
            line.push_str(&listed(last, rest));
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// Lists parts as far as they fit, whole ones alone unless the first does not fit.
fn listed(parts: &[String], chars_max: usize) -> String {
    let whole = parts.join(", ");
    if whole.chars().count() <= chars_max {
        return whole;
    }
    let mut out = String::new();
    for part in parts {
        let next = if out.is_empty() {
            part.clone()
        } else {
            format!("{out}, {part}")
        };
        if next.chars().count() + ", …".chars().count() > chars_max {
            break;
        }
        out = next;
    }
    if !out.is_empty() {
        return format!("{out}, …");
    }
    // A figure is whole or not there: a part of one would be another.
    match parts {
        [part] => shorten(part, chars_max),
        [first, ..] => {
            let name = first
                .rsplit_once(' ')
                .map_or(first.as_str(), |(name, _)| name);
            shorten(&format!("{name} …"), chars_max)
        }
        [] => out,
    }
}

/// Puts visible signs in the place of characters that would steer a terminal or turn the direction of a
/// line: content is somebody else's. Ends of lines and tabs stay.
pub(crate) fn tame(text: &str) -> String {
    let sign = |c: char| match c {
        '\n' | '\t' => c,
        '\u{7f}' => '\u{2421}',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    };
    text.replace("\r\n", "\n").chars().map(sign).collect()
}

/// Puts a text on one line of at most so many characters.
pub(crate) fn shorten(text: &str, chars_max: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars_max {
        return line;
    }
    let mut out: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// Cuts a line between two words where it has more than [`WIDTH`] characters.
pub(crate) fn cut(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let start: String = line.chars().take(WIDTH - 1).collect();
    let start = start
        .rsplit_once(' ')
        .map_or(start.as_str(), |(start, _)| start);
    format!("{start} …")
}

/// Breaks a text into lines of at most [`WIDTH`] characters, each after an indent; a word is never
/// broken, and the text's own line breaks stay.
pub(crate) fn wrap(text: &str, indent: &str) -> Vec<String> {
    let mut out = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let wide = visible(indent) + visible(&line) + 1 + visible(word);
            if !line.is_empty() && wide > WIDTH {
                out.push(format!("{indent}{line}"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        out.push(format!("{indent}{line}").trim_end().to_owned());
    }
    out
}

/// Counts what is seen of a text: the dress of a word takes no room.
fn visible(text: &str) -> usize {
    let mut dressed = false;
    text.chars()
        .filter(|c| {
            let shown = !dressed && *c != '\u{1b}';
            dressed = (dressed || *c == '\u{1b}') && *c != 'm';
            shown
        })
        .count()
}

/// Writes a figure with thousands apart.
pub(crate) fn figure(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a figure with its noun, in the plural where it is not one.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        "memory" => "memories",
        "assembly" => "assemblies",
        _ => "",
    };
    match (number, plural) {
        (1, _) => format!("1 {noun}"),
        (_, "") => format!("{} {noun}s", figure(number)),
        _ => format!("{} {plural}", figure(number)),
    }
}

/// Writes a share of a whole to three decimals; a share of nothing is `-`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    let permille = (part * 1_000 + whole / 2) / whole;
    format!("{}.{:03}", permille / 1_000, permille % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left_in_content() {
        let text = "a\u{1b}[31mred\u{7}\r\nnext\tone\rback\u{9b}2J \u{202e}desrever\u{7f}";
        let tamed =
            "a\u{241b}[31mred\u{2407}\nnext\tone\u{240d}back\u{fffd}2J \u{fffd}desrever\u{2421}";
        assert_eq!(tame(text), tamed);
    }

    #[test]
    fn figures_and_shares_are_exact() {
        assert_eq!(figure(0), "0");
        assert_eq!(figure(999), "999");
        assert_eq!(figure(1_234_567), "1,234,567");
        assert_eq!(share(2, 3), "0.667");
        assert_eq!(share(5, 4), "1.250");
        assert_eq!(share(0, 0), "-");
        assert_eq!(counted(1, "memory"), "1 memory");
        assert_eq!(counted(2_000, "memory"), "2,000 memories");
    }

    #[test]
    fn a_table_is_no_wider_than_asked() {
        let mut table = Table::new(&["id", ">n", "title"]);
        table.row(vec!["a".into(), "10".into(), "a long title indeed".into()]);
        let parts = vec!["one".into(), "two".into(), "three".into()];
        table.row_with_list(vec!["b".into(), "2".into()], parts);
        let lines = ["id  n title", "a  10 a long ti…", "b   2 one, …"];
        assert_eq!(table.lines(16), lines);
        assert_eq!(table.lines(99)[2], "b   2 one, two, three");
    }

    #[test]
    fn sentences_break_between_words() {
        let text = format!("{} end", "word ".repeat(20));
        let lines = wrap(&text, "  ");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(lines.len(), 2);
        assert_eq!(visible("\u{1b}[31mred\u{1b}[0m"), 3);
    }
}
