//! What events say of the records they create: whose they are, who may see them, how long they
//! hold, and the numbered vocabularies for all of it.

use crate::number::numbered;
use crate::{BranchId, Label, ParticipantId, RunId};
use serde::{Deserialize, Serialize};

numbered! {
    /// Who may see a record (the article, 4.9).
    Visibility as "visibility" {
        /// Its owner alone, until it is promoted or shared.
        ParticipantPrivate = 1, "participant-private";
        /// Everyone on the branch and on branches forked from it later.
        Branch = 2, "branch";
        /// Everyone in the conversation, on every branch.
        Conversation = 3, "conversation";
        /// Auditors only: no model request ever holds it.
        AuditOnly = 4, "audit-only";
    }
}

numbered! {
    /// How sensitive a record is; policy holds the class against the provider's route.
    Privacy as "privacy class" {
        /// Known to anyone.
        Public = 1, "public";
        /// Known to the people of the account.
        Internal = 2, "internal";
        /// About a natural person.
        Personal = 3, "personal";
        /// Fetched with a user's OAuth grant.
        OauthDerived = 4, "oauth-derived";
        /// Fetched from a Google API under its user-data policy.
        GoogleDerived = 5, "google-derived";
        /// Near a key, token or password.
        SecretAdjacent = 6, "secret-adjacent";
        /// Not classified: treated as the most sensitive.
        Unknown = 7, "unknown";
    }
}

numbered! {
    /// How long an observation holds (the article, 4.7).
    Freshness as "freshness class" {
        /// Minutes: unread counts, availability, search rankings.
        Volatile = 1, "volatile";
        /// The session: temporary files, working folders, drafts.
        Session = 2, "session";
        /// A stated time: CRM cards, thread summaries, page states.
        Bounded = 3, "bounded";
        /// Until something says otherwise: generated files, citations, entity ids.
        Durable = 4, "durable";
        /// Forever: immutable versions, stored artifact identities.
        Permanent = 5, "permanent";
    }
}

numbered! {
    /// The mode in which a request is made (the article, 4.13).
    RuntimeKind as "runtime kind" {
        /// One person, one model.
        Chat = 1, "chat";
        /// Several models answer the same prompt.
        MultiModel = 2, "multi-model";
        /// Speakers take turns under a moderator.
        Discussion = 3, "discussion";
        /// A child agent works for a parent.
        Child = 4, "child";
        /// A parent goes on after its children ended.
        ParentResume = 5, "parent-resume";
        /// A job fired.
        Scheduled = 6, "scheduled";
        /// A send into a branch with explicit parents.
        BranchSend = 7, "branch-send";
    }
}

numbered! {
    /// Whether state of a run is kept apart from other participants.
    Isolation as "isolation" {
        /// Kept apart: the default.
        Isolated = 1, "isolated";
        /// Shared with the participants that `shared_with` names.
        Shared = 2, "shared";
    }
}

numbered! {
    /// Who speaks in a message.
    MessageRole as "message role" {
        /// Instructions of the operator.
        System = 1, "system";
        /// A person.
        User = 2, "user";
        /// A model.
        Assistant = 3, "assistant";
        /// A directive of a discussion's moderator.
        Moderator = 4, "moderator";
        /// A summary that stands for all that came before it on its branch.
        Summary = 5, "summary";
        /// A notice that the client put in the user's place.
        Notice = 6, "notice";
    }
}

numbered! {
    /// How a tool call stands (the article, 4.2).
    CallStatus as "call status" {
        /// It returned a result.
        Succeeded = 1, "succeeded";
        /// It returned an error.
        Failed = 2, "failed";
        /// It runs.
        Pending = 3, "pending";
        /// It waits for a person or for another system.
        Deferred = 4, "deferred";
        /// It was given up.
        Cancelled = 5, "cancelled";
    }
}

impl CallStatus {
    /// Tells whether a later artifact may still resolve the call.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Deferred)
    }
}

numbered! {
    /// Where a confidence comes from.
    ConfidenceSource as "confidence source" {
        /// A deterministic extractor read it from the bytes.
        Extractor = 1, "extractor";
        /// A model wrote it.
        Model = 2, "model";
        /// A person said it.
        Person = 3, "person";
        /// The tool reported it.
        Tool = 4, "tool";
    }
}

