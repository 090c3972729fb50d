//! From the text of a document to a policy, or to everything that is wrong with it.

use super::error::{PolicyErrors, Problem};
use super::facts::{
    DRAFT, LINEAGE, OWNER, PRIVACY, PROMOTED, RAW, RECORDS, RUNTIME, TRUST, VISIBILITY,
    ZERO_RETENTION,
};
use super::facts::{Owner, Trust};
use super::gate::{Effect, Gate, Matcher};
use super::reader::{Node, Reader};
use super::route::RouteRule;
use super::rules::{
    BudgetRules, ConflictRules, FreshnessRules, LayoutRules, PresentationRules, PriceRule,
    RecoveryRules, RehydrationRules,
};
use super::{DIGEST_CONTEXT, DOCUMENT_BYTES_MAX, Policy, RULES_MAX, SCHEMA};
use foldback_event::{Digest, Label, Privacy, Reason, RecordKind, RuntimeKind, Visibility};
use std::collections::BTreeMap;
use toml::de::DeTable;

const DOCUMENT_KEYS: &[&str] = &[
    "schema",
    "name",
    "route",
    "gate",
    "freshness",
    "conflicts",
    "recovery",
    "presentation",
    "rehydration",
    "budget",
];
/// What later schemas add to the document, with the first that has it.
const DOCUMENT_KEYS_2: &[&str] = &["layout", "price"];
const ROUTE_KEYS: &[&str] = &["provider", "model", "region", "trust"];
const MATCHER_KEYS: &[&str] = &[
    "records",
    "owner",
    "visibility",
    "lineage",
    "privacy",
    "trust",
    "zero-retention",
    "draft",
    "promoted",
    "raw",
    "runtime",
];
const FRESHNESS_KEYS: &[&str] = &[
    "volatile-seconds",
    "session-seconds",
    "bounded-seconds",
    "stale",
];
const CONFLICT_KEYS: &[&str] = &["superseded", "conflicting", "notices-max"];
const RECOVERY_KEYS: &[&str] = &["open", "failed", "error-tokens-max"];
const PRESENTATION_KEYS: &[&str] = &[
    "raw-structured",
    "raw-lossless",
    "raw-lossy",
    "small-tokens",
    "raw-tokens-max",
    "saving-percent-min",
    "thinking",
];
const PRESENTATION_KEYS_2: &[&str] = &["brief-after", "outline"];
const LAYOUT_KEYS: &[&str] = &["edits", "horizon-min", "horizon-max"];
const PRICE_KEYS: &[&str] = &[
    "provider",
    "model",
    "dated",
    "read-permille",
    "write-permille",
];
const REHYDRATION_KEYS: &[&str] = &["bytes-max", "count-max", "privacy", "trust"];
const BUDGET_KEYS: &[&str] = &["tokens", "candidates"];

/// A hundred years: no window is longer, and microseconds of it still fit.
const SECONDS: (u64, u64) = (1, 3_155_760_000);
const TOKENS: (u64, u64) = (1, 1_000_000_000);
const TOKENS_OR_NONE: (u64, u64) = (0, 1_000_000_000);
const BYTES: (u64, u64) = (0, 1 << 40);
const COUNT: (u64, u64) = (0, 1_000_000);
const CANDIDATES: (u64, u64) = (1, 1_000_000);
const PERCENT: (u64, u64) = (0, 100);
/// Up to a hundred times the price of an input token that is not cached.
const PERMILLE: (u64, u64) = (0, 100_000);
const REQUESTS: (u64, u64) = (0, 1_000_000);

pub(super) fn load(text: &str) -> Result<Policy, PolicyErrors> {
    let mut reader = Reader::new(text);
    if text.len() > DOCUMENT_BYTES_MAX {
        let problem = Problem::TooLong {
            bytes: text.len(),
            max: DOCUMENT_BYTES_MAX,
        };
        reader.report(0, String::new(), problem, None);
        return Err(PolicyErrors::new(reader.errors));
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().replace('\n', ", ");
        reader.report(at, String::new(), Problem::Syntax { message }, None);
    }
    // What recovery made of broken text may lack keys that the author wrote.
    if !reader.errors.is_empty() {
        return Err(PolicyErrors::new(reader.errors));
    }
    let root = Node {
        path: "",
        table: document.get_ref(),
        at: 0,
    };
    let policy = policy(&mut reader, root, text);
    match policy {
        Some(policy) if reader.errors.is_empty() => Ok(policy),
        _ => Err(PolicyErrors::new(reader.errors)),
    }
}

