//! Policies and assemblies, retention and erasure, imports, and kinds from the future.

use super::{Recorded, Story};
use foldback_event::kind::{
    AccountErased, AssemblyRequest, ContextAssembled, ConversationErased, FindingRecorded,
    OmissionCount, PayloadErased, PolicyActivated, PolicyRegistered, RetentionChanged,
    RetentionClass, Route, Selected, SourceImported, SourceRecordKept, TokenAccount, Unknown,
};
use foldback_event::{
    Actor, ActorKind, AssemblyId, Body, Digest, Label, MediaType, ParticipantId, PayloadRef,
    Presentation, Reason, RecordKind, RuntimeKind,
};

const OPERATOR: Actor = Actor {
    kind: ActorKind::Operator,
    participant: None,
};

impl Story {
    /// A policy document becomes known and the one in force: two events.
    pub fn policy(&mut self, name: &str, document: &str) -> Digest {
        let digest = Digest::from_bytes(*blake3::hash(document.as_bytes()).as_bytes());
        let document = self.payload_as(MediaType::Policy, document.as_bytes());
        let name = Label::or_stand_in(name);
        self.tell(PolicyRegistered {
            digest,
            schema: 1,
            name,
            document,
        });
        self.tell_as(OPERATOR, None, PolicyActivated { digest });
        digest
    }

    /// A context was assembled for a participant from the graph as it stands, under a policy.
    ///
    /// `selected` names what is in by the position of its record, `left_out` counts the rest.
    pub fn assembled(
        &mut self,
        participant: ParticipantId,
        policy: Digest,
        selected: &[(u64, RecordKind, Presentation)],
        left_out: u64,
    ) -> AssemblyId {
        let assembly = AssemblyId::derive(self.next_event(), 0);
        let branch = self
            .children
            .get(&participant)
            .copied()
            .unwrap_or(self.stage);
        let request = AssemblyRequest {
            branch,
            participant,
            position: self.position(),
            runtime_kind: self.next_mode().unwrap_or(RuntimeKind::Chat),
            run: None,
            route: Route {
                provider: Label::or_stand_in("openai"),
                model: None,
                region: None,
                zero_retention: false,
            },
            as_of: self.now(),
            budget_tokens: None,
            exact: Vec::new(),
            extends: None,
            relevance: None,
        };
        let selection: Vec<Selected> = selected
            .iter()
            .map(|(record, kind, presentation)| Selected {
                record: *record,
                kind: *kind,
                presentation: *presentation,
                reason: Reason::Permitted,
            })
            .collect();
        let omissions = (left_out > 0).then_some(OmissionCount {
            reason: Reason::Budget,
            count: left_out,
        });
        let digest = Digest::of("foldback 2026 testkit assembly v1", assembly.as_bytes());
        self.tell(ContextAssembled {
            assembly,
            request,
            policy,
            assembler: 1,
            selection,
            omissions: omissions.into_iter().collect(),
            safety: Vec::new(),
            tokens: TokenAccount {
                replay: 200,
                assembled: 80,
                protected: 0,
                budget: 1_000,
            },
            durations: Vec::new(),
            digest,
            layout: None,
        });
        assembly
    }

    /// A record's retention class changes.
    pub fn retains(&mut self, record: impl Recorded, class: RetentionClass) {
        let ground = Label::or_stand_in("operator");
        self.tell(RetentionChanged {
            record: record.record(),
            class,
            ground,
        });
    }

    /// A payload's bytes are destroyed: the story forgets them too.
    pub fn erases(&mut self, payload: &PayloadRef) {
        self.texts.remove(&payload.address);
        let ground = Label::or_stand_in("user-request");
        self.tell(PayloadErased {
            address: payload.address,
            ground,
        });
    }

    /// The first payload of an event is destroyed; nothing happens if it has none.
    pub fn erases_first_of(&mut self, position: u64) {
        let at = position.checked_sub(1);
        let event = at.and_then(|at| self.events.get(usize::try_from(at).ok()?));
        let payload = event.and_then(|event| event.body.payloads().into_iter().next());
        if let Some(payload) = payload {
            self.erases(&payload);
        }
    }

    /// All content of the conversation is destroyed.
    pub fn erases_conversation(&mut self) {
        self.texts.clear();
        self.tell(ConversationErased {
            ground: Label::or_stand_in("user-request"),
        });
    }

    /// All content of the account is destroyed.
    pub fn erases_account(&mut self) {
        self.texts.clear();
        let account = self.account();
        self.tell(AccountErased {
            account,
            ground: Label::or_stand_in("user-request"),
        });
    }

    /// A source file was imported.
    pub fn imported(&mut self, format: &str, file: &str) {
        let body = SourceImported {
            format: Label::or_stand_in(format),
            digest: Digest::from_bytes(*blake3::hash(file.as_bytes()).as_bytes()),
            bytes: file.len() as u64,
        };
        self.tell_as(Actor::IMPORTER, None, body);
    }

    /// A source record was kept whole.
    pub fn kept(&mut self, code: &str, place: u64, bytes: &str) {
        let content = self.payload_as(MediaType::Source, bytes.as_bytes());
        let code = Label::or_stand_in(code);
        self.tell_as(
            Actor::IMPORTER,
            None,
            SourceRecordKept {
                code,
                place,
                content,
            },
        );
    }

    /// An import saw something odd.
    pub fn finds(&mut self, code: &str, place: u64) {
        let code = Label::or_stand_in(code);
        self.tell_as(
            Actor::IMPORTER,
            None,
            FindingRecorded {
                code,
                place,
                detail: None,
            },
        );
    }

    /// An event of a kind that this version does not know.
    pub fn unknown(&mut self, number: u16, must_understand: bool) {
        self.tell(Body::Unknown(Unknown {
            number,
            version: 1,
            must_understand,
            bytes: b"from the future".to_vec(),
        }));
    }
}
