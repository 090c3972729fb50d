//! Signed notes (C2SP `signed-note`): a text, a blank line, and a line for each signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey as Secret, VerifyingKey as Public};
use sha2::{Digest as _, Sha256};
use std::fmt;
use zeroize::Zeroizing;

/// The number of Ed25519 in signed notes.
const ED25519: u8 = 1;
const PRIVATE: &str = "PRIVATE+KEY+";

/// Says what is wrong with a note or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// It is no signed note.
    #[error("it is no signed note: {what}")]
    Form {
        /// What is missing.
        what: &'static str,
    },
    /// Its text is not that of an attestation.
    #[error("it is a signed note and no attestation: {what}")]
    Statement {
        /// What is missing.
        what: &'static str,
    },
    /// It is no key of the form that is wanted.
    #[error("it is no {what}")]
    Key {
        /// What was wanted.
        what: &'static str,
    },
    /// A name of a key may not be empty, and holds neither blanks nor `+`.
    #[error("`{name}` is no name of a key: it is empty, or holds a blank or `+`")]
    Name {
        /// The name.
        name: String,
    },
    /// There is no random source to make a key from.
    #[error("no random key can be drawn: {what}")]
    Random {
        /// Why.
        what: String,
    },
    /// The key did not sign it.
    #[error("`{name}` did not sign it")]
    NotSigned {
        /// The name of the key.
        name: String,
    },
    /// It has a signature in the name of the key that does not hold.
    #[error("the signature of `{name}` does not hold: the note was changed, or another signed it")]
    BadSignature {
        /// The name of the key.
        name: String,
    },
}

/// One signature of a note, not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    name: String,
    id: [u8; 4],
    bytes: Vec<u8>,
}

impl Signature {
    /// Gives the name of the key that is said to have signed.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What signs attestations. It is wiped from memory when dropped.
pub struct SigningKey {
    name: String,
    secret: Secret,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What checks signatures, for everyone to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    name: String,
    id: [u8; 4],
    public: Public,
}

impl SigningKey {
    /// Draws a new key.
    ///
    /// # Errors
    ///
    /// [`NoteError`] if the name is none, or there is no random source.
    pub fn generate(name: &str) -> Result<Self, NoteError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| NoteError::Random {
            what: error.to_string(),
        })?;
        Ok(Self {
            name: checked(name)?,
            secret: Secret::from_bytes(&seed),
        })
    }

    /// Reads a key that [`SigningKey::to_text`] wrote.
    ///
    /// # Errors
    ///
    /// [`NoteError`] if it is none, or its parts do not fit.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let what = "signing key: one starts with `PRIVATE+KEY+`";
        let bad = || NoteError::Key { what };
        let rest = text.trim().strip_prefix(PRIVATE).ok_or_else(bad)?;
        let (name, id, bytes) = parts(rest).ok_or_else(bad)?;
        let seed = Zeroizing::new(bytes);
        let secret = Secret::from_bytes(&seed);
        let key = Self {
            name: checked(name)?,
            secret,
        };
        if key.verifying().id == id {
            Ok(key)
        } else {
            Err(bad())
        }
    }

    /// Writes the key, secret and all, as one line.
    pub fn to_text(&self) -> String {
        let VerifyingKey { name, id, .. } = self.verifying();
        let secret = Zeroizing::new([&[ED25519][..], self.secret.as_bytes()].concat());
        let secret = Zeroizing::new(STANDARD.encode(&*secret));
        format!("{PRIVATE}{name}+{}+{}\n", hex(id), *secret)
    }

    /// Gives the key that checks its signatures.
    pub fn verifying(&self) -> VerifyingKey {
        VerifyingKey::new(self.name.clone(), self.secret.verifying_key())
    }

    pub(super) fn sign(&self, text: &str) -> Signature {
        Signature {
            name: self.name.clone(),
            id: self.verifying().id,
            bytes: self.secret.sign(text.as_bytes()).to_bytes().to_vec(),
        }
    }
}

