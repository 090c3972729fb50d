//! Verification: the whole store in one pass, trusting nothing that was derived.
//!
//! It proves that every frame, commit and chain is whole; that every payload that an event names is
//! in the vault with the sealed digest that was recorded; that every recorded assembly comes out
//! the same when its conversation is folded from nothing and decided again; and that every memory
//! of a known extractor comes out the same from its artifact.
//!
//! It cannot prove that the log was never cut at its end or replaced as a whole: that needs an
//! [attestation](crate::attest) kept elsewhere. Nor can it prove that what was captured is what the tool returned.

mod decisions;

pub(crate) use decisions::{Decisions, Policies};

use crate::Engine;
use crate::derive::{Condensed, Source};
use crate::engine::READ_CHUNK;
use crate::erase::Citations;
use crate::error::Error;
use foldback_event::kind::ToolMemoryDerived;
use foldback_event::{AccountId, Body, CallStatus, ConversationId, Digest, Event, PayloadRef};
use foldback_graph::RuntimeGraph;
use foldback_store::{EventLog, GetError, KeyError, Log};
use std::collections::BTreeSet;

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What, as a stable code.
    pub code: &'static str,
    /// The conversation, where it is known.
    pub conversation: Option<ConversationId>,
    /// The position in the conversation, where it is known.
    pub position: Option<u64>,
    /// The file and offset, where it is known.
    pub place: Option<String>,
    /// What was seen.
    pub detail: String,
}

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many conversations were folded.
    pub conversations: u64,
    /// How many events were read.
    pub events: u64,
    /// How many payloads events name.
    pub payloads: u64,
    /// How many assemblies are recorded.
    pub assemblies: u64,
    /// How many of these came out the same.
    pub reproduced: u64,
    /// How many memories came out the same from their artifacts.
    pub memories: u64,
    /// How many memories could not be derived again: their bytes or key are gone, or their
    /// extractor is not of this version.
    pub memories_skipped: u64,
    /// What does not hold.
    pub problems: Vec<Problem>,
}

impl Verification {
    /// Tells whether all holds.
    pub fn ok(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Engine {
    /// Verifies the whole store.
    ///
    /// # Errors
    ///
    /// [`Error`] if the store cannot be read at all; what is merely wrong is in the report.
    pub async fn verify(&self, mut progress: impl FnMut(u64)) -> Result<Verification, Error> {
        let mut out = Verification::default();
        if let Log::File(log) = &self.log {
            for problem in log.check().problems {
                out.problems.push(Problem {
                    code: "log",
                    conversation: None,
                    position: None,
                    place: Some(format!("{} at {}", problem.file.display(), problem.offset)),
                    detail: problem.what.clone(),
                });
            }
        }
        let mut citations = Citations::default();
        for conversation in self.log.conversations().await? {
            self.verify_conversation(conversation, &mut citations, &mut out)
                .await;
            out.conversations += 1;
            progress(out.conversations);
        }
        let wanted = citations.live();
        out.payloads = wanted.len() as u64;
        self.check_erased(&citations, &mut out);
        self.check_keys(wanted, &mut out);
        for problem in self.vault.check(wanted.iter().copied()).problems {
            let place = problem
                .file
                .map(|file| format!("{} at {}", file.display(), problem.offset));
            let of = problem
                .address
                .map_or(String::new(), |address| format!(" ({address})"));
            out.problems.push(Problem {
                code: "vault",
                conversation: None,
                position: None,
                place,
                detail: format!("{}{of}", problem.what),
            });
        }
        Ok(out)
    }

    /// Holds the vault to what was erased: an erasure that was cut short leaves bytes behind.
    fn check_erased(&self, citations: &Citations, out: &mut Verification) {
        let mut left = citations.gone();
        left.retain(|(account, address)| self.vault.contains(*account, address));
        for (account, address) in left {
            out.problems.push(Problem {
                code: "erasure",
                conversation: None,
                position: None,
                place: None,
                detail: format!(
                    "the payload {address} of {account} was erased, and its bytes are in the vault \
                     still: erase it again"
                ),
            });
        }
    }

    /// Opens one payload of each account, which needs its key.
    ///
    /// A key that is missing or was erased is no problem here: all but the bytes is proved without
    /// it, and what was skipped is counted. One that is there and does not open is damaged.
    fn check_keys(&self, wanted: &BTreeSet<(AccountId, Digest, Digest)>, out: &mut Verification) {
        let mut tried = BTreeSet::new();
        for (account, address, _) in wanted {
            if tried.contains(account) {
                continue;
            }
            match self.vault.get(*account, address) {
                // The vault's own check says so.
                Err(GetError::Missing { .. }) => continue,
                Err(GetError::Key(
                    ref error @ (KeyError::BadKey { ref path, .. } | KeyError::Io { ref path, .. }),
                )) => out.problems.push(Problem {
                    code: "key",
                    conversation: None,
                    position: None,
                    place: Some(path.display().to_string()),
                    detail: error.to_string(),
                }),
                _ => {}
            }
            tried.insert(*account);
        }
    }

    async fn verify_conversation(
        &self,
        conversation: ConversationId,
        citations: &mut Citations,
        out: &mut Verification,
    ) {
        let mut check = Check {
            engine: self,
            conversation,
            account: self.account,
            citations,
            out,
            policies: Policies::new(),
        };
        let events = match check.read().await {
            Ok(events) => events,
            Err(error) => {
                check.problem("unreadable", None, error.to_string());
                return;
            }
        };
        check.refold(&events);
        check.citations.take(check.account, &events);
    }
}

struct Check<'c> {
    engine: &'c Engine,
    conversation: ConversationId,
    account: AccountId,
    citations: &'c mut Citations,
    out: &'c mut Verification,
    policies: Policies,
}

impl Check<'_> {
    fn problem(&mut self, code: &'static str, position: Option<u64>, detail: String) {
        let conversation = Some(self.conversation);
        self.out.problems.push(Problem {
            code,
            conversation,
            position,
            place: None,
            detail,
        });
    }