fn policy(reader: &mut Reader<'_>, root: Node<'_>, text: &str) -> Option<Policy> {
    let schema = schema(reader, root)?;
    only_of_schema(reader, root, schema, DOCUMENT_KEYS, DOCUMENT_KEYS_2);
    reader.require(
        root,
        "name",
        "explanations cite it: name = \"support-desk\"",
    );
    let name = reader.label(root, "name");
    let routes = reader
        .tables(root, "route", RULES_MAX)
        .into_iter()
        .filter_map(|node| route(reader, node))
        .collect();
    let gates = gates(reader, root);
    let freshness = freshness(reader, root);
    let conflicts = conflicts(reader, root);
    let recovery = recovery(reader, root);
    let presentation = presentation(reader, root, schema);
    let rehydration = rehydration(reader, root);
    let budget = budget(reader, root);
    let layout = layout(reader, root, schema);
    let prices = reader.tables(root, "price", RULES_MAX);
    let prices = prices
        .into_iter()
        .filter_map(|node| price(reader, node))
        .collect();
    Some(Policy {
        schema,
        name: name?,
        digest: Digest::of(DIGEST_CONTEXT, text.as_bytes()),
        routes,
        gates,
        freshness,
        conflicts,
        recovery,
        presentation,
        rehydration,
        budget,
        layout,
        prices,
    })
}

/// Reports keys that the document's schema does not have; those of a later one say which.
fn only_of_schema(
    reader: &mut Reader<'_>,
    node: Node<'_>,
    schema: u16,
    first: &[&str],
    second: &[&str],
) {
    let all = [first, second].concat();
    reader.only(node, &all);
    if schema < 2 {
        reader.later(node, second, 2);
    }
}

/// Reads the schema before anything else: the keys of a later one are not this one's errors.
fn schema(reader: &mut Reader<'_>, root: Node<'_>) -> Option<u16> {
    reader.require(root, "schema", "begin with: schema = 2");
    let newest = u64::from(SCHEMA);
    let value = root.table.get("schema")?;
    let written = value
        .get_ref()
        .as_integer()
        .and_then(|integer| u64::from_str_radix(integer.as_str(), integer.radix()).ok());
    if let Some(schema) = written.filter(|schema| *schema > newest) {
        let at = value.span().start;
        let problem = Problem::TooNew {
            schema,
            newest: SCHEMA,
        };
        let hint = format!("use a newer foldback, or write the policy for schema {newest}");
        reader.report(at, "schema".to_owned(), problem, Some(hint));
        return None;
    }
    let schema = reader.integer(root, "schema", (1, newest))?;
    u16::try_from(schema).ok()
}

fn route(reader: &mut Reader<'_>, node: Node<'_>) -> Option<RouteRule> {
    reader.only(node, ROUTE_KEYS);
    reader.require(node, "trust", "one of untrusted, standard, trusted");
    let provider = reader.label(node, "provider");
    let model = reader.label(node, "model");
    let region = reader.label(node, "region");
    let trust = reader.choice::<Trust>(node, "trust")?;
    Some(RouteRule {
        provider,
        model,
        region,
        trust,
        line: reader.place(node.at).0,
    })
}

fn gates(reader: &mut Reader<'_>, root: Node<'_>) -> Vec<Gate> {
    let mut lines: BTreeMap<Label, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for node in reader.tables(root, "gate", RULES_MAX) {
        let line = reader.place(node.at).0;
        let id = reader.label(node, "id");
        if let Some(id) = &id {
            if let Some(first_line) = lines.get(id) {
                let at = node
                    .table
                    .get("id")
                    .map_or(node.at, |value| value.span().start);
                let problem = Problem::DuplicateId {
                    id: id.to_string(),
                    first_line: *first_line,
                };
                reader.report(at, "gate.id".to_owned(), problem, None);
            } else {
                lines.insert(id.clone(), line);
            }
        }
        out.extend(gate(reader, node, id, line));
    }
    out
}

