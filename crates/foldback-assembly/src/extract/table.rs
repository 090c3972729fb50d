//! Compact form of delimited tables (CSV, TSV and their like).

use super::brief::{self, NAMES_BYTES_MAX};
use super::key::{Worth, is_identity, worth};
use super::page::{Page, clip, size};
use super::{Extraction, FACTS_MAX, Fact, LOSSLESS_BYTES_MAX, Locator, SUMMARY_BYTES_MAX, outline};
use foldback_event::{Freshness, MediaType};
use std::collections::BTreeSet;

/// A parsed table: all cells in one text, with where each ends.
#[derive(Debug)]
pub(super) struct Table {
    delimiter: char,
    cells: String,
    ends: Vec<usize>,
    width: usize,
    bytes: usize,
}

/// How many columns are looked at one by one.
const COLUMNS_MAX: usize = 64;

/// From how many bytes on a cell is cut when not all fits.
const CELL_BYTES_MAX: usize = 48;

impl Table {
    /// Parses a text with one delimiter; none if its records do not all have the header's width.
    fn parse(text: &str, delimiter: char) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(u8::try_from(delimiter).ok()?)
            .from_reader(text.as_bytes());
        let mut table = Self {
            delimiter,
            cells: String::new(),
            ends: Vec::new(),
            width: 0,
            bytes: text.len(),
        };
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).ok()? {
            table.width = record.len();
            for cell in &record {
                table.cells.push_str(cell);
                table.ends.push(table.cells.len());
            }
        }
        (table.width > 1).then_some(table)
    }

    /// Gives a cell without the blanks around it; record 0 is the header.
    fn cell(&self, record: usize, column: usize) -> &str {
        let index = record.saturating_mul(self.width).saturating_add(column);
        let end = self.ends.get(index).copied().unwrap_or_default();
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied();
        self.cells
            .get(start.unwrap_or_default()..end)
            .unwrap_or_default()
            .trim()
    }

    /// Counts the rows below the header.
    fn len(&self) -> usize {
        (self.ends.len() / self.width.max(1)).saturating_sub(1)
    }

    /// Gives the cells of a column below the header.
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        (1..=self.len()).map(move |record| self.cell(record, column))
    }

    /// Finds out whether a text is a table.
    pub(super) fn detect(text: &str, said: MediaType) -> Option<Self> {
        let told = match said {
            MediaType::Csv => Some(','),
            MediaType::Tsv => Some('\t'),
            _ => None,
        };
        if let Some(delimiter) = told {
            return Self::parse(text, delimiter);
        }
        let first = text.lines().next()?;
        let delimiter = ['\t', ',', ';', '|']
            .into_iter()
            .find(|d| first.matches(*d).count() >= 2)?;
        let cells: Vec<&str> = first.split(delimiter).collect();
        let named = cells.iter().all(|cell| {
            let cell = cell.trim_matches('"');
            !cell.is_empty()
                && cell.len() <= 40
                && cell.trim() == cell
                && cell.bytes().any(|b| b.is_ascii_alphabetic())
                && !cell.contains(['{', '}', '(', '<', '>', '=', '/'])
        });
        if !named {
            return None;
        }
        Self::parse(text, delimiter).filter(|table| table.len() >= 2)
    }

    fn media(&self) -> MediaType {
        if self.delimiter == '\t' {
            MediaType::Tsv
        } else {
            MediaType::Csv
        }
    }

    fn key(&self, column: usize) -> &str {
        self.cell(0, column)
    }

    /// Rates a column by its first rows.
    fn worth(&self, column: usize) -> Worth {
        let key = self.key(column);
        self.column(column)
            .take(64)
            .map(|cell| worth(key, cell))
            .min()
            .unwrap_or(Worth::Noise)
    }

    /// Finds the column that tells the rows apart.
    fn label(&self) -> Option<usize> {
        let unique = |column: &usize| {
            let mut seen = BTreeSet::new();
            self.column(*column)
                .all(|cell| !cell.is_empty() && seen.insert(cell))
        };
        let columns = || 0..self.width.min(COLUMNS_MAX);
        let identity = columns().find(|c| is_identity(self.key(*c)) && unique(c));
        let naming = || columns().find(|c| self.worth(*c) == Worth::Id && unique(c));
        identity.or_else(naming).or_else(|| columns().find(unique))
    }

    /// Tells what the cells of a column are.
    fn kind(&self, column: usize) -> &'static str {
        let number = |cell: &str| {
            cell.bytes()
                .all(|b| b.is_ascii_digit() || b"-+.,%".contains(&b))
        };
        let date = |cell: &str| {
            cell.len() >= 8
                && cell
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b"-:/TZ. +".contains(&b))
        };
        let plain = |cell: &str| !cell.contains(['-', ':', '/']) || cell.len() < 8;
        if self.column(column).all(|cell| number(cell) && plain(cell)) {
            "number"
        } else if self
            .column(column)
            .all(|cell| cell.is_empty() || date(cell))
        {
            "date"
        } else {
            "text"
        }
    }

    fn line(&self, record: usize, columns: &[usize], cell_bytes: usize) -> String {
        let cells: Vec<String> = columns
            .iter()
            .map(|column| clip(self.cell(record, *column), cell_bytes))
            .collect();
        cells.join("|")
    }

    /// Writes the header and rows from the first on; says how many rows fit.
    fn write(&self, columns: &[usize], rows: usize, cell_bytes: usize, page: &mut Page) -> usize {
        (0..=self.len().min(rows))
            .take_while(|record| page.line(&self.line(*record, columns, cell_bytes)))
            .count()
            .saturating_sub(1)
    }
}