    /// Reads and checks the chain link by link.
    async fn read(&mut self) -> Result<Vec<Event>, Error> {
        let mut events: Vec<Event> = Vec::new();
        let mut previous = foldback_event::GENESIS;
        let mut next = 1;
        loop {
            let chunk = self
                .engine
                .log
                .read(self.conversation, next, READ_CHUNK)
                .await?;
            let Some(last) = chunk.last() else {
                return Ok(events);
            };
            next = last.version + 1;
            for stored in &chunk {
                let expected = foldback_event::chain_hash(&previous, &stored.record);
                if expected != stored.hash {
                    let detail = "the chain hash does not follow from the event before".to_owned();
                    self.problem("chain", Some(stored.version), detail);
                }
                previous = stored.hash;
                self.out.events += 1;
                match Event::decode(&stored.record) {
                    Ok(event) => {
                        let envelope = &event.envelope;
                        if envelope.version != stored.version
                            || envelope.conversation != self.conversation
                            || envelope.event_id != stored.event_id
                        {
                            let detail = "the event names another place than it stands at";
                            self.problem("misplaced", Some(stored.version), detail.to_owned());
                        }
                        events.push(event);
                    }
                    Err(error) => {
                        self.problem("undecodable", Some(stored.version), error.to_string());
                    }
                }
            }
        }
    }

    /// Folds once from nothing, and at each recorded position decides again.
    fn refold(&mut self, events: &[Event]) {
        for event in events {
            if let Body::ConversationOpened(body) = &event.body {
                self.account = body.account;
            }
            if let Body::PolicyRegistered(body) = &event.body {
                let account = crate::policies::policy_account();
                self.citations.keep(account, &body.document);
                let read = self
                    .engine
                    .open_policy(&body.digest, &body.document, &body.name);
                self.policies
                    .insert(body.digest, read.map_err(|error| error.to_string()));
            }
        }
        let mut decisions = Decisions::of(events);
        let mut graph = RuntimeGraph::default();
        for event in events {
            graph.apply(event);
            for (version, verdict) in decisions.again(&graph, &self.policies) {
                self.out.assemblies += 1;
                match verdict {
                    Ok(()) => self.out.reproduced += 1,
                    Err(detail) => self.problem("assembly", Some(version), detail),
                }
            }
            if let Body::ToolMemoryDerived(body) = &event.body {
                self.derive_again(&graph, event.envelope.version, body);
            }
        }
        for (version, position) in decisions.left() {
            let detail = format!("it names position {position}, which does not exist");
            self.out.assemblies += 1;
            self.problem("assembly", Some(version), detail);
        }
    }

    fn derive_again(&mut self, graph: &RuntimeGraph, version: u64, body: &ToolMemoryDerived) {
        let [artifact] = body.artifacts.as_slice() else {
            self.out.memories_skipped += 1;
            return;
        };
        let Some(artifact) = graph.artifact(artifact) else {
            self.out.memories_skipped += 1;
            return;
        };
        let arguments = artifact.call.as_ref().and_then(|call| graph.call(call));
        let arguments = arguments.map(|call| call.arguments);
        let opened = (
            self.open(arguments.as_ref()),
            self.open(artifact.result.as_ref()),
        );
        let (Some(arguments), Some(result)) = opened else {
            self.out.memories_skipped += 1;
            return;
        };
        let media_type = artifact.result.map(|result| result.media_type);
        let Some(media_type) = media_type else { return };
        let source = Source {
            tool: body.tool.as_str(),
            arguments: &arguments,
            result: &result,
            media_type,
            failed: artifact.status == CallStatus::Failed,
        };
        let again = Condensed::of(&source, body.privacy);
        let extraction = again.extraction();
        let known = extraction.extractor == body.extractor.as_str()
            && extraction.version == body.extractor_version;
        if !known {
            self.out.memories_skipped += 1;
            return;
        }
        // A memory of an earlier format has no brief and no outline: what it has must come again.
        let texts = [
            (Some(body.summary), Some(extraction.summary.as_str())),
            (body.brief, extraction.brief.as_deref()),
            (body.outline, Some(extraction.outline.as_str())),
        ];
        let recorded = texts
            .into_iter()
            .filter_map(|(payload, text)| Some((payload?, text)));
        let mut same = true;
        for (payload, text) in recorded {
            let vault = &self.engine.vault;
            let address = text.map(|text| vault.address(self.account, text.as_bytes()));
            match address {
                Some(Ok(address)) => same &= address == payload.address,
                Some(Err(_)) => {
                    self.out.memories_skipped += 1;
                    return;
                }
                None => same = false,
            }
        }
        if same {
            self.out.memories += 1;
        } else {
            let detail = "the memory comes out otherwise from its artifact".to_owned();
            self.problem("memory", Some(version), detail);
        }
    }

    /// Opens a payload; a missing or damaged one is the vault check's to report.
    fn open(&self, payload: Option<&PayloadRef>) -> Option<Vec<u8>> {
        let Some(payload) = payload else {
            return Some(Vec::new());
        };
        self.engine.vault.get(self.account, &payload.address).ok()
    }
}
