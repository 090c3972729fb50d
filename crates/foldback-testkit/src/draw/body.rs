//! Draws event bodies: every kind, every field.

use super::{Draw, draw_fields};
use crate::Rng;
use foldback_event::kind::{
    AccountErased, AssemblyRequest, BranchForked, CheckpointRestored, CheckpointTaken,
    ChildRunFinished, ChildRunStarted, ContextAssembled, ConversationErased, ConversationOpened,
    FactDigest, FindingRecorded, JobTriggered, LayoutAccount, LayoutPlan, MemoriesConflicted,
    MemoriesSuperseded, MemoryRevalidated, MessageFinalized, MessageRecorded, ModelRunFailed,
    ModelRunFinished, ModelRunStarted, OmissionCount, Omitted, ParticipantJoined, PayloadErased,
    Placement, PolicyActivated, PolicyRegistered, ProvenanceRepairTried, RecordPromoted, RecordRef,
    Relevance, RetentionChanged, Route, SafetyDecision, Selected, SkillEntry, SkillStateChanged,
    SourceImported, SourceRecordKept, StageDuration, SubjectChanged, TokenAccount,
    ToolArtifactCaptured, ToolCallRequested, ToolCallResolved, ToolMemoryDerived, Usage,
    UserFactRemembered,
};
use foldback_event::{Body, Kind};

macro_rules! bodies {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        draw_fields! { $($name { $($field),* })* }

        pub(super) fn of_kind(kind: Kind, rng: &mut Rng) -> Body {
            match kind {
                $(Kind::$name => Body::$name($name::draw(rng)),)*
            }
        }
    };
}

draw_fields! {
    AssemblyRequest {
        branch, participant, position, runtime_kind, run, route, as_of, budget_tokens, exact,
        extends, relevance,
    }
    FactDigest { key, value }
    OmissionCount { reason, count }
    Omitted { what, count }
    RecordRef { kind, id }
    Relevance { scorer, version, scores }
    Route { provider, model, region, zero_retention }
    SafetyDecision { rule, reason, count }
    Selected { record, kind, presentation, reason }
    Placement { tokens, names }
    LayoutPlan {
        pending, saving, suffix, horizon, break_even, applied, read_permille, write_permille,
    }
    LayoutAccount { placements, prefix, cost, plan }
    SkillEntry { name, loaded, text }
    StageDuration { stage, us }
    TokenAccount { replay, assembled, protected, budget }
    Usage { input, output, cache_read, cache_write }
}

bodies! {
    ConversationOpened { account, branch, title, source }
    BranchForked { branch, parent, at, title }
    ParticipantJoined { participant, kind, name, model }
    MessageRecorded {
        message, role, participant, ownership, privacy, run, content, draft,
    }
    MessageFinalized { message, content, visibility }
    SkillStateChanged { ownership, privacy, profile, skills, direct_tools, integrations }
    UserFactRemembered { fact, ownership, privacy, content, source, supersedes }

    ModelRunStarted {
        run, participant, branch, runtime_kind, provider, model, assembly, retries,
    }
    ModelRunFinished { run, finish_reason, usage, model }
    ModelRunFailed { run, error, retryable }
    JobTriggered { job, branch, participant, name, instruction }

    ToolCallRequested { call, run, message, ownership, privacy, tool, source_id, arguments }
    ToolArtifactCaptured {
        artifact, call, run, ownership, privacy, tool, status, retryable, result, structured,
        question, tool_version, runtime, skills, duration_us,
    }
    ToolCallResolved { call, open, artifact }

    ToolMemoryDerived {
        memory, ownership, privacy, artifacts, tool, extractor, extractor_version, summary, detail,
        lossless, subject, question, facts, confidence, ambiguities, limits, freshness,
        observed_at, stale_after, revalidation, promotion, brief, outline,
    }
    MemoriesConflicted { memories, keys }
    MemoriesSuperseded { memory, supersedes, ground }
    MemoryRevalidated { memory, artifact, observed_at }
    ProvenanceRepairTried { memory, artifact, outcome }
    SubjectChanged { artifact, subjects }

    RecordPromoted { record, from, to, branch, shared_with, ground }
    ChildRunStarted { run, participant, branch, parent, parent_branch, parent_call }
    ChildRunFinished { run, status, report, privacy }
    CheckpointTaken { checkpoint, ownership, run, assembly, open_calls, state }
    CheckpointRestored { checkpoint, run }

    PolicyRegistered { digest, schema, name, document }
    PolicyActivated { digest }
    ContextAssembled {
        assembly, request, policy, assembler, selection, omissions, safety, tokens, durations,
        digest, layout,
    }

    RetentionChanged { record, class, ground }
    PayloadErased { address, ground }
    ConversationErased { ground }
    AccountErased { account, ground }

    SourceImported { format, digest, bytes }
    SourceRecordKept { code, place, content }
    FindingRecorded { code, place, detail }
}
