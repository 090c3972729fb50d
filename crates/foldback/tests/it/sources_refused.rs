//! Sources that are refused: what cannot be read, and what was erased.

use crate::refusals::erase;
use crate::scene::{import, marks, open, options};
use crate::sources::{chat, says, short};
use foldback::Engine;

#[tokio::test]
async fn an_erased_conversation_is_not_brought_back_by_importing_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let rows = import(&engine, "short.json", &chat(&short()))
        .await
        .unwrap();
    let id = rows[0].id;
    drop(engine);
    erase(folder.path(), id).await;
    let engine = open(folder.path(), 1);
    let before = marks(&engine, id).await;
    let mut longer = short();
    longer.push(says("user", "And at Dover?"));
    for text in [chat(&short()), chat(&longer)] {
        let error = import(&engine, "short.json", &text).await.unwrap_err();
        assert_eq!(error.code(), "FB0015", "{error}");
        assert_eq!(marks(&engine, id).await, before);
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_writes_nothing() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let cases = [
        ("empty.json", "", "FB0019"),
        ("blank.json", " \n\n", "FB0019"),
        ("prose.txt", "Once upon a time.", "FB0019"),
        ("number.json", "42", "FB0019"),
        ("object.json", "{\"a\": 1}", "FB0019"),
    ];
    for (name, text, code) in cases {
        let error = import(&engine, name, text).await.unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let cut = chat(&short());
    let cut = cut.get(..cut.len() - 40).unwrap();
    let error = import(&engine, "cut.json", cut).await.unwrap_err();
    assert!(["FB0019", "FB0020"].contains(&error.code()), "{error}");
    assert!(error.to_string().contains("cut.json"), "{error}");
    assert_eq!(engine.conversation_ids().await.unwrap(), []);
}
