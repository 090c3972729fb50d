//! From an assembly to the request: payloads are opened and the few words around them are added.
//!
//! Selection is over when this begins; nothing here decides what is in. What cannot be opened is
//! said to be so in its place.

use crate::Engine;
use crate::engine::PayloadText;
use crate::error::Error;
use foldback_assembly::{Assembly, Item, Note, Section};
use foldback_event::{
    ArtifactId, CallId, CallStatus, CheckpointId, FactId, MediaType, MemoryId, MessageId,
    MessageRole, PayloadRef, Presentation, Reason, RecordKind, RunId,
};
use foldback_graph::RuntimeGraph;
use foldback_graph::node::{Artifact, Call, Memory, Message, SkillState};
use foldback_trace::{Content, Prompt, PromptCall, PromptResult, Speaker, Turn};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Opens a payload as text.
type Open<'a> = dyn Fn(&PayloadRef) -> Result<PayloadText, Error> + 'a;

impl Engine {
    /// Builds the request that an assembly describes.
    ///
    /// The graph must stand at the assembly's position or later.
    ///
    /// # Errors
    ///
    /// [`Error`] if the vault is damaged.
    pub fn prompt(&self, graph: &RuntimeGraph, assembly: &Assembly) -> Result<Prompt, Error> {
        build_prompt(graph, assembly, &|payload| self.text_of(graph, payload))
    }
}

/// Builds the request that an assembly describes, from texts that are kept anywhere.
///
/// The graph must stand at the assembly's position or later. `open` is asked for no payload but
/// those whose text the request holds.
///
/// # Errors
///
/// What `open` fails with, and [`Error::Content`] for content that is not as it was written.
pub fn build_prompt(
    graph: &RuntimeGraph,
    assembly: &Assembly,
    open: &Open<'_>,
) -> Result<Prompt, Error> {
    let items = assembly.items.iter();
    let mut builder = Builder {
        open,
        graph,
        assembly,
        at: items
            .map(|item| ((item.position, item.record.kind), item))
            .collect(),
        prompt: Prompt::default(),
        gathered: None,
    };
    let model = assembly.request.route.model.as_ref();
    builder.prompt.model = model.map(ToString::to_string);
    for item in &assembly.items {
        builder.item(item)?;
    }
    builder.close();
    Ok(builder.prompt)
}

/// Calls of one run that are being gathered into one turn.
struct Gathered {
    run: Option<RunId>,
    text: Option<Content>,
    calls: Vec<PromptCall>,
}

struct Builder<'e> {
    open: &'e Open<'e>,
    graph: &'e RuntimeGraph,
    assembly: &'e Assembly,
    at: BTreeMap<(u64, RecordKind), &'e Item>,
    prompt: Prompt,
    gathered: Option<Gathered>,
}

