//! Opening the store, and finding in it what a person names.

use crate::cli::Global;
use crate::columns::counted;
use crate::environment::Environment;
use crate::error::CliError;
use crate::printer::Printer;
use foldback::event::{AssemblyId, ConversationId};
use foldback::{Engine, Error, Options, Recovery, ResolveError, Resolved, RuntimeGraph};
use std::path::PathBuf;

/// Where the store is, and the key that opens it.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    master_key: Option<[u8; 32]>,
    /// The key that is to follow it, if one is given.
    pub(crate) new_master_key: Option<[u8; 32]>,
}

impl Store {
    pub(crate) fn new(global: &Global, environment: &Environment) -> Result<Self, CliError> {
        Ok(Self {
            path: environment.store(global.store.as_ref()),
            master_key: environment.master_key()?,
            new_master_key: environment.new_master_key()?,
        })
    }

    /// Opens the store for reading alone, beside a process that may be writing.
    pub(crate) fn read(&self, printer: &mut Printer) -> Result<Engine, CliError> {
        self.open(printer, true, false)
    }

    /// Opens the store for writing.
    pub(crate) fn write(&self, printer: &mut Printer) -> Result<Engine, CliError> {
        self.open(printer, false, false)
    }

    /// Opens the store for writing, and makes it where there is none.
    pub(crate) fn write_or_create(&self, printer: &mut Printer) -> Result<Engine, CliError> {
        self.open(printer, false, true)
    }

    fn open(
        &self,
        printer: &mut Printer,
        read_only: bool,
        create: bool,
    ) -> Result<Engine, CliError> {
        let options = Options {
            master_key: self.master_key,
            read_only,
            create,
            ..Options::default()
        };
        let engine = Engine::open(&self.path, options)?;
        if let Some(recovery) = engine.recovery() {
            tell(recovery, printer);
        }
        Ok(engine)
    }
}

/// Says what opening mended: nothing of it was ever acknowledged.
fn tell(recovery: &Recovery, printer: &mut Printer) {
    for cut in [&recovery.log.cut, &recovery.vault.cut]
        .into_iter()
        .flatten()
    {
        printer.warn(&format!(
            "`{}` ended in a write that was cut short: {} from byte {} on are kept in `{}`",
            cut.file.display(),
            counted(cut.bytes, "byte"),
            cut.offset,
            cut.kept.display()
        ));
    }
    if !recovery.vault.problems.is_empty() {
        let count = recovery.vault.problems.len() as u64;
        let found = counted(count, "problem");
        printer.warn(&format!(
            "the vault has {found}: `foldback verify` tells where"
        ));
    }
}

/// Finds the conversation that a prefix names, or the only one there is.
pub(crate) async fn conversation(
    engine: &Engine,
    prefix: Option<&str>,
) -> Result<ConversationId, CliError> {
    if let Some(prefix) = prefix {
        return Ok(engine.find_conversation(prefix).await?);
    }
    let all = engine.conversation_ids().await?;
    match all.as_slice() {
        [one] => Ok(*one),
        [] => Err(CliError::NotFound {
            message: "the store holds no conversation".to_owned(),
            hint: "`foldback import FILE` brings one in".to_owned(),
        }),
        many => Err(CliError::Usage {
            message: format!("the store holds {} conversations: name one", many.len()),
            hint: "`foldback conversations` lists them".to_owned(),
        }),
    }
}

/// Lists the conversations that are searched: one, or all.
async fn searched(
    engine: &Engine,
    conversation: Option<&str>,
) -> Result<Vec<ConversationId>, CliError> {
    match conversation {
        Some(prefix) => Ok(vec![engine.find_conversation(prefix).await?]),
        None => Ok(engine.conversation_ids().await?),
    }
}

/// How many candidates an ambiguity names at the most.
const CANDIDATES_MAX: usize = 6;

/// Shortens ids to eight digits, unless that would not tell them apart.
fn apart(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.truncate(CANDIDATES_MAX);
    let short = |name: &String| match name.split_once('_') {
        Some((tag, digits)) => {
            let start: String = digits.chars().take(8).collect();
            format!("{tag}_{start}")
        }
        None => name.clone(),
    };
    let mut shortened: Vec<String> = names.iter().map(short).collect();
    shortened.dedup();
    if shortened.len() == names.len() {
        shortened
    } else {
        names
    }
}

