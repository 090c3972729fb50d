//! The neutral request: what an assembler hands to a renderer.
//!
//! **Invariant:** a call and its result are one [`PromptCall`], so a result without its call, or a
//! call without its result, cannot be said. What a provider demands beyond that (order, unique ids,
//! alternating roles) is the renderer's business.

use crate::Content;

/// Everything that one model request contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The model that is asked, where one is named.
    pub model: Option<String>,
    /// The instructions, in order.
    pub system: Vec<String>,
    /// The conversation, in order.
    pub turns: Vec<Turn>,
}

/// Who speaks to the model or for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// Anyone but the model that is asked.
    User,
    /// The model that is asked.
    Assistant,
}

/// One step of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Somebody says something.
    Message {
        /// Who.
        role: Speaker,
        /// The speaker's name, where a discussion has several.
        name: Option<String>,
        /// What.
        content: Content,
    },
    /// The model calls tools, and they answer.
    Calls {
        /// What the model said with the calls.
        text: Option<Content>,
        /// The calls that it made at once, in order.
        calls: Vec<PromptCall>,
    },
}

/// One call with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptCall {
    /// The id it had; renderers change it where the provider would refuse it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// What came back, or what is to stand in its place.
    pub result: PromptResult,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptResult {
    /// The result, its compact form, or a placeholder.
    pub content: Content,
    /// Whether it is an error.
    pub is_error: bool,
}