numbered! {
    /// The kinds of records that an assembly chooses from.
    RecordKind as "record kind" {
        /// A message.
        Message = 1, "message";
        /// A requested tool call.
        Call = 2, "call";
        /// A captured artifact.
        Artifact = 3, "artifact";
        /// A tool memory.
        Memory = 4, "memory";
        /// The state of loaded skills.
        Skill = 5, "skill";
        /// A remembered fact about a user.
        Fact = 6, "fact";
        /// A continuation checkpoint.
        Checkpoint = 7, "checkpoint";
        /// The end of a child run, as its parent sees it.
        Child = 8, "child";
    }
}

numbered! {
    /// The form in which a selected record enters a request.
    Presentation as "presentation" {
        /// Its bytes as they were captured.
        Raw = 1, "raw";
        /// The compact text of a memory.
        Compact = 2, "compact";
        /// A short notice of its state: stale, superseded, pending, erased.
        Marker = 3, "marker";
        /// Its id alone, by which the bytes can be asked for.
        Reference = 4, "reference";
        /// The brief text of a memory, which stands for its result once the turn is over.
        Brief = 5, "brief";
        /// What a result is without any of its values, where these may not be shown.
        Outline = 6, "outline";
    }
}

numbered! {
    /// Why a record is in an assembly or not.
    Reason as "reason" {
        /// A rule of the policy permits it.
        Permitted = 1, "permitted";
        /// No rule permits it.
        NotPermitted = 2, "not-permitted";
        /// It belongs to a branch that the request's branch does not descend from.
        BranchExcluded = 3, "branch-excluded";
        /// It is private to another participant.
        ParticipantPrivate = 4, "participant-private";
        /// It is for auditors only.
        AuditOnly = 5, "audit-only";
        /// It belongs to a child run and was not promoted.
        NotPromoted = 6, "not-promoted";
        /// Its privacy class is not allowed on the request's route.
        PrivacyRoute = 7, "privacy-route";
        /// It is still a draft of someone else.
        Draft = 8, "draft";
        /// A summary on the branch stands for it.
        Summarized = 9, "summarized";
        /// It is stale at the time of the request.
        Stale = 10, "stale";
        /// A newer memory supersedes it.
        Superseded = 11, "superseded";
        /// It conflicts with another record.
        Conflicted = 12, "conflicted";
        /// Recovery needs it: open, deferred, or failed and not yet made good.
        Recovery = 13, "recovery";
        /// It is recent enough to be shown raw.
        FreshRaw = 14, "fresh-raw";
        /// A compact memory stands for it.
        Compacted = 15, "compacted";
        /// A compact form would save too little of it.
        NoSaving = 16, "no-saving";
        /// It does not fit the budget.
        Budget = 17, "budget";
        /// It lies beyond the bound on candidates.
        CandidateBound = 18, "candidate-bound";
        /// The request needs its exact bytes.
        ExactNeeded = 19, "exact-needed";
        /// Its bytes were erased.
        Erased = 20, "erased";
        /// Its provenance is broken.
        BrokenProvenance = 21, "broken-provenance";
        /// Its call is out, and a result never stands without its call.
        CallOmitted = 22, "call-omitted";
        /// It is not loaded or no longer active.
        Inactive = 23, "inactive";
        /// The request carries another form of the same record.
        Replaced = 24, "replaced";
        /// The exact bytes exceed the rehydration limits.
        RehydrationLimit = 25, "rehydration-limit";
        /// It is larger than a result may be that is shown raw.
        TooLarge = 26, "too-large";
        /// A smaller form is due, but what stands behind it would have to be written to the
        /// provider's cache again, which costs more than it saves so far.
        Cached = 27, "cached";
    }
}

/// Whose a record is and who may see it (the article, 4.9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The participant that owns it; none for what belongs to the conversation.
    pub owner_participant: Option<ParticipantId>,
    /// The run that made it, if one did.
    pub owner_run: Option<RunId>,
    /// The branch it stands on.
    pub branch: BranchId,
    /// Who may see it.
    pub visibility: Visibility,
    /// Participants it is shared with besides its owner, in ascending order.
    pub shared_with: Vec<ParticipantId>,
    /// Whether it is kept apart from other participants.
    pub isolation: Isolation,
    /// The mode in which it was made.
    pub runtime_kind: RuntimeKind,
}

/// How sure a memory is, and on what ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confidence {
    /// Thousandths, 0 to 1000.
    pub permille: u16,
    /// Where the figure comes from.
    pub source: ConfidenceSource,
    /// A short code for the ground, such as `exact-copy` or `head-and-tail`.
    pub rationale: Label,
}
