//! Checking a bundle: nothing but the file is needed, and nothing that it says is believed.

use super::bundle::{self, Line};
use crate::attest::{Attestation, Hash, VerifyingKey, leaf, leaf_hash, root_of};
use crate::erase::Citations;
use crate::policies::PolicyDocument;
use crate::verify::{Decisions, Policies, Problem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foldback_event::{
    AccountId, Body, ConversationId, Digest, Event, GENESIS, StoreId, chain_hash,
};
use foldback_graph::RuntimeGraph;
use foldback_store::SealedPayload;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// How far an attestation covers the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attested {
    /// The version of the last event that it covers.
    pub version: u64,
    /// Who signed, as the note says.
    pub signers: Vec<String>,
    /// Whether the signature was checked with a key of the caller's.
    pub signature_checked: bool,
}

/// What checking a bundle found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// The store that it is from.
    pub store: Option<StoreId>,
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// How many events it holds.
    pub events: u64,
    /// The chain hash of the last one: who knows it from elsewhere knows that none is missing.
    pub head: Option<Digest>,
    /// How many assemblies are recorded.
    pub assemblies: u64,
    /// How many of these came out the same.
    pub reproduced: u64,
    /// How many payloads it holds.
    pub payloads: u64,
    /// How many payloads the events name and it does not hold.
    pub left_out: u64,
    /// How many payloads were erased.
    pub erased: u64,
    /// How far an attestation covers the events; none if it holds none.
    pub attested: Option<Attested>,
    /// What does not hold.
    pub problems: Vec<Problem>,
}

impl Audit {
    /// Tells whether all holds.
    pub fn ok(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, code: &'static str, position: Option<u64>, detail: impl Into<String>) {
        self.problems.push(Problem {
            code,
            conversation: self.conversation,
            position,
            place: None,
            detail: detail.into(),
        });
    }
}

/// Checks a bundle; with a key, the attestation in it must be signed by it.
///
/// Proved are the digest of the file, the chain of the events, that every recorded assembly comes out the
/// same from them, that sealed payloads are those that events name, and that an attestation covers the
/// events up to a version. Not proved is what stands in no bundle: that the events after that version are
/// all there are, and that plain bytes are those that were sealed, which takes the account's key.
pub fn audit(bundle: &[u8], signer: Option<&VerifyingKey>) -> Audit {
    let mut out = Audit::default();
    let lines = match bundle::read(bundle) {
        Ok(lines) => lines,
        Err(what) => {
            out.problem("bundle", None, what);
            return out;
        }
    };
    let mut parts = Parts::default();
    for line in lines {
        if let Err(what) = parts.take(line) {
            out.problem("bundle", None, what);
            return out;
        }
    }
    let Some(header) = parts.header else {
        out.problem("bundle", None, "it has no first line that says what it is");
        return out;
    };
    (out.store, out.conversation) = (Some(header.store), Some(header.conversation));
    let (events, hashes) = chain(&header, &parts.records, &mut out);
    out.events = events.len() as u64;
    out.head = hashes.last().copied();
    if out.events != header.events {
        let detail = format!("it says {} events and holds {}", header.events, out.events);
        out.problem("bundle", None, detail);
    }
    decide(&events, &parts.policies, &mut out);
    content(header.account, &events, &parts.payloads, &mut out);
    if let Some(proof) = &parts.proof {
        attested(&header, &hashes, proof, signer, &mut out);
    } else if let Some(signer) = signer {
        let detail = format!("it holds no attestation, so none by `{}`", signer.name());
        out.problem("attestation", None, detail);
    }
    out
}

struct Header {
    store: StoreId,
    conversation: ConversationId,
    account: AccountId,
    events: u64,
}

struct Proof {
    version: u64,
    index: u64,
    path: Vec<Hash>,
    note: String,
}

/// The lines by what they are, with their values read.
#[derive(Default)]
struct Parts {
    header: Option<Header>,
    records: Vec<(u64, Vec<u8>, Digest)>,
    policies: Policies,
    payloads: BTreeMap<Digest, SealedPayload>,
    proof: Option<Proof>,
}

impl Parts {
    fn take(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Bundle {
                bundle,
                store,
                conversation,
                account,
                events,
            } => {
                if bundle != bundle::VERSION {
                    return Err(format!("it is a bundle of another version: `{bundle}`"));
                }
                self.header = Some(Header {
                    store: parsed(&store)?,
                    conversation: parsed(&conversation)?,
                    account: parsed(&account)?,
                    events,
                });
            }
            Line::Event {
                version,
                record,
                hash,
            } => self
                .records
                .push((version, decoded(&record)?, parsed(&hash)?)),
            Line::Policy { digest, document } => {
                let digest: Digest = parsed(&digest)?;
                let read = PolicyDocument::parse(&document).map_err(|error| error.to_string());
                let read = read.and_then(|read| {
                    let same = read.policy().digest == digest;
                    same.then_some(read)
                        .ok_or_else(|| "its policy is another than its digest names".to_owned())
                });
                self.policies.insert(digest, read);
            }
            Line::Payload {
                address,
                nonce,
                plain_bytes,
                compressed,
                sealed,
                plain: _,
            } => {
                let header = self
                    .header
                    .as_ref()
                    .ok_or("a payload before the first line")?;
                let nonce = decoded(&nonce)?;
                let nonce = nonce.try_into().map_err(|_| "a nonce has another length")?;
                let (address, sealed) = (parsed(&address)?, decoded(&sealed)?);
                let account = header.account;
                let payload =
                    SealedPayload::new(account, address, nonce, plain_bytes, compressed, sealed);
                self.payloads.insert(address, payload);
            }
            Line::Attestation {
                version,
                index,
                proof,
                note,
            } => {
                let hash = |text: &String| {
                    let bytes = decoded(text)?;
                    Hash::try_from(bytes).map_err(|_| "a hash has another length".to_owned())
                };
                let path = proof.iter().map(hash).collect::<Result<_, _>>()?;
                self.proof = Some(Proof {
                    version,
                    index,
                    path,
                    note,
                });
            }
            Line::End { .. } => return Err("a last line stands before the last".to_owned()),
        }
        Ok(())
    }
}

