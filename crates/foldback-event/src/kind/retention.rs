//! Bodies of the retention family (the article, 4.15).

use super::RecordRef;
use crate::number::numbered;
use crate::{AccountId, Digest, Label};
use serde::{Deserialize, Serialize};

numbered! {
    /// How long a record's bytes are kept.
    RetentionClass as "retention class" {
        /// As long as the conversation.
        Conversation = 1, "conversation";
        /// Until policy prunes it.
        Prunable = 2, "prunable";
        /// Until a person releases it.
        Hold = 3, "hold";
    }
}

/// A record's retention class changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionChanged {
    /// The record.
    pub record: RecordRef,
    /// Its new class.
    pub class: RetentionClass,
    /// The ground, as a code.
    pub ground: Label,
}

/// A payload's bytes were destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadErased {
    /// Its address.
    pub address: Digest,
    /// The ground, as a code.
    pub ground: Label,
}

/// All content of the conversation was destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationErased {
    /// The ground, as a code.
    pub ground: Label,
}

/// All content of the account was destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountErased {
    /// The account.
    pub account: AccountId,
    /// The ground, as a code.
    pub ground: Label,
}
