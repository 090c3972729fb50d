//! A command that names what does not exist.

use super::{checkpoint, ended, fact, memory, nobody, nowhere, promotion, refused};
use crate::scene::{Stage, label};
use foldback::event::kind::ChildStatus;
use foldback::event::{
    ArtifactId, AssemblyId, CallId, CheckpointId, FactId, MediaType, MemoryId, MessageId, Micros,
    Privacy, RunId, Visibility,
};
use foldback::{
    AssembleRequest, NewArtifact, NewCall, NewFact, NewMessage, NewSkills, StartRun, TakeCheckpoint,
};

#[tokio::test]
async fn an_unknown_branch_is_refused() {
    let stage = Stage::new().await;
    let (agent, user) = (stage.agent, stage.opened.user);
    let says = "branch `br";
    refused(&stage, "FB0012", says, async |t| {
        t.record_message(NewMessage::user(user, "x").on(nowhere()))
            .await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        let branch = Some(nowhere());
        t.start_run(StartRun {
            branch,
            ..StartRun::chat(agent)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| t.fork(nowhere(), 1).await).await;
    refused(&stage, "FB0012", says, async |t| {
        t.start_child(agent, nowhere(), None, "c", None).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.trigger_job(agent, nowhere(), label("j"), None).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        let branch = nowhere();
        t.take_checkpoint(TakeCheckpoint {
            branch,
            ..checkpoint(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0017", says, async |t| {
        let branch = Some(nowhere());
        t.assemble(AssembleRequest {
            branch,
            ..stage.chat()
        })
        .await
    })
    .await;
    let end = stage.marks().await.0 as u64;
    for at in [0, end + 1] {
        refused(&stage, "FB0012", "does not exist", async |t| {
            t.fork(stage.opened.branch, at).await
        })
        .await;
    }
}

#[tokio::test]
async fn an_unknown_participant_is_refused() {
    let stage = Stage::new().await;
    let branch = stage.opened.branch;
    let says = "participant `part";
    let who = nobody();
    refused(&stage, "FB0012", says, async |t| {
        t.record_message(NewMessage::user(who, "x")).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.start_run(StartRun::chat(who)).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.start_child(who, branch, None, "c", None).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.trigger_job(who, branch, label("j"), None).await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.take_checkpoint(TakeCheckpoint {
            participant: who,
            ..checkpoint(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.remember_fact(NewFact {
            participant: Some(who),
            ..fact(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", says, async |t| {
        t.change_skills(NewSkills {
            participant: who,
            profile: None,
            skills: vec![],
            direct_tools: vec![],
            integrations: vec![],
        })
        .await
    })
    .await;
    refused(&stage, "FB0017", says, async |t| {
        t.assemble(AssembleRequest {
            participant: who,
            ..stage.chat()
        })
        .await
    })
    .await;
}

#[tokio::test]
async fn an_unknown_run_assembly_or_artifact_is_refused() {
    let stage = Stage::new().await;
    let no_run = RunId::from_bytes([7; 16]);
    let no_assembly = AssemblyId::from_bytes([7; 16]);
    let agent = stage.agent;
    refused(&stage, "FB0012", "run `", async |t| {
        t.record_message(NewMessage::assistant(agent, no_run, "x"))
            .await
    })
    .await;
    refused(&stage, "FB0012", "run `", async |t| {
        t.end_run(no_run, ended()).await
    })
    .await;
    refused(&stage, "FB0012", "run `", async |t| {
        t.request_call(NewCall::json(no_run, label("t"), "{}"))
            .await
    })
    .await;
    refused(&stage, "FB0012", "run `", async |t| {
        let retries = Some(no_run);
        t.start_run(StartRun {
            retries,
            ..StartRun::chat(agent)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "run `", async |t| {
        let run = Some(no_run);
        t.take_checkpoint(TakeCheckpoint {
            run,
            ..checkpoint(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "run `", async |t| {
        let run = Some(no_run);
        t.assemble(AssembleRequest {
            run,
            ..stage.chat()
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "assembly `", async |t| {
        let assembly = Some(no_assembly);
        t.start_run(StartRun {
            assembly,
            ..StartRun::chat(agent)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "assembly `", async |t| {
        let assembly = Some(no_assembly);
        t.take_checkpoint(TakeCheckpoint {
            assembly,
            ..checkpoint(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "assembly `", async |t| {
        let extends = Some(no_assembly);
        t.assemble(AssembleRequest {
            extends,
            ..stage.chat()
        })
        .await
    })
    .await;
}

#[tokio::test]
async fn an_unknown_message_or_fact_is_refused() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let no_message = MessageId::from_bytes([7; 16]);
    let no_artifact = ArtifactId::from_bytes([7; 16]);
    refused(&stage, "FB0012", "artifact `", async |t| {
        let exact = vec![no_artifact];
        t.assemble(AssembleRequest {
            exact,
            ..stage.chat()
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "message `", async |t| {
        t.finalize_message(no_message, None, Visibility::Branch)
            .await
    })
    .await;
    refused(&stage, "FB0012", "message `", async |t| {
        let message = Some(no_message);
        t.request_call(NewCall {
            message,
            ..NewCall::json(run, label("t"), "{}")
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "message `", async |t| {
        let source = Some(no_message);
        t.remember_fact(NewFact {
            source,
            ..fact(&stage)
        })
        .await
    })
    .await;
}

#[tokio::test]
async fn an_unknown_call_memory_child_or_checkpoint_is_refused() {
    let stage = Stage::new().await;
    let no_run = RunId::from_bytes([7; 16]);
    let no_call = CallId::from_bytes([7; 16]);
    let no_artifact = ArtifactId::from_bytes([7; 16]);
    let no_memory = MemoryId::from_bytes([7; 16]);
    let agent = stage.agent;
    let branch = stage.opened.branch;
    refused(&stage, "FB0012", "user fact `", async |t| {
        let supersedes = vec![FactId::from_bytes([7; 16])];
        t.remember_fact(NewFact {
            supersedes,
            ..fact(&stage)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "call `", async |t| {
        t.capture(NewArtifact::succeeded(no_call, "x", MediaType::Text))
            .await
    })
    .await;
    refused(&stage, "FB0012", "call `", async |t| {
        t.resolve(NewArtifact::succeeded(no_call, "x", MediaType::Text))
            .await
    })
    .await;
    refused(&stage, "FB0012", "call `", async |t| {
        t.start_child(agent, branch, Some(no_call), "c", None).await
    })
    .await;
    refused(&stage, "FB0012", "call `", async |t| {
        let open_calls = vec![no_call];
        t.take_checkpoint(TakeCheckpoint {
            open_calls,
            ..checkpoint(&stage)
        })
        .await
    })
    .await;
    for artifacts in [vec![no_artifact], vec![]] {
        refused(&stage, "FB0012", "artifact `", async |t| {
            t.derive(memory(artifacts.clone())).await
        })
        .await;
    }
    refused(&stage, "FB0012", "memory `", async |t| {
        t.supersede(no_memory, vec![], label("g")).await
    })
    .await;
    refused(&stage, "FB0012", "memory `", async |t| {
        t.conflict(vec![no_memory]).await
    })
    .await;
    refused(&stage, "FB0012", "memory `", async |t| {
        t.revalidate(no_memory, None, Micros(1)).await
    })
    .await;
    refused(&stage, "FB0012", "child run `", async |t| {
        t.finish_child(no_run, ChildStatus::Failed, None, Privacy::Internal)
            .await
    })
    .await;
    refused(&stage, "FB0012", "checkpoint `", async |t| {
        t.restore_checkpoint(CheckpointId::from_bytes([7; 16]), None)
            .await
    })
    .await;
    refused(&stage, "FB0012", "memory `", async |t| {
        t.promote(promotion(no_memory, Visibility::Branch)).await
    })
    .await;
}