fn one_of<T>(prefix: &str, mut found: Vec<(String, T)>) -> Result<T, CliError> {
    let prefix: String = prefix.chars().take(80).collect();
    if found.len() > 1 {
        let names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        return Err(CliError::Engine(Error::Resolve(ResolveError::Ambiguous {
            prefix,
            candidates: apart(names),
        })));
    }
    let one = found.pop().map(|(_, one)| one);
    one.ok_or(CliError::Engine(Error::Resolve(ResolveError::Unknown {
        prefix,
    })))
}

/// The word for the assembly that was recorded last.
const LAST: &str = "last";

/// Finds the assembly that a prefix names, or the one recorded last, in one conversation or in all.
pub(crate) async fn assembly(
    engine: &Engine,
    conversation: Option<&str>,
    prefix: &str,
) -> Result<(ConversationId, AssemblyId), CliError> {
    let mut found = Vec::new();
    let mut last = None;
    for id in searched(engine, conversation).await? {
        let graph = engine.graph(id, None).await?;
        for node in graph.assemblies() {
            let at = (node.origin.at, node.origin.position);
            if prefix == LAST && last.is_none_or(|(newest, _)| at >= newest) {
                last = Some((at, (id, node.id)));
            }
            let fits = node.id.to_string().starts_with(prefix) || node.id.hex().starts_with(prefix);
            if fits && !prefix.is_empty() {
                found.push((node.id.to_string(), (id, node.id)));
            }
        }
    }
    if let Some((_, last)) = last {
        return Ok(last);
    }
    one_of(prefix, found).map_err(|error| match error {
        CliError::Engine(Error::Resolve(ResolveError::Unknown { prefix })) => CliError::NotFound {
            message: format!("no assembly's id starts with `{prefix}`"),
            hint: "`foldback replay --all` lists assemblies, and so does `foldback graph`"
                .to_owned(),
        },
        other => other,
    })
}

/// Finds the record that a prefix names, in one conversation or in all, with its graph.
pub(crate) async fn record(
    engine: &Engine,
    conversation: Option<&str>,
    prefix: &str,
) -> Result<(ConversationId, RuntimeGraph, Resolved), CliError> {
    let mut found = Vec::new();
    let mut ambiguous: Vec<String> = Vec::new();
    for id in searched(engine, conversation).await? {
        let graph = engine.graph(id, None).await?;
        match graph.resolve(prefix) {
            Ok(resolved) => found.push((id, graph, resolved)),
            Err(ResolveError::Ambiguous { candidates, .. }) => ambiguous.extend(candidates),
            Err(ResolveError::Unknown { .. }) => {}
        }
    }
    // A policy is known to many conversations and is the same in all of them.
    if ambiguous.is_empty()
        && found
            .iter()
            .all(|(_, _, resolved)| matches!(resolved, Resolved::Policy(_)))
    {
        let same = found.windows(2).all(|pair| match pair {
            [(_, _, one), (_, _, other)] => one == other,
            _ => true,
        });
        if same {
            found.truncate(1);
        }
    }
    let mut candidates: Vec<(String, Option<_>)> =
        ambiguous.into_iter().map(|name| (name, None)).collect();
    candidates.extend(
        found
            .into_iter()
            .map(|(id, graph, resolved)| (name(&resolved), Some((id, graph, resolved)))),
    );
    one_of(prefix, candidates)?.ok_or_else(|| {
        CliError::Engine(Error::Resolve(ResolveError::Unknown {
            prefix: prefix.to_owned(),
        }))
    })
}

/// Writes the whole id of what was found.
pub(crate) fn name(resolved: &Resolved) -> String {
    match resolved {
        Resolved::Branch(id) => id.to_string(),
        Resolved::Participant(id) => id.to_string(),
        Resolved::Message(id) => id.to_string(),
        Resolved::Run(id) => id.to_string(),
        Resolved::Call(id) => id.to_string(),
        Resolved::Artifact(id) => id.to_string(),
        Resolved::Memory(id) => id.to_string(),
        Resolved::Fact(id) => id.to_string(),
        Resolved::Checkpoint(id) => id.to_string(),
        Resolved::Job(id) => id.to_string(),
        Resolved::Assembly(id) => id.to_string(),
        Resolved::Policy(digest) => format!("policy_{digest}"),
    }
}

/// Says that an id names something else than what is wanted.
pub(crate) fn wrong_kind(prefix: &str, found: &Resolved, wanted: &str) -> CliError {
    CliError::Usage {
        message: format!("`{prefix}` names {}, not {wanted}", name(found)),
        hint: "`foldback graph` lists everything with its id".to_owned(),
    }
}
