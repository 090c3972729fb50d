//! `assemble`: a new request for a conversation, as a provider takes it.

use crate::columns::{figure, share};
use crate::command::replay::read_policy;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use clap::ValueEnum;
use foldback::event::kind::ParticipantKind;
use foldback::event::{ArtifactId, BranchId, Label, ParticipantId};
use foldback::report::AssembleReport;
use foldback::{AssembleRequest, Error, Resolved, RuntimeGraph, anthropic, openai};
use std::path::PathBuf;

/// Assemble a new request for a conversation, and print it as the provider takes it
///
/// The assembly is recorded, so that it can be explained and verified.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Participant whose request it is [default: the model that ran last]
    #[arg(long, value_name = "ID")]
    participant: Option<String>,
    /// Branch that the request continues [default: the main one]
    #[arg(long, value_name = "ID")]
    branch: Option<String>,
    /// Provider that takes the request [default: the one asked last, else openai]
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<Provider>,
    /// Model to ask [default: the one asked last]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Most tokens that the request may hold [default: as the policy says]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Artifact whose exact bytes are needed; may be given several times
    #[arg(long, value_name = "ID")]
    exact: Vec<String>,
    /// Policy to decide by [default: the one in force in the conversation]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// The form of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Provider {
    /// Chat Completions
    Openai,
    /// Messages
    Anthropic,
}

impl Provider {
    const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let policy = args.policy.as_deref().map(read_policy).transpose()?;
    let engine = store.write(printer)?;
    let id = store::conversation(&engine, args.conversation.as_deref()).await?;
    let graph = engine.graph(id, None).await?;
    let participant = participant(&graph, args.participant.as_deref())?;
    let branch = args.branch.as_deref().map(|prefix| branch(&graph, prefix));
    let branch = branch.transpose()?;
    let provider = args
        .provider
        .unwrap_or_else(|| last_provider(&graph, participant));
    let mut request = AssembleRequest::chat(participant, Label::or_stand_in(provider.name()));
    request.branch = branch;
    request.budget_tokens = args.budget;
    request.policy = policy;
    request.route.model = match &args.model {
        Some(model) => Some(Label::new(model).map_err(|error| CliError::Usage {
            message: format!("`{model}` is no model: {error}"),
            hint: "give the model's name as the provider spells it".to_owned(),
        })?),
        None => last_model(&graph, participant),
    };
    for prefix in &args.exact {
        request.exact.push(artifact(&graph, prefix)?);
    }
    request.extends = last_assembly(&graph, participant, branch);
    let assembled = engine.conversation(id).assemble(request).await?;
    let rendered = match provider {
        Provider::Openai => openai::render(&assembled.prompt),
        Provider::Anthropic => anthropic::render(&assembled.prompt),
    };
    if printer.is_json() {
        let report = AssembleReport::new(id, &assembled, rendered);
        printer.json(&report)?;
        return Ok(Outcome::Done);
    }
    printer.json(&rendered)?;
    for told in &assembled.withheld {
        printer.warn(&format!(
            "the exact bytes of #{} are not in: {}",
            told.position, told.sentence
        ));
    }
    let tokens = assembled.assembly.tokens;
    let (sent, all) = (tokens.assembled, tokens.replay);
    printer.note(&format!(
        "assembled {} tokens instead of {}: {}",
        figure(sent),
        figure(all),
        share(sent, all)
    ));
    printer.next(&format!(
        "`foldback explain {}` tells why",
        assembled.id.short()
    ));
    Ok(Outcome::Done)
}

/// Finds a participant by prefix, or the model that ran last, or the one model there is.
fn participant(graph: &RuntimeGraph, prefix: Option<&str>) -> Result<ParticipantId, CliError> {
    if let Some(prefix) = prefix {
        return match graph.resolve(prefix).map_err(Error::from)? {
            Resolved::Participant(id) => Ok(id),
            other => Err(store::wrong_kind(prefix, &other, "a participant")),
        };
    }
    let is_model = |id: &ParticipantId| {
        let node = graph.participant(id);
        node.is_some_and(|node| node.kind == ParticipantKind::Model)
    };
    let last = graph
        .runs()
        .filter(|run| is_model(&run.participant))
        .max_by_key(|run| run.origin.position)
        .map(|run| run.participant);
    let only = graph
        .participants()
        .filter(|node| node.kind == ParticipantKind::Model)
        .min_by_key(|node| node.origin.position)
        .map(|node| node.id);
    last.or(only).ok_or_else(|| CliError::NotFound {
        message: "no model takes part in this conversation".to_owned(),
        hint: "`foldback graph` lists the participants; name one with --participant".to_owned(),
    })
}

fn branch(graph: &RuntimeGraph, prefix: &str) -> Result<BranchId, CliError> {
    match graph.resolve(prefix).map_err(Error::from)? {
        Resolved::Branch(id) => Ok(id),
        other => Err(store::wrong_kind(prefix, &other, "a branch")),
    }
}

fn artifact(graph: &RuntimeGraph, prefix: &str) -> Result<ArtifactId, CliError> {
    match graph.resolve(prefix).map_err(Error::from)? {
        Resolved::Artifact(id) => Ok(id),
        other => Err(store::wrong_kind(prefix, &other, "an artifact")),
    }
}

fn last_provider(graph: &RuntimeGraph, participant: ParticipantId) -> Provider {
    let asked = graph
        .runs()
        .filter(|run| run.participant == participant)
        .filter_map(|run| {
            run.provider
                .as_ref()
                .map(|name| (run.origin.position, name))
        })
        .max_by_key(|(position, _)| *position);
    match asked {
        Some((_, name)) if name.as_str() == Provider::Anthropic.name() => Provider::Anthropic,
        _ => Provider::Openai,
    }
}

fn last_model(graph: &RuntimeGraph, participant: ParticipantId) -> Option<Label> {
    graph
        .runs()
        .filter(|run| run.participant == participant)
        .filter_map(|run| run.model.as_ref().map(|name| (run.origin.position, name)))
        .max_by_key(|(position, _)| *position)
        .map(|(_, name)| name.clone())
}

/// Finds the assembly that the new one goes on from, so that what is written stays as it is.
fn last_assembly(
    graph: &RuntimeGraph,
    participant: ParticipantId,
    branch: Option<BranchId>,
) -> Option<foldback::event::AssemblyId> {
    let main = graph.conversation().map(|node| node.main_branch);
    let branch = branch.or(main)?;
    graph
        .assemblies()
        .filter(|node| node.participant == participant && node.branch == branch)
        .max_by_key(|node| (node.position, node.origin.position))
        .map(|node| node.id)
}
