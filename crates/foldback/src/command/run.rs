//! Runs: attempts to generate.

use super::{Begun, Conversation, Pen, event, know};
use crate::error::Error;
use foldback_event::kind::{
    JobTriggered, ModelRunFailed, ModelRunFinished, ModelRunStarted, Usage,
};
use foldback_event::{
    AssemblyId, BranchId, JobId, Kind, Label, MediaType, ParticipantId, RunId, RuntimeKind,
};

/// A run to be started.
#[derive(Debug, Clone)]
pub struct StartRun {
    /// The participant that generates.
    pub participant: ParticipantId,
    /// The branch it continues; the main one if none is given.
    pub branch: Option<BranchId>,
    /// The mode.
    pub runtime_kind: RuntimeKind,
    /// The provider that is asked.
    pub provider: Option<Label>,
    /// The model that is asked for.
    pub model: Option<Label>,
    /// The assembly that is sent.
    pub assembly: Option<AssemblyId>,
    /// The run that this one tries again.
    pub retries: Option<RunId>,
}

impl StartRun {
    /// Makes a plain chat run of a participant.
    pub fn chat(participant: ParticipantId) -> Self {
        Self {
            participant,
            branch: None,
            runtime_kind: RuntimeKind::Chat,
            provider: None,
            model: None,
            assembly: None,
            retries: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
pub enum RunEnding {
    /// With an answer.
    Finished {
        /// Why the model stopped, in the provider's word.
        finish_reason: Option<Label>,
        /// What was used.
        usage: Option<Usage>,
        /// The model that really answered.
        model: Option<Label>,
    },
    /// Without one.
    Failed {
        /// What went wrong.
        error: Option<String>,
        /// Whether trying again may help.
        retryable: bool,
    },
}

impl Pen<'_> {
    /// Checks that a run exists and is open, and gives its mode.
    pub(super) fn open_run(&self, run: RunId) -> Result<RuntimeKind, Error> {
        let node = self.graph().run(&run);
        let node = node.ok_or_else(|| Error::UnknownRecord {
            what: "run",
            id: run.to_string(),
        })?;
        if node.end.is_some() {
            return Err(Error::RunEnded {
                run: run.to_string(),
            });
        }
        Ok(node.runtime_kind)
    }
}

impl Conversation<'_> {
    /// Starts a run: to be called when its request is about to be sent.
    ///
    /// # Errors
    ///
    /// [`Error`] if what it names does not exist, or it cannot be written.
    pub async fn start_run(&self, new: StartRun) -> Result<RunId, Error> {
        let events = match self.begin(&[Kind::ModelRunStarted]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                let branch = match new.branch {
                    Some(branch) => branch,
                    None => pen.main_branch()?,
                };
                pen.know_branch(branch)?;
                pen.know_participant(new.participant)?;
                if let Some(assembly) = new.assembly
                    && pen.graph().assembly(&assembly).is_none()
                {
                    let id = assembly.to_string();
                    return Err(Error::UnknownRecord {
                        what: "assembly",
                        id,
                    });
                }
                if let Some(run) = new.retries {
                    know(pen.graph().run(&run).is_some(), "run", &run)?;
                }
                let id = pen.next_id();
                let body = ModelRunStarted {
                    run: RunId::derive(id, 0),
                    participant: new.participant,
                    branch,
                    runtime_kind: new.runtime_kind,
                    provider: new.provider,
                    model: new.model,
                    assembly: new.assembly,
                    retries: new.retries,
                };
                pen.push(id, body)?;
                pen.finish().await?
            }
        };
        Ok(RunId::derive(event(&events, 0)?, 0))
    }

    /// Ends a run.
    ///
    /// # Errors
    ///
    /// [`Error`] if the run does not exist or has ended, or it cannot be written.
    pub async fn end_run(&self, run: RunId, ending: RunEnding) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self
            .begin(&[Kind::ModelRunFinished, Kind::ModelRunFailed])
            .await?
        {
            pen.open_run(run)?;
            let id = pen.next_id();
            match ending {
                RunEnding::Finished {
                    finish_reason,
                    usage,
                    model,
                } => {
                    pen.push(
                        id,
                        ModelRunFinished {
                            run,
                            finish_reason,
                            usage,
                            model,
                        },
                    )?;
                }
                RunEnding::Failed { error, retryable } => {
                    let error = match error {
                        Some(error) => {
                            let bytes = error.into_bytes();
                            Some(
                                self.engine
                                    .seal_one(pen.account, bytes, MediaType::Text)
                                    .await?,
                            )
                        }
                        None => None,
                    };
                    pen.push(
                        id,
                        ModelRunFailed {
                            run,
                            error,
                            retryable,
                        },
                    )?;
                }
            }
            pen.finish().await?;
        }
        Ok(())
    }

    /// Records that a scheduled job fired.
    ///
    /// # Errors
    ///
    /// [`Error`] if what it names does not exist, or it cannot be written.
    pub async fn trigger_job(
        &self,
        participant: ParticipantId,
        branch: BranchId,
        name: Label,
        instruction: Option<String>,
    ) -> Result<JobId, Error> {
        let events = match self.begin(&[Kind::JobTriggered]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                pen.know_branch(branch)?;
                pen.know_participant(participant)?;
                let instruction = match instruction {
                    Some(text) => {
                        let bytes = text.into_bytes();
                        Some(
                            self.engine
                                .seal_one(pen.account, bytes, MediaType::Text)
                                .await?,
                        )
                    }
                    None => None,
                };
                let id = pen.next_id();
                let job = JobId::derive(id, 0);
                pen.push(
                    id,
                    JobTriggered {
                        job,
                        branch,
                        participant,
                        name,
                        instruction,
                    },
                )?;
                pen.finish().await?
            }
        };
        Ok(JobId::derive(event(&events, 0)?, 0))
    }
}