/// Condenses a table.
pub(super) fn summarize(table: &Table) -> Extraction {
    let mut out = Extraction::new("table", table.media(), Freshness::Session);
    out.facts = facts(table);
    out.locators.push(Locator::row(table.delimiter, 0, None));
    if let Some(last) = table.len().checked_sub(1) {
        out.locators
            .push(Locator::row(table.delimiter, last + 1, None));
    }
    out.outline = outline::table((0..table.width).map(|c| table.key(c)), table.len());
    condense(table, &mut out);
    brief::keep(&mut out, brief(table));
    out
}

/// Names the rows, as far as they fit.
fn brief(table: &Table) -> Option<String> {
    let label = table.label()?;
    let mut page = Page::new(NAMES_BYTES_MAX);
    let rows = brief::counted(table.len(), "row");
    page.push(&format!("{rows}; {}:", table.key(label)));
    for (at, name) in table.column(label).enumerate() {
        let gap = if at == 0 { " " } else { ", " };
        if !page.push(&format!("{gap}{name}")) {
            break;
        }
    }
    Some(brief::ended(page))
}

/// Writes the compact form.
fn condense(table: &Table, out: &mut Extraction) {
    let all: Vec<usize> = (0..table.width).collect();
    let title = format!("{} rows, {} columns", table.len(), table.width);
    let mut page = Page::new(LOSSLESS_BYTES_MAX);
    page.push(&title);
    table.write(&all, usize::MAX, usize::MAX, &mut page);
    if !page.is_full() {
        out.lossless = true;
        out.summary = page.finish();
        return;
    }
    for most in [Worth::Value, Worth::Id] {
        let (columns, left): (Vec<usize>, Vec<usize>) = all
            .iter()
            .copied()
            .partition(|column| table.worth(*column) <= most);
        let left: Vec<&str> = left.iter().map(|column| table.key(*column)).collect();
        let mut page = Page::new(SUMMARY_BYTES_MAX);
        let left_names = clip(&left.join(", "), 120);
        page.push(&format!(
            "{title}, {}, left out: {left_names}",
            size(table.bytes)
        ));
        table.write(&columns, usize::MAX, CELL_BYTES_MAX, &mut page);
        if !columns.is_empty() && !page.is_full() {
            // Cells may be cut even where no column is left out.
            out.omit("columns", left.len());
            out.summary = page.finish();
            return;
        }
    }
    partial(table, &all, &title, out);
}

/// Writes the first and last rows, the kinds of the columns, and the names of all rows that fit.
fn partial(table: &Table, all: &[usize], title: &str, out: &mut Extraction) {
    let mut page = Page::new(SUMMARY_BYTES_MAX);
    page.push(&format!("{title}, {}", size(table.bytes)));
    let kinds: Vec<String> = all
        .iter()
        .take(COLUMNS_MAX)
        .map(|column| format!("{} {}", clip(table.key(*column), 32), table.kind(*column)))
        .collect();
    page.line(&clip(&kinds.join(", "), SUMMARY_BYTES_MAX / 3));
    let mut columns: Vec<usize> = all
        .iter()
        .copied()
        .filter(|c| table.worth(*c) <= Worth::Value)
        .collect();
    columns.truncate(16);
    let mut top = Page::new(page.room() / 2);
    let mut shown = table.write(&columns, 4, 32, &mut top);
    page.line(top.as_str());
    if shown < table.len() {
        let last = table.line(table.len(), &columns, 32);
        shown += usize::from(page.line(&format!("… {last}")));
    }
    if let Some(label) = table.label() {
        let mut names = String::new();
        let mut listed = 0;
        let rest = || {
            table
                .column(label)
                .take(table.len() - 1)
                .skip(shown.saturating_sub(1))
        };
        for name in rest() {
            if names.len() + name.len() + table.key(label).len() + 40 > page.room() {
                break;
            }
            names.push_str(if names.is_empty() { "" } else { " " });
            names.push_str(name);
            listed += 1;
        }
        let more = rest().count() - listed;
        if !names.is_empty() {
            page.line(&format!(
                "between, {}: {names} … {more} more",
                table.key(label)
            ));
        }
    }
    out.omit("rows", table.len().saturating_sub(shown));
    out.omit("columns", all.len() - columns.len());
    out.summary = page.finish();
}

fn facts(table: &Table) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(label) = table.label() else {
        return facts;
    };
    for record in 1..=table.len() {
        let name = table.cell(record, label);
        for column in 0..table.width.min(COLUMNS_MAX) {
            let cell = table.cell(record, column);
            if column == label || cell.is_empty() || cell.len() > 120 || name.len() > 80 {
                continue;
            }
            if facts.len() >= FACTS_MAX {
                return facts;
            }
            facts.push(Fact {
                key: format!("[{name}].{}", table.key(column)),
                value: cell.to_owned(),
                locator: Locator::row(table.delimiter, record, Some(column)),
            });
        }
    }
    facts
}
