//! Boundaries: promotion, children, checkpoints.

use super::{Begun, Conversation, event, know};
use crate::error::Error;
use foldback_event::kind::{
    BranchForked, CheckpointRestored, CheckpointTaken, ChildRunFinished, ChildRunStarted,
    ChildStatus, ParticipantJoined, ParticipantKind, RecordPromoted, RecordRef,
};
use foldback_event::{
    AssemblyId, BranchId, CallId, CheckpointId, Kind, Label, MediaType, ParticipantId, Privacy,
    RunId, Visibility,
};

/// A promotion: a record is to be seen by more than before.
#[derive(Debug, Clone)]
pub struct Promote {
    /// The record.
    pub record: RecordRef,
    /// Who may see it.
    pub to: Visibility,
    /// The branch on which it is seen, where it moves to another.
    pub branch: Option<BranchId>,
    /// Participants it is shared with.
    pub shared_with: Vec<ParticipantId>,
    /// The ground, as a code.
    pub ground: Label,
}

/// What starting a child gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildStart {
    /// The child's run, an outer frame around its model runs.
    pub run: RunId,
    /// The child.
    pub participant: ParticipantId,
    /// The branch that holds its state.
    pub branch: BranchId,
}

/// A checkpoint to be taken.
#[derive(Debug, Clone)]
pub struct TakeCheckpoint {
    /// The participant whose state it is.
    pub participant: ParticipantId,
    /// The branch.
    pub branch: BranchId,
    /// The run.
    pub run: Option<RunId>,
    /// The assembly that the run was given.
    pub assembly: Option<AssemblyId>,
    /// Calls that are open.
    pub open_calls: Vec<CallId>,
    /// State that only the runtime understands.
    pub state: Option<Vec<u8>>,
}

