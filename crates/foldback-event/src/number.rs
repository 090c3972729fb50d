//! Enums whose numbers are written to disk.
//!
//! serde hands bincode a variant's declaration index, which changes when variants are reordered.
//! These enums are written as their own explicit number instead, and each lists all its variants.

/// Says that a number stands for no variant that this version knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{number} is no known {what}")]
pub struct UnknownNumber {
    /// The enum.
    pub what: &'static str,
    /// The number that was read.
    pub number: u16,
}

macro_rules! numbered {
    (
        $(#[$doc:meta])* $name:ident as $what:literal {
            $($(#[$vdoc:meta])* $variant:ident = $number:literal, $text:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $number,)*
        }

        impl $name {
            /// All variants in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Gives the number that is written to disk.
            pub const fn number(self) -> u16 {
                match self { $(Self::$variant => $number,)* }
            }

            /// Gives the name used in policies, on screen and in JSON.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Finds the variant of a number.
            pub const fn from_number(number: u16) -> Result<Self, $crate::UnknownNumber> {
                match number {
                    $($number => Ok(Self::$variant),)*
                    _ => Err($crate::UnknownNumber { what: $what, number }),
                }
            }

            /// Finds the variant of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u16(self.number())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let number = u16::deserialize(from)?;
                Self::from_number(number).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use numbered;
