//! What the readers and writers promise, checked from outside.

mod data;