fn gate(reader: &mut Reader<'_>, node: Node<'_>, id: Option<Label>, line: usize) -> Option<Gate> {
    let own = ["id", "effect", "reason", "unless"];
    let known: Vec<&str> = own.iter().chain(MATCHER_KEYS).copied().collect();
    reader.only(node, &known);
    reader.require(node, "id", "explanations cite it: id = \"own-state\"");
    reader.require(node, "effect", "one of permit, forbid");
    let effect = reader.choice::<Effect>(node, "effect");
    let reason = match effect {
        Some(Effect::Permit) => reader
            .choice_of(node, "reason", &[Reason::Permitted])
            .or(Some(Reason::Permitted)),
        Some(Effect::Forbid) => {
            let names: Vec<&str> = Gate::FORBID_REASONS.iter().map(|r| r.name()).collect();
            let hint = format!("a forbid says why: one of {}", names.join(", "));
            reader.require(node, "reason", &hint);
            reader.choice_of(node, "reason", Gate::FORBID_REASONS)
        }
        None => None,
    };
    let when = matcher(reader, node);
    let unless = reader.table(node, "unless", "gate.unless").map(|node| {
        reader.only(node, MATCHER_KEYS);
        if node.table.is_empty() {
            let hint = "remove `unless`, or name what is excepted".to_owned();
            let path = node.path.to_owned();
            reader.report(node.at, path, Problem::EmptyException, Some(hint));
        }
        matcher(reader, node)
    });
    Some(Gate {
        id: id?,
        effect: effect?,
        reason: reason?,
        when,
        unless,
        line,
    })
}

fn matcher(reader: &mut Reader<'_>, node: Node<'_>) -> Matcher {
    let mut out = Matcher::ANY;
    if let Some(values) = reader.choices::<RecordKind>(node, "records") {
        out = out.narrow(RECORDS, &values);
    }
    if let Some(values) = reader.choices::<Owner>(node, "owner") {
        out = out.narrow(OWNER, &values);
    }
    if let Some(values) = reader.choices::<Visibility>(node, "visibility") {
        out = out.narrow(VISIBILITY, &values);
    }
    if let Some(values) = reader.choices::<Privacy>(node, "privacy") {
        out = out.narrow(PRIVACY, &values);
    }
    if let Some(values) = reader.choices::<Trust>(node, "trust") {
        out = out.narrow(TRUST, &values);
    }
    if let Some(values) = reader.choices::<RuntimeKind>(node, "runtime") {
        out = out.narrow(RUNTIME, &values);
    }
    for (key, span) in [
        ("lineage", LINEAGE),
        ("zero-retention", ZERO_RETENTION),
        ("draft", DRAFT),
        ("promoted", PROMOTED),
        ("raw", RAW),
    ] {
        if let Some(value) = reader.boolean(node, key) {
            out = out.narrow_boolean(span, value);
        }
    }
    out
}

fn freshness(reader: &mut Reader<'_>, root: Node<'_>) -> FreshnessRules {
    let mut out = FreshnessRules::default();
    let Some(node) = reader.table(root, "freshness", "freshness") else {
        return out;
    };
    reader.only(node, FRESHNESS_KEYS);
    for (key, to) in [
        ("volatile-seconds", &mut out.volatile_seconds),
        ("session-seconds", &mut out.session_seconds),
        ("bounded-seconds", &mut out.bounded_seconds),
    ] {
        reader.integer_or_never(node, key, SECONDS, to);
    }
    set(&mut out.stale, reader.choice(node, "stale"));
    out
}

fn conflicts(reader: &mut Reader<'_>, root: Node<'_>) -> ConflictRules {
    let mut out = ConflictRules::default();
    let Some(node) = reader.table(root, "conflicts", "conflicts") else {
        return out;
    };
    reader.only(node, CONFLICT_KEYS);
    set(&mut out.superseded, reader.choice(node, "superseded"));
    set(&mut out.conflicting, reader.choice(node, "conflicting"));
    set(
        &mut out.notices_max,
        reader.integer(node, "notices-max", COUNT),
    );
    out
}

