//! Closed vocabularies: enums whose names are the only values that a policy may write.

use foldback_event::{Privacy, Reason, RecordKind, RuntimeKind, Visibility};

/// An enum that a policy writes by name.
pub(super) trait Closed: Copy + 'static {
    /// What a value is, for messages.
    const WHAT: &'static str;

    /// All values, in the order in which messages list them.
    const VALUES: &'static [Self];

    /// The name that a policy writes.
    fn text(self) -> &'static str;

    /// Finds the value of a name.
    fn find(name: &str) -> Option<Self> {
        Self::VALUES
            .iter()
            .copied()
            .find(|value| value.text() == name)
    }
}

macro_rules! closed {
    (
        $(#[$doc:meta])* $name:ident as $what:literal {
            $($(#[$vdoc:meta])* $variant:ident, $text:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Gives the name that a policy writes.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::policy::closed::Closed for $name {
            const WHAT: &'static str = $what;
            const VALUES: &'static [Self] = Self::ALL;

            fn text(self) -> &'static str {
                self.name()
            }
        }
    };
}

pub(super) use closed;

macro_rules! from_events {
    ($($name:ident as $what:literal;)*) => {$(
        impl Closed for $name {
            const WHAT: &'static str = $what;
            const VALUES: &'static [Self] = Self::ALL;

            fn text(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

from_events! {
    Privacy as "privacy class";
    Reason as "reason";
    RecordKind as "record kind";
    RuntimeKind as "runtime kind";
    Visibility as "visibility";
}