fn parsed<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: ToString,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    STANDARD
        .decode(text)
        .map_err(|error| format!("a value is no base64: {error}"))
}

/// Decodes the records and computes their chain; what stands after a record that does not read is left.
fn chain(
    header: &Header,
    records: &[(u64, Vec<u8>, Digest)],
    out: &mut Audit,
) -> (Vec<Event>, Vec<Digest>) {
    let (mut events, mut hashes) = (Vec::new(), Vec::new());
    let mut head = GENESIS;
    for ((version, record, hash), expected) in records.iter().zip(1_u64..) {
        head = chain_hash(&head, record);
        if head != *hash {
            let detail = "the chain hash does not follow from the event before";
            out.problem("chain", Some(*version), detail);
        }
        let event = match Event::decode(record) {
            Ok(event) => event,
            Err(error) => {
                out.problem("undecodable", Some(*version), error.to_string());
                break;
            }
        };
        let envelope = &event.envelope;
        let place = (envelope.conversation, envelope.version, *version);
        if place != (header.conversation, expected, expected) {
            let detail = "the event names another place than it stands at";
            out.problem("misplaced", Some(*version), detail);
        }
        events.push(event);
        hashes.push(head);
    }
    (events, hashes)
}

/// Folds the events from nothing, and decides each recorded assembly again.
fn decide(events: &[Event], policies: &Policies, out: &mut Audit) {
    let mut decisions = Decisions::of(events);
    let mut graph = RuntimeGraph::default();
    for event in events {
        graph.apply(event);
        for (version, verdict) in decisions.again(&graph, policies) {
            out.assemblies += 1;
            match verdict {
                Ok(()) => out.reproduced += 1,
                Err(detail) => out.problem("assembly", Some(version), detail),
            }
        }
    }
    for (version, position) in decisions.left() {
        out.assemblies += 1;
        let detail = format!("it names position {position}, which does not exist");
        out.problem("assembly", Some(version), detail);
    }
}

/// Holds the payloads to the digests that events name.
fn content(
    account: AccountId,
    events: &[Event],
    payloads: &BTreeMap<Digest, SealedPayload>,
    out: &mut Audit,
) {
    let opened = events.iter().find_map(|event| match &event.body {
        Body::ConversationOpened(body) => Some(body.account),
        _ => None,
    });
    if opened != Some(account) {
        out.problem("bundle", None, "it names another account than its events");
    }
    let mut citations = Citations::default();
    citations.take(account, events);
    out.payloads = payloads.len() as u64;
    out.erased = citations.gone().len() as u64;
    let mut named = BTreeSet::new();
    for (_, address, sealed_digest) in citations.live() {
        named.insert(*address);
        match payloads.get(address) {
            None => out.left_out += 1,
            Some(payload) if payload.digest() == *sealed_digest => {}
            Some(_) => {
                let detail = format!("the payload {address} is not the one that events name");
                out.problem("payload", None, detail);
            }
        }
    }
    for address in payloads.keys().filter(|address| !named.contains(address)) {
        let detail = format!("no event names the payload {address}, or it was erased");
        out.problem("payload", None, detail);
    }
}

/// Holds the events to the attestation: its root must follow from the last of them that it covers.
fn attested(
    header: &Header,
    hashes: &[Digest],
    proof: &Proof,
    signer: Option<&VerifyingKey>,
    out: &mut Audit,
) {
    let known = match Attestation::parse(&proof.note) {
        Ok(known) => known,
        Err(error) => return out.problem("attestation", None, error.to_string()),
    };
    if let Some(Err(error)) = signer.map(|signer| known.check(signer)) {
        return out.problem("attestation", None, error.to_string());
    }
    let at = proof
        .version
        .checked_sub(1)
        .and_then(|at| usize::try_from(at).ok());
    let hash = at.and_then(|at| hashes.get(at));
    let root = hash.and_then(|hash| {
        let leaf = leaf_hash(&leaf(header.conversation, proof.version, hash));
        root_of(leaf, proof.index, known.events, &proof.path)
    });
    if known.store != header.store || root != Some(known.root) {
        let detail = "the attestation does not cover the event that it is said to";
        return out.problem("attestation", Some(proof.version), detail);
    }
    let signers = known.signers().into_iter().map(ToOwned::to_owned);
    out.attested = Some(Attested {
        version: proof.version,
        signers: signers.collect(),
        signature_checked: signer.is_some(),
    });
}
