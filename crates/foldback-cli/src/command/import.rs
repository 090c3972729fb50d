//! `import`: transcripts become events.

use crate::columns::{self, Table, counted, figure};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::progress::Progress;
use crate::source::{self, Source};
use crate::store::Store;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use foldback::event::{AccountId, Privacy, Visibility};
use foldback::report::ImportReport;
use foldback::{Engine, Format, ImportOptions, ImportedConversation};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Import transcripts into the store
///
/// The same file twice adds nothing; a file that has grown adds what is new.
/// Nothing in a file is lost: what is not understood is kept, and told as a finding.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Transcripts; `-` is standard input
    ///
    /// Files of subagents that stand beside a Claude Code session are read with it.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// How imported records are read and classified.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// Format of the files [default: told from their content]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(Format::ALL.iter().map(|f| f.name()))
            .try_map(|name| Format::from_name(&name).ok_or("no such format")),
    )]
    from: Option<Format>,
    /// How sensitive the records are
    #[arg(
        long,
        value_name = "CLASS",
        default_value = "internal",
        value_parser = PossibleValuesParser::new(Privacy::ALL.iter().map(|p| p.name()))
            .try_map(|name| Privacy::from_name(&name).ok_or("no such class")),
    )]
    privacy: Privacy,
    /// Keep the stated class even of results that hold secrets or data under a grant
    #[arg(long)]
    as_stated: bool,
    /// Who may see them
    #[arg(
        long,
        value_name = "WHO",
        default_value = "branch",
        value_parser = PossibleValuesParser::new(Visibility::ALL.iter().map(|v| v.name()))
            .try_map(|name| Visibility::from_name(&name).ok_or("no such visibility")),
    )]
    visibility: Visibility,
    /// Account whose key seals the content
    #[arg(long, value_name = "NAME", default_value = "default")]
    account: String,
}

impl How {
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            account: Some(AccountId::from_source(&[0; 16], &self.account)),
            privacy: self.privacy,
            as_stated: self.as_stated,
            visibility: self.visibility,
            format: self.from,
            ..ImportOptions::default()
        }
    }
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.write_or_create(printer)?;
    let mut rows = Vec::new();
    let done = files(
        &engine,
        &args.files,
        &args.how.options(),
        &mut rows,
        printer,
    )
    .await;
    // What was imported before a file that does not read is told as well.
    if done.is_ok() || !rows.is_empty() {
        print(&rows, printer)?;
    }
    done?;
    if let [only] = rows.as_slice() {
        let id = only.id.short();
        printer.next(&format!("`foldback replay --conversation {id}`"));
    } else {
        printer.next("`foldback replay --all`");
    }
    Ok(Outcome::Done)
}

/// Imports files one after the other and gathers a row per conversation.
pub(crate) async fn files(
    engine: &Engine,
    files: &[PathBuf],
    options: &ImportOptions,
    rows: &mut Vec<ImportedConversation>,
    printer: &Printer,
) -> Result<(), CliError> {
    let progress = Progress::begin(printer, "import");
    let (mut conversations, mut events) = (0, 0);
    for paths in source::find(files)? {
        let source = Source::load(&paths)?;
        let imported = engine
            .import(&source.files(), options, |row| {
                conversations += 1;
                events += row.events;
                progress.tell(format!(
                    "{}, {} added",
                    counted(conversations, "conversation"),
                    counted(events, "event")
                ));
            })
            .await?;
        rows.extend(imported);
    }
    Ok(())
}

/// Up to so many conversations are told in a paragraph each; more become a table.
const PARAGRAPHS_MAX: usize = 4;

fn print(rows: &[ImportedConversation], printer: &mut Printer) -> Result<(), CliError> {
    let report = ImportReport::new(rows);
    if printer.is_json() {
        return printer.json(&report);
    }
    if rows.len() <= PARAGRAPHS_MAX {
        for row in rows {
            paragraph(row, printer)?;
        }
    } else {
        table(rows, printer)?;
    }
    printer.line(&total(rows))
}

fn paragraph(row: &ImportedConversation, printer: &mut Printer) -> Result<(), CliError> {
    let id = row.id.short();
    let room = columns::WIDTH - 2 - id.chars().count();
    let title = columns::tame(row.title.as_deref().unwrap_or("(untitled)"));
    let title = columns::shorten(&title, room);
    printer.line(&format!("{id}  {}", styled(Style::Title, &title)))?;
    let holds = format!(
        "{}, {}, {}, {}",
        counted(row.messages, "message"),
        counted(row.tool_calls, "call"),
        counted(row.artifacts, "artifact"),
        counted(row.memories, "memory")
    );
    printer.wrapped("  ", &holds)?;
    if !row.findings.is_empty() {
        let odd = format!(
            "{} {}",
            styled(Style::Warning, "odd:"),
            findings(&row.findings)
        );
        printer.wrapped("  ", &odd)?;
    }
    Ok(())
}

fn findings(findings: &BTreeMap<String, u64>) -> String {
    let texts: Vec<String> = findings
        .iter()
        .map(|(code, count)| format!("{code} {count}"))
        .collect();
    texts.join(", ")
}

fn table(rows: &[ImportedConversation], printer: &mut Printer) -> Result<(), CliError> {
    let mut table = Table::new(&["conversation", ">new", ">msgs", ">calls", ">odd", "title"]);
    for row in rows {
        table.row(vec![
            row.id.short(),
            figure(row.events),
            figure(row.messages),
            figure(row.tool_calls),
            figure(row.findings.values().sum()),
            columns::tame(row.title.as_deref().unwrap_or_default()),
        ]);
    }
    let width = if printer.is_verbose() {
        usize::MAX
    } else {
        columns::WIDTH
    };
    for line in table.lines(width) {
        printer.line(&line)?;
    }
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for (code, count) in rows.iter().flat_map(|row| &row.findings) {
        *all.entry(code.clone()).or_default() += count;
    }
    if !all.is_empty() {
        let odd = format!("{} {}", styled(Style::Warning, "odd:"), findings(&all));
        printer.wrapped("", &odd)?;
    }
    Ok(())
}

/// Says what came of it all in one line.
pub(crate) fn total(rows: &[ImportedConversation]) -> String {
    let added: u64 = rows.iter().map(|row| row.events).sum();
    let present: u64 = rows.iter().map(|row| row.already_present).sum();
    let of = counted(rows.len() as u64, "conversation");
    let done = styled(Style::Good, "imported:");
    let new = counted(added, "new event");
    format!("{done} {of}, {new}, {} known", counted(present, "record"))
}
