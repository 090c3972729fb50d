//! Text that reads well in 60 columns: tables, wrapped sentences, figures.

/// The most characters of a line that is made for people, unless they ask for more.
pub(crate) const WIDTH: usize = 58;

/// Rows under a heading; every column but the last is as wide as its widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Begins a table; a heading that starts with `>` is set to the right, as its cells are.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let right = headings.iter().map(|name| name.starts_with('>')).collect();
        let names = headings
            .iter()
            .map(|name| name.trim_start_matches('>').to_owned());
        Self {
            right,
            rows: vec![names.collect()],
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Gives the lines; what does not fit into `width` is shortened in the last column.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let count = self.right.len();
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count.saturating_sub(1)).map(widest).collect();
        let used: usize = widths.iter().map(|width| width + 1).sum();
        let rest = width.saturating_sub(used);
        self.rows
            .iter()
            .map(|row| {
                let mut line = String::new();
                for (at, cell) in row.iter().enumerate() {
                    let pad = widths
                        .get(at)
                        .map_or(0, |width| width.saturating_sub(cell.chars().count()));
                    let right = self.right.get(at).copied().unwrap_or(false);
                    match (widths.get(at), right) {
                        (None, _) => line.push_str(&shorten(cell, rest)),
                        (Some(_), true) => {
                            line.extend(std::iter::repeat_n(' ', pad));
                            line.push_str(cell);
                            line.push(' ');
                        }
                        (Some(_), false) => {
                            line.push_str(cell);
                            line.extend(std::iter::repeat_n(' ', pad + 1));
                        }
                    }
                }
                line.trim_end().to_owned()
            })
            .collect()
    }
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
        assert_eq!(table.lines(16), ["id  n title", "a  10 a long ti…"]);
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