impl Builder<'_> {
    fn item(&mut self, item: &Item) -> Result<(), Error> {
        let id = item.record.id;
        match item.record.kind {
            RecordKind::Message => match self.graph.message(&MessageId::from_bytes(id)) {
                Some(node) => self.message(item, node),
                None => Ok(()),
            },
            RecordKind::Call => match self.graph.call(&CallId::from_bytes(id)) {
                Some(node) => self.call(node),
                None => Ok(()),
            },
            // In the history, a result is written where its call stands.
            RecordKind::Artifact | RecordKind::Memory if item.section == Section::History => Ok(()),
            RecordKind::Artifact => match self.graph.artifact(&ArtifactId::from_bytes(id)) {
                Some(node) => {
                    let text = self.payload(node.result.as_ref())?;
                    let handle = node.id.short();
                    self.tail(&format!(
                        "[{handle}: exact result of {}]\n{text}",
                        node.tool
                    ));
                    Ok(())
                }
                None => Ok(()),
            },
            RecordKind::Memory => match self.graph.memory(&MemoryId::from_bytes(id)) {
                Some(node) => {
                    let text = self.memory(item, node)?;
                    self.tail(&format!("[earlier result of {}]\n{text}", node.tool));
                    Ok(())
                }
                None => Ok(()),
            },
            RecordKind::Skill => match self.graph.skill_state(&item.position) {
                Some(node) => {
                    let text = self.skills(node)?;
                    self.prompt.system.push(text);
                    Ok(())
                }
                None => Ok(()),
            },
            RecordKind::Fact => {
                if let Some(node) = self.graph.fact(&FactId::from_bytes(id)) {
                    let text = self.payload(Some(&node.content))?;
                    self.prompt.system.push(format!("About the user: {text}"));
                }
                Ok(())
            }
            RecordKind::Checkpoint => {
                let id = CheckpointId::from_bytes(id).short();
                self.tail(&format!("[you go on from checkpoint {id}]"));
                Ok(())
            }
            RecordKind::Child => self.child(&RunId::from_bytes(id)),
        }
    }

    fn message(&mut self, item: &Item, node: &Message) -> Result<(), Error> {
        let content = if item.presentation == Presentation::Marker {
            Content::Text("[message erased]".to_owned())
        } else {
            self.content(node)?
        };
        if node.role == MessageRole::System {
            self.close();
            self.prompt.system.push(content.plain_text().into_owned());
            return Ok(());
        }
        let own = node.participant == Some(self.assembly.request.participant);
        if node.role == MessageRole::Assistant && own {
            // What a model said and the calls it made at once are one turn.
            let same = self.gathered.as_ref().is_some_and(|open| {
                open.run.is_some() && open.run == node.run && open.calls.is_empty()
            });
            if !same {
                self.close();
                self.gathered = Some(Gathered {
                    run: node.run,
                    text: None,
                    calls: Vec::new(),
                });
            }
            if let Some(open) = &mut self.gathered {
                open.text = Some(match open.text.take() {
                    Some(before) => joined(before, content),
                    None => content,
                });
            }
            return Ok(());
        }
        self.close();
        let speaks = matches!(node.role, MessageRole::Assistant | MessageRole::Moderator);
        let name = if speaks { self.speaker(node)? } else { None };
        let content = if item.section == Section::Tail {
            Content::Text(format!("[from another branch] {}", content.plain_text()))
        } else {
            content
        };
        self.prompt.turns.push(Turn::Message {
            role: Speaker::User,
            name,
            content,
        });
        Ok(())
    }

    fn speaker(&self, node: &Message) -> Result<Option<String>, Error> {
        let name = node
            .participant
            .and_then(|id| self.graph.participant(&id))
            .and_then(|participant| participant.name);
        match name {
            Some(name) => Ok(Some(self.payload(Some(&name))?)),
            None => Ok(Some(node.role.to_string())),
        }
    }

    fn call(&mut self, node: &Call) -> Result<(), Error> {
        let arguments = self.payload(Some(&node.arguments))?;
        let result = self.result(node)?;
        let id = node
            .source_id
            .as_ref()
            .map_or_else(|| node.id.short(), ToString::to_string);
        let call = PromptCall {
            id,
            tool: node.tool.to_string(),
            arguments,
            result,
        };
        let same = self
            .gathered
            .as_ref()
            .is_some_and(|open| open.run.is_some() && open.run == node.run);
        if !same {
            self.close();
            self.gathered = Some(Gathered {
                run: node.run,
                text: None,
                calls: Vec::new(),
            });
        }
        if let Some(open) = &mut self.gathered {
            open.calls.push(call);
        }
        Ok(())
    }

    /// Writes what stands in the place of a call's result.
    fn result(&self, call: &Call) -> Result<PromptResult, Error> {
        for artifact in call
            .artifacts
            .iter()
            .rev()
            .filter_map(|id| self.graph.artifact(id))
        {
            let is_error = artifact.status == CallStatus::Failed;
            let own = self.shown(artifact.common.origin.position, RecordKind::Artifact);
            if let Some(item) = own {
                return Ok(PromptResult {
                    content: self.artifact(item, artifact)?,
                    is_error,
                });
            }
            let memories = artifact
                .memories
                .iter()
                .filter_map(|id| self.graph.memory(id));
            for memory in memories {
                if let Some(item) = self.shown(memory.common.origin.position, RecordKind::Memory) {
                    let content = Content::Text(self.memory(item, memory)?);
                    return Ok(PromptResult { content, is_error });
                }
            }
        }
        let content = Content::Text("[no result yet: the call is open]".to_owned());
        Ok(PromptResult {
            content,
            is_error: false,
        })
    }

    fn shown(&self, position: u64, kind: RecordKind) -> Option<&Item> {
        self.at
            .get(&(position, kind))
            .copied()
            .filter(|item| item.section == Section::History)
    }

    fn artifact(&self, item: &Item, node: &Artifact) -> Result<Content, Error> {
        let handle = node.id.short();
        let notice = match (item.presentation, item.reason) {
            (Presentation::Raw, _) => None,
            (_, Reason::Erased) => Some(format!("[{handle} erased]")),
            (_, Reason::Recovery | Reason::Permitted) => {
                Some(format!("[{handle} {}: no result yet]", node.status))
            }
            (_, Reason::PrivacyRoute) => {
                let class = node.common.privacy;
                Some(format!(
                    "[{handle} withheld: {class} is not allowed on this route]"
                ))
            }
            (_, reason) => Some(format!("[{handle} withheld: {reason}]")),
        };
        match (notice, &node.result) {
            (None, Some(result)) if result.media_type == MediaType::Parts => {
                self.parts(result, node.common.origin.position)
            }
            (None, result) => Ok(Content::Text(self.payload(result.as_ref())?)),
            (Some(notice), _) => Ok(Content::Text(notice)),
        }
    }

    /// Writes a memory: its handle, so that the bytes can be asked for, and its compact text.
    fn memory(&self, item: &Item, node: &Memory) -> Result<String, Error> {
        let handle = node
            .artifacts
            .first()
            .map_or_else(|| node.id.short(), ArtifactId::short);
        let pointed = self
            .assembly
            .decision(item.position)
            .and_then(|decision| decision.note);
        let text = match item.presentation {
            Presentation::Compact => Some(Some(&node.summary)),
            Presentation::Brief => Some(node.brief.as_ref()),
            Presentation::Outline => {
                let outline = self.payload(node.outline.as_ref())?;
                let (class, tool) = (node.common.privacy, &node.tool);
                return Ok(format!(
                    "[{handle} withheld: {class} is not allowed on this route; {tool} fetches it \
                     again]\n{outline}"
                ));
            }
            _ => None,
        };
        if let Some(text) = text {
            let text = self.payload(text)?;
            let other = match (item.reason, pointed) {
                (Reason::Conflicted, Some(Note::ConflictsWith(other))) => {
                    format!("; disagrees with {}", self.handle(&other))
                }
                _ => String::new(),
            };
            return Ok(format!("[{handle}{other}]\n{text}"));
        }
        Ok(match (item.reason, pointed) {
            (Reason::Stale, Some(Note::StaleSince(at))) => {
                let since = crate::rfc3339(at);
                format!(
                    "[{handle} stale since {since}; call {} to check]",
                    checks(node)
                )
            }
            (Reason::Stale, Some(Note::Changed { at, .. })) => {
                let at = crate::rfc3339(at);
                let check = checks(node);
                format!("[{handle} changed by another at {at}; call {check} to check]")
            }
            (Reason::Superseded, Some(Note::SupersededBy(newer))) => {
                format!("[{handle} superseded by {}]", self.handle(&newer))
            }
            (Reason::Erased, _) => format!("[{handle} erased]"),
            (Reason::BrokenProvenance, _) => {
                format!(
                    "[{handle} not shown: its source cannot be found; call {} again]",
                    node.tool
                )
            }
            (reason, _) => format!("[{handle} not shown: {reason}]"),
        })
    }

    fn handle(&self, memory: &MemoryId) -> String {
        let node = self.graph.memory(memory);
        let artifact = node.and_then(|node| node.artifacts.first());
        artifact.map_or_else(|| memory.short(), ArtifactId::short)
    }

    fn skills(&self, node: &SkillState) -> Result<String, Error> {
        let state = &node.state;
        let mut out = String::new();
        if let Some(profile) = &state.profile {
            let _ = writeln!(out, "profile: {profile}");
        }
        let names = |labels: &[foldback_event::Label]| {
            labels
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let loaded = state.skills.iter().filter(|skill| skill.loaded);
        let others: Vec<String> = state
            .skills
            .iter()
            .filter(|skill| !skill.loaded)
            .map(|skill| skill.name.to_string())
            .collect();
        for skill in loaded {
            let text = self.payload(skill.text.as_ref())?;
            let _ = writeln!(out, "skill {} (loaded): {text}", skill.name);
        }
        if !others.is_empty() {
            let _ = writeln!(out, "skills to load: {}", others.join(", "));
        }
        if !state.direct_tools.is_empty() {
            let _ = writeln!(out, "direct tools: {}", names(&state.direct_tools));
        }
        if !state.integrations.is_empty() {
            let _ = writeln!(out, "integrations: {}", names(&state.integrations));
        }
        Ok(out.trim_end().to_owned())
    }

    fn child(&mut self, run: &RunId) -> Result<(), Error> {
        let Some(end) = self.graph.child(run).and_then(|child| child.end.as_ref()) else {
            return Ok(());
        };
        let report = match &end.report {
            Some(report) => self.payload(Some(report))?,
            None => "no report".to_owned(),
        };
        self.tail(&format!("[child {} {}]\n{report}", run.short(), end.status));
        Ok(())
    }

    fn tail(&mut self, text: &str) {
        self.close();
        let content = Content::Text(text.to_owned());
        self.prompt.turns.push(Turn::Message {
            role: Speaker::User,
            name: None,
            content,
        });
    }

    /// Ends the turn whose calls are being gathered.
    fn close(&mut self) {
        let Some(open) = self.gathered.take() else {
            return;
        };
        if open.calls.is_empty() {
            if let Some(content) = open.text {
                let role = Speaker::Assistant;
                self.prompt.turns.push(Turn::Message {
                    role,
                    name: None,
                    content,
                });
            }
        } else {
            self.prompt.turns.push(Turn::Calls {
                text: open.text,
                calls: open.calls,
            });
        }
    }

    fn content(&self, node: &Message) -> Result<Content, Error> {
        match node.content.media_type {
            MediaType::Parts | MediaType::Thinking => {
                self.parts(&node.content, node.common.origin.position)
            }
            _ => Ok(Content::Text(self.payload(Some(&node.content))?)),
        }
    }

    fn parts(&self, payload: &PayloadRef, position: u64) -> Result<Content, Error> {
        match (self.open)(payload)? {
            PayloadText::Text(text) => Content::from_bytes(MediaType::Parts, text.as_bytes())
                .map_err(|source| Error::Content { position, source }),
            other => Ok(Content::Text(other.or_notice())),
        }
    }

    fn payload(&self, payload: Option<&PayloadRef>) -> Result<String, Error> {
        match payload {
            Some(payload) => Ok((self.open)(payload)?.or_notice()),
            None => Ok(String::new()),
        }
    }
}

/// Names the tools that can check a memory again.
fn checks(memory: &Memory) -> String {
    let tools: Vec<&str> = memory
        .revalidation
        .iter()
        .map(foldback_event::Label::as_str)
        .collect();
    if tools.is_empty() {
        return memory.tool.to_string();
    }
    tools.join(" or ")
}

/// Puts two contents of one message after another.
fn joined(first: Content, second: Content) -> Content {
    let parts = |content: Content| match content {
        Content::Text(text) => vec![foldback_trace::Part::Text { text }],
        Content::Parts(parts) => parts,
    };
    let mut all = parts(first);
    all.extend(parts(second));
    Content::of_parts(all)
}