fn recovery(reader: &mut Reader<'_>, root: Node<'_>) -> RecoveryRules {
    let mut out = RecoveryRules::default();
    let Some(node) = reader.table(root, "recovery", "recovery") else {
        return out;
    };
    reader.only(node, RECOVERY_KEYS);
    set(&mut out.open, reader.boolean(node, "open"));
    set(&mut out.failed, reader.choice(node, "failed"));
    let tokens = reader.integer(node, "error-tokens-max", TOKENS_OR_NONE);
    set(&mut out.error_tokens_max, tokens);
    out
}

fn presentation(reader: &mut Reader<'_>, root: Node<'_>, schema: u16) -> PresentationRules {
    let mut out = PresentationRules::of_schema(schema);
    let Some(node) = reader.table(root, "presentation", "presentation") else {
        return out;
    };
    only_of_schema(reader, node, schema, PRESENTATION_KEYS, PRESENTATION_KEYS_2);
    set(
        &mut out.raw_structured,
        reader.choice(node, "raw-structured"),
    );
    set(&mut out.raw_lossless, reader.choice(node, "raw-lossless"));
    set(&mut out.raw_lossy, reader.choice(node, "raw-lossy"));
    let tokens = reader.integer(node, "small-tokens", TOKENS_OR_NONE);
    set(&mut out.small_tokens, tokens);
    let tokens = reader.integer(node, "raw-tokens-max", TOKENS_OR_NONE);
    set(&mut out.raw_tokens_max, tokens);
    let percent = reader.integer(node, "saving-percent-min", PERCENT);
    set(&mut out.saving_percent_min, percent);
    set(&mut out.thinking, reader.choice(node, "thinking"));
    set(&mut out.brief_after, reader.choice(node, "brief-after"));
    set(&mut out.outline, reader.choices_or_none(node, "outline"));
    out.outline.sort_unstable();
    out.outline.dedup();
    out
}

fn rehydration(reader: &mut Reader<'_>, root: Node<'_>) -> RehydrationRules {
    let mut out = RehydrationRules::default();
    let Some(node) = reader.table(root, "rehydration", "rehydration") else {
        return out;
    };
    reader.only(node, REHYDRATION_KEYS);
    set(&mut out.bytes_max, reader.integer(node, "bytes-max", BYTES));
    set(&mut out.count_max, reader.integer(node, "count-max", COUNT));
    set(&mut out.privacy, reader.choices_or_none(node, "privacy"));
    set(&mut out.trust, reader.choices_or_none(node, "trust"));
    out.privacy.sort_unstable();
    out.privacy.dedup();
    out.trust.sort_unstable();
    out.trust.dedup();
    out
}

fn budget(reader: &mut Reader<'_>, root: Node<'_>) -> BudgetRules {
    let mut out = BudgetRules::default();
    let Some(node) = reader.table(root, "budget", "budget") else {
        return out;
    };
    reader.only(node, BUDGET_KEYS);
    set(&mut out.tokens, reader.integer(node, "tokens", TOKENS));
    set(
        &mut out.candidates,
        reader.integer(node, "candidates", CANDIDATES),
    );
    out
}

fn layout(reader: &mut Reader<'_>, root: Node<'_>, schema: u16) -> LayoutRules {
    let mut out = LayoutRules::of_schema(schema);
    let Some(node) = reader.table(root, "layout", "layout") else {
        return out;
    };
    reader.only(node, LAYOUT_KEYS);
    set(&mut out.edits, reader.choice(node, "edits"));
    for (to, key) in [
        (&mut out.horizon_min, "horizon-min"),
        (&mut out.horizon_max, "horizon-max"),
    ] {
        set(to, reader.integer(node, key, REQUESTS));
    }
    out
}

fn price(reader: &mut Reader<'_>, node: Node<'_>) -> Option<PriceRule> {
    reader.only(node, PRICE_KEYS);
    for key in ["dated", "read-permille", "write-permille"] {
        let hint = "a price says when it was read off the list, and what it is";
        reader.require(node, key, hint);
    }
    let provider = reader.label(node, "provider");
    let model = reader.label(node, "model");
    let dated = reader.label(node, "dated");
    let read = reader.integer(node, "read-permille", PERMILLE);
    let write = reader.integer(node, "write-permille", PERMILLE);
    Some(PriceRule {
        provider,
        model,
        dated: dated?,
        read_permille: read?,
        write_permille: write?,
    })
}

fn set<T>(to: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *to = value;
    }
}