impl VerifyingKey {
    fn new(name: String, public: Public) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(name.as_bytes());
        hasher.update([b'\n', ED25519]);
        hasher.update(public.as_bytes());
        let hash: [u8; 32] = hasher.finalize().into();
        let [a, b, c, d, ..] = hash;
        let id = [a, b, c, d];
        Self { name, id, public }
    }

    /// Reads a key in the form that it is displayed in: name, id and key with `+` between them.
    ///
    /// # Errors
    ///
    /// [`NoteError`] if it is none, or its parts do not fit.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let what = "key that checks signatures: one is a name, eight digits and the key, with `+` \
                    between them";
        let bad = || NoteError::Key { what };
        let (name, id, bytes) = parts(text.trim()).ok_or_else(bad)?;
        let public = Public::from_bytes(&bytes).map_err(|_| bad())?;
        let key = Self::new(checked(name)?, public);
        if key.id == id { Ok(key) } else { Err(bad()) }
    }

    /// Gives the name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn check(&self, text: &str, signatures: &[Signature]) -> Result<(), NoteError> {
        let name = self.name.clone();
        let own = |signature: &&Signature| signature.name == name && signature.id == self.id;
        let Some(signature) = signatures.iter().find(own) else {
            return Err(NoteError::NotSigned { name });
        };
        let bytes = signature.bytes.as_slice().try_into().ok();
        let holds = bytes.is_some_and(|bytes| {
            let signature = ed25519_dalek::Signature::from_bytes(bytes);
            self.public
                .verify_strict(text.as_bytes(), &signature)
                .is_ok()
        });
        if holds {
            Ok(())
        } else {
            Err(NoteError::BadSignature { name })
        }
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = STANDARD.encode([&[ED25519][..], self.public.as_bytes()].concat());
        write!(f, "{}+{}+{key}", self.name, hex(self.id))
    }
}

/// Reads a note: its text and its signatures.
pub(super) fn open(note: &str) -> Result<(String, Vec<Signature>), NoteError> {
    let bad = |what| NoteError::Form { what };
    let (text, signed) = note
        .rsplit_once("\n\n")
        .ok_or(bad("no blank line parts a text from its signatures"))?;
    if !signed.ends_with('\n') {
        return Err(bad("its last line does not end"));
    }
    let mut signatures = Vec::new();
    for line in signed.lines() {
        let parsed = line.strip_prefix("— ").and_then(|line| {
            let (name, signature) = line.split_once(' ')?;
            let bytes = STANDARD.decode(signature).ok()?;
            let (id, bytes) = bytes.split_first_chunk::<4>()?;
            Some(Signature {
                name: checked(name).ok()?,
                id: *id,
                bytes: bytes.to_vec(),
            })
        });
        signatures.push(parsed.ok_or(bad("a line below the text is no signature"))?);
    }
    if signatures.is_empty() {
        return Err(bad("nobody signed it"));
    }
    Ok((format!("{text}\n"), signatures))
}

pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    signatures: &[Signature],
) -> fmt::Result {
    writeln!(f, "{text}")?;
    for signature in signatures {
        let bytes = STANDARD.encode([&signature.id[..], &signature.bytes].concat());
        writeln!(f, "— {} {bytes}", signature.name)?;
    }
    Ok(())
}

/// Parts a key into its name, its id and its 32 bytes.
fn parts(text: &str) -> Option<(&str, [u8; 4], [u8; 32])> {
    let (name, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let id = u32::from_str_radix(id, 16).ok().filter(|_| id.len() == 8)?;
    let key = Zeroizing::new(STANDARD.decode(key).ok()?);
    let (kind, bytes) = key.split_first()?;
    let bytes: [u8; 32] = bytes.try_into().ok()?;
    (*kind == ED25519).then_some((name, id.to_be_bytes(), bytes))
}

fn checked(name: &str) -> Result<String, NoteError> {
    let bad = name.is_empty() || name.contains('+') || name.contains(char::is_whitespace);
    if bad {
        let name = name.to_owned();
        return Err(NoteError::Name { name });
    }
    Ok(name.to_owned())
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}