impl Conversation<'_> {
    /// Widens who may see a record; who, why and until where is recorded.
    ///
    /// # Errors
    ///
    /// [`Error`] if the record does not exist or the promotion widens nothing, or it cannot be
    /// written.
    pub async fn promote(&self, new: Promote) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::RecordPromoted]).await? {
            let common = pen.graph().common(&new.record);
            let from = common.map(|common| common.ownership.visibility);
            let Some(from) = from else {
                let id = format!("{:?}", new.record.id);
                return Err(Error::UnknownRecord {
                    what: new.record.kind.name(),
                    id,
                });
            };
            // The numbers of visibility rise with its width, but for audit-only, which is no step
            // on that way: nothing is promoted into it.
            let widens =
                new.to != Visibility::AuditOnly && (new.to > from || from == Visibility::AuditOnly);
            if !widens && new.shared_with.is_empty() {
                return Err(Error::NothingToPromote {
                    record: new.record.kind.name().to_owned(),
                    from: from.name(),
                    to: new.to.name(),
                });
            }
            for participant in &new.shared_with {
                pen.know_participant(*participant)?;
            }
            if let Some(branch) = new.branch {
                pen.know_branch(branch)?;
            }
            let id = pen.next_id();
            let body = RecordPromoted {
                record: new.record,
                from,
                to: if widens { new.to } else { from },
                branch: new.branch,
                shared_with: new.shared_with,
                ground: new.ground,
            };
            pen.push(id, body)?;
            pen.finish().await?;
        }
        Ok(())
    }

    /// Starts a child agent: a participant with a branch of its own, which inherits nothing and
    /// whose state stays its own until it is promoted.
    ///
    /// # Errors
    ///
    /// [`Error`] if what it names does not exist, or it cannot be written.
    pub async fn start_child(
        &self,
        parent: ParticipantId,
        parent_branch: BranchId,
        parent_call: Option<CallId>,
        name: &str,
        model: Option<Label>,
    ) -> Result<ChildStart, Error> {
        let events = match self.begin(&[Kind::ParticipantJoined]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                pen.know_participant(parent)?;
                pen.know_branch(parent_branch)?;
                if let Some(call) = parent_call
                    && pen.graph().call(&call).is_none()
                {
                    return Err(Error::UnknownRecord {
                        what: "call",
                        id: call.to_string(),
                    });
                }
                let bytes = name.as_bytes().to_vec();
                let name = self
                    .engine
                    .seal_one(pen.account, bytes, MediaType::Text)
                    .await?;
                let (joined, forked, started) = (pen.next_id(), pen.next_id(), pen.next_id());
                let participant = ParticipantId::derive(joined, 0);
                let kind = ParticipantKind::Child;
                let name = Some(name);
                pen.push(
                    joined,
                    ParticipantJoined {
                        participant,
                        kind,
                        name,
                        model,
                    },
                )?;
                let branch = BranchId::derive(forked, 0);
                pen.push(
                    forked,
                    BranchForked {
                        branch,
                        parent: None,
                        at: 0,
                        title: None,
                    },
                )?;
                let body = ChildRunStarted {
                    run: RunId::derive(started, 0),
                    participant,
                    branch,
                    parent: Some(parent),
                    parent_branch: Some(parent_branch),
                    parent_call,
                };
                pen.push(started, body)?;
                pen.finish().await?
            }
        };
        Ok(ChildStart {
            run: RunId::derive(event(&events, 2)?, 0),
            participant: ParticipantId::derive(event(&events, 0)?, 0),
            branch: BranchId::derive(event(&events, 1)?, 0),
        })
    }

    /// Ends a child agent; its report, or the error of a failed child, is for its parent.
    ///
    /// # Errors
    ///
    /// [`Error`] if the child does not exist or has ended, or it cannot be written.
    pub async fn finish_child(
        &self,
        run: RunId,
        status: ChildStatus,
        report: Option<&str>,
        privacy: Privacy,
    ) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::ChildRunFinished]).await? {
            match pen.graph().child(&run) {
                None => {
                    return Err(Error::UnknownRecord {
                        what: "child run",
                        id: run.to_string(),
                    });
                }
                Some(child) if child.end.is_some() => {
                    return Err(Error::RunEnded {
                        run: run.to_string(),
                    });
                }
                Some(_) => {}
            }
            let report = match report {
                Some(text) => {
                    let bytes = text.as_bytes().to_vec();
                    Some(
                        self.engine
                            .seal_one(pen.account, bytes, MediaType::Text)
                            .await?,
                    )
                }
                None => None,
            };
            let id = pen.next_id();
            pen.push(
                id,
                ChildRunFinished {
                    run,
                    status,
                    report,
                    privacy,
                },
            )?;
            pen.finish().await?;
        }
        Ok(())
    }

    /// Stores a resumable state.
    ///
    /// # Errors
    ///
    /// [`Error`] if what it names does not exist, or it cannot be written.
    pub async fn take_checkpoint(&self, new: TakeCheckpoint) -> Result<CheckpointId, Error> {
        let events = match self.begin(&[Kind::CheckpointTaken]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                pen.know_participant(new.participant)?;
                pen.know_branch(new.branch)?;
                if let Some(run) = new.run {
                    know(pen.graph().run(&run).is_some(), "run", &run)?;
                }
                if let Some(id) = new.assembly {
                    know(pen.graph().assembly(&id).is_some(), "assembly", &id)?;
                }
                for call in &new.open_calls {
                    know(pen.graph().call(call).is_some(), "call", call)?;
                }
                let state = match new.state {
                    Some(bytes) => Some(
                        self.engine
                            .seal_one(pen.account, bytes, MediaType::Bytes)
                            .await?,
                    ),
                    None => None,
                };
                let id = pen.next_id();
                let checkpoint = CheckpointId::derive(id, 0);
                let body = CheckpointTaken {
                    checkpoint,
                    ownership: pen.private(new.run, new.participant, new.branch),
                    run: new.run,
                    assembly: new.assembly,
                    open_calls: new.open_calls,
                    state,
                };
                pen.push(id, body)?;
                pen.finish().await?
            }
        };
        Ok(CheckpointId::derive(event(&events, 0)?, 0))
    }

    /// Goes on from a stored state, and gives the runtime's own part of it.
    ///
    /// # Errors
    ///
    /// [`Error`] if the checkpoint or the run does not exist, or it cannot be written.
    pub async fn restore_checkpoint(
        &self,
        checkpoint: CheckpointId,
        run: Option<RunId>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let graph = self.engine.graph(self.id, None).await?;
        let node = graph
            .checkpoint(&checkpoint)
            .ok_or_else(|| Error::UnknownRecord {
                what: "checkpoint",
                id: checkpoint.to_string(),
            })?;
        let account = self.engine.account_of(&graph);
        let state = node
            .state
            .map(|state| self.engine.payload(account, &state))
            .transpose()?;
        if let Begun::Now(mut pen) = self.begin(&[Kind::CheckpointRestored]).await? {
            if let Some(run) = run {
                know(pen.graph().run(&run).is_some(), "run", &run)?;
            }
            let id = pen.next_id();
            pen.push(id, CheckpointRestored { checkpoint, run })?;
            pen.finish().await?;
        }
        Ok(state)
    }
}
