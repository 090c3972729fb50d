//! How long the content of a record is kept.

use super::{Begun, Conversation, know};
use crate::error::Error;
use foldback_event::kind::{RecordRef, RetentionChanged, RetentionClass};
use foldback_event::{Kind, Label};

impl Conversation<'_> {
    /// Gives a record another retention class; what is on [`RetentionClass::Hold`] cannot be erased.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRecord`] if the record does not exist; [`Error`] if it cannot be written.
    pub async fn retain(
        &self,
        record: RecordRef,
        class: RetentionClass,
        ground: Label,
    ) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::RetentionChanged]).await? {
            let known = pen.graph().common(&record).is_some();
            know(known, "record", &crate::report::record_id(&record))?;
            let id = pen.next_id();
            let body = RetentionChanged {
                record,
                class,
                ground,
            };
            pen.push(id, body)?;
            pen.finish().await?;
        }
        Ok(())
    }
}
