//! Putting a conversation together.
//!
//! Keys are made unique here: the second record of a key gets a number, which depends on what
//! stands before it alone, so that a file that has grown gives the same keys again.

use super::json::cut;
use crate::{
    Format, Place, SourceBody, SourceBranch, SourceConversation, SourceFinding, SourceParticipant,
    SourceRecord,
};
use foldback_event::kind::ParticipantKind;
use foldback_event::{Digest, Micros};
use std::collections::BTreeMap;

/// The person's place among the participants.
pub(super) const USER: usize = 0;
/// The answering model's place among the participants.
pub(super) const MODEL: usize = 1;
/// The main branch.
pub(super) const MAIN: usize = 0;

/// The domain of the digests of lines.
const LINE_CONTEXT: &str = "foldback 2026 trace line v1";

const TITLE_CHARS_MAX: usize = 80;

/// Where a record stands, when it was, and whose it is.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) place: Place,
    pub(super) branch: usize,
    pub(super) participant: usize,
    pub(super) at: Option<Micros>,
}

/// A conversation in the making.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) conversation: SourceConversation,
    keys: BTreeMap<String, u32>,
    first_line: Option<String>,
}

impl Builder {
    /// Begins a conversation with its person, its model and its main branch.
    pub(super) fn new(key: String, format: Format) -> Self {
        let participant = |key: &str, kind| SourceParticipant {
            key: key.into(),
            kind,
            name: None,
            model: None,
        };
        let main = SourceBranch {
            key: "main".into(),
            parent: None,
            sidechain: false,
            title: None,
        };
        Self {
            conversation: SourceConversation {
                key,
                title: None,
                format,
                participants: vec![
                    participant("user", ParticipantKind::Human),
                    participant("assistant", ParticipantKind::Model),
                ],
                branches: vec![main],
                records: Vec::new(),
                findings: Vec::new(),
            },
            keys: BTreeMap::new(),
            first_line: None,
        }
    }

    /// Gives the key under which the next record of this key will stand.
    pub(super) fn unique(&mut self, key: &str) -> String {
        let seen = self.keys.entry(key.to_owned()).or_default();
        *seen += 1;
        if *seen == 1 {
            key.to_owned()
        } else {
            format!("{key}~{seen}")
        }
    }

    /// Adds a record and gives its index.
    pub(super) fn push(&mut self, scene: &Scene, key: &str, body: SourceBody) -> usize {
        let key = self.unique(key);
        self.push_as(scene, key, body)
    }

    /// Adds a record under a key that [`Self::unique`] gave.
    pub(super) fn push_as(&mut self, scene: &Scene, key: String, body: SourceBody) -> usize {
        self.conversation.records.push(SourceRecord {
            key,
            place: scene.place.clone(),
            branch: scene.branch,
            participant: scene.participant,
            at: scene.at,
            body,
        });
        self.conversation.records.len() - 1
    }

    /// Keeps bytes that are no message, call or result.
    pub(super) fn keep(&mut self, scene: &Scene, key: &str, code: &'static str, bytes: &[u8]) {
        self.push(
            scene,
            key,
            SourceBody::Kept {
                code,
                bytes: bytes.to_vec(),
            },
        );
    }

    /// Adds a finding.
    pub(super) fn find(&mut self, code: &'static str, place: &Place, detail: impl Into<String>) {
        self.conversation.findings.push(SourceFinding {
            code,
            place: place.clone(),
            detail: cut(&detail.into(), 200),
        });
    }

    /// Finds or adds a participant.
    pub(super) fn participant(
        &mut self,
        key: &str,
        kind: ParticipantKind,
        name: Option<&str>,
    ) -> usize {
        let all = &mut self.conversation.participants;
        if let Some(index) = all.iter().position(|one| one.key == key) {
            return index;
        }
        let name = name.map(str::to_owned);
        all.push(SourceParticipant {
            key: key.into(),
            kind,
            name,
            model: None,
        });
        all.len() - 1
    }

    /// Takes note of the model that a participant answers with; the first one counts.
    pub(super) fn answers_with(&mut self, participant: usize, model: Option<&str>) {
        if let (Some(one), Some(model)) =
            (self.conversation.participants.get_mut(participant), model)
        {
            one.model.get_or_insert_with(|| model.to_owned());
        }
    }

    /// Adds a branch.
    pub(super) fn branch(&mut self, branch: SourceBranch) -> usize {
        self.conversation.branches.push(branch);
        self.conversation.branches.len() - 1
    }

    /// Takes note of what a person wrote; its first line stands in for a missing title.
    pub(super) fn wrote(&mut self, text: &str) {
        if self.first_line.is_none() {
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            self.first_line = line.map(|line| cut(line, TITLE_CHARS_MAX));
        }
    }

    /// Ends the conversation.
    pub(super) fn finish(mut self, title: Option<String>) -> SourceConversation {
        self.conversation.title = title.or(self.first_line);
        self.conversation
    }
}

/// Adds a finding, and the bytes it is about, to a conversation that was finished.
pub(super) fn annotate(
    conversation: &mut SourceConversation,
    place: &Place,
    code: &'static str,
    detail: &str,
    bytes: &[u8],
) {
    conversation.findings.push(SourceFinding {
        code,
        place: place.clone(),
        detail: cut(detail, 200),
    });
    if bytes.is_empty() {
        return;
    }
    let key = line_key(bytes);
    let before = conversation
        .records
        .iter()
        .filter(|one| one.key.starts_with(&key))
        .count();
    let key = if before == 0 {
        key
    } else {
        format!("{key}~{}", before + 1)
    };
    conversation.records.push(SourceRecord {
        key,
        place: place.clone(),
        branch: MAIN,
        participant: USER,
        at: None,
        body: SourceBody::Kept {
            code,
            bytes: bytes.to_vec(),
        },
    });
}

/// Gives the key of a line that has no id of its own.
pub(super) fn line_key(bytes: &[u8]) -> String {
    format!("line:{}", Digest::of(LINE_CONTEXT, bytes).short())
}
