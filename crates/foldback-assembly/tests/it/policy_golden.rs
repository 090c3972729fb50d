//! Frozen decisions.
//!
//! The digest over `SCHEMA_1` freezes the evaluator: it never changes again, for old assemblies must
//! replay. The digest over the default policy freezes that document's meaning: whoever changes it
//! does so knowingly, and says so in docs/changelog.md.

use foldback_assembly::policy::{
    BriefAfter, BudgetRules, ConflictRules, Edits, FreshnessRules, Owner, Policy,
    PresentationRules, RecordFacts, RecoveryRules, RehydrationRules, RequestFacts, Trust,
};
use foldback_event::kind::Route;
use foldback_event::{Digest, Label, Privacy, RecordKind, RuntimeKind, Visibility};
use std::fmt::Write as _;

/// Uses every matcher, in conditions and in exceptions, and rules that overlap.
const SCHEMA_1: &str = r#"
schema = 1
name = "golden"

[[gate]]
id = "wide"
effect = "permit"
records = ["message", "memory", "artifact", "fact"]
owner = ["own", "shared", "conversation"]
unless = { visibility = ["audit-only"] }

[[gate]]
id = "no-thinking-aloud"
effect = "forbid"
reason = "draft"
draft = true
unless = { owner = ["own"], promoted = false }

[[gate]]
id = "branch"
effect = "forbid"
reason = "branch-excluded"
lineage = false
visibility = ["participant-private", "branch"]
runtime = ["chat", "multi-model", "discussion", "branch-send"]

[[gate]]
id = "children"
effect = "permit"
reason = "permitted"
owner = ["child"]
promoted = true
runtime = ["parent-resume", "scheduled"]

[[gate]]
id = "kept-nowhere"
effect = "forbid"
reason = "privacy-route"
privacy = ["oauth-derived", "google-derived", "secret-adjacent"]
raw = true
unless = { zero-retention = true, trust = ["trusted", "standard"] }

[[gate]]
id = "unknown"
effect = "forbid"
reason = "not-permitted"
privacy = ["unknown"]
trust = ["untrusted", "standard"]

[[gate]]
id = "calls"
effect = "permit"
records = ["call", "skill", "checkpoint"]
raw = false
zero-retention = false
"#;

/// Decides every combination of facts and hashes what comes out.
fn decisions(policy: &Policy) -> (usize, Digest) {
    let mut out = Vec::new();
    let mut count = 0;
    each_request(|request| {
        each_record(|record| {
            let verdict = policy.decide(&request, &record);
            out.push(u8::from(verdict.permitted));
            out.extend(verdict.reason.number().to_le_bytes());
            out.extend(verdict.rule.map_or("", |rule| rule.as_str()).bytes());
            out.push(b'\n');
            count += 1;
        });
    });
    (count, Digest::of("foldback 2026 policy decisions v1", &out))
}

fn each_request(mut each: impl FnMut(RequestFacts)) {
    for runtime_kind in RuntimeKind::ALL {
        for trust in Trust::ALL {
            for zero_retention in [false, true] {
                each(RequestFacts {
                    runtime_kind: *runtime_kind,
                    trust: *trust,
                    zero_retention,
                });
            }
        }
    }
}

fn each_record(mut each: impl FnMut(RecordFacts)) {
    for kind in RecordKind::ALL {
        for owner in Owner::ALL {
            for visibility in Visibility::ALL {
                for privacy in Privacy::ALL {
                    for flags in 0..16_u8 {
                        each(RecordFacts {
                            kind: *kind,
                            owner: *owner,
                            visibility: *visibility,
                            on_lineage: flags & 1 != 0,
                            privacy: *privacy,
                            draft: flags & 2 != 0,
                            promoted: flags & 4 != 0,
                            raw: flags & 8 != 0,
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn schema_1_decides_as_it_always_did() {
    let policy = Policy::parse(SCHEMA_1).unwrap();
    let (count, digest) = decisions(&policy);
    assert_eq!(count, 752_640);
    assert_eq!(
        digest.to_string(),
        "6109ea333d95dee526c204926a394df6c3cc1c3b57f9d7257ec2a543635ad80e"
    );
}

#[test]
fn the_default_policy_decides_as_it_is_documented() {
    let (count, digest) = decisions(&Policy::default_policy());
    assert_eq!(count, 752_640);
    assert_eq!(
        digest.to_string(),
        "a8e04ad55bef1e9e5bd183d246c2a7637a0dac8ea4f53e347358a2575cc57488"
    );
}

/// An ordinary request of a chat on a standard route.
const REQUEST: RequestFacts = RequestFacts {
    runtime_kind: RuntimeKind::Chat,
    trust: Trust::Standard,
    zero_retention: false,
};

/// The participant's own final raw artifact on the lineage.
const RECORD: RecordFacts = RecordFacts {
    kind: RecordKind::Artifact,
    owner: Owner::Own,
    visibility: Visibility::ParticipantPrivate,
    on_lineage: true,
    privacy: Privacy::Internal,
    draft: false,
    promoted: false,
    raw: true,
};

fn cell(policy: &Policy, request: RequestFacts, record: RecordFacts) -> String {
    let verdict = policy.decide(&request, &record);
    match (verdict.permitted, verdict.rule) {
        (true, Some(rule)) => format!("in  {rule}"),
        (false, Some(rule)) => format!("out {rule}"),
        (false, None) => "out (no permit)".to_owned(),
        (true, None) => "in  by no rule".to_owned(),
    }
}

#[test]
fn the_default_policy_at_a_glance() {
    let policy = Policy::default_policy();
    let mut out = String::new();
    writeln!(out, "internal, final, raw, chat on a standard route:").unwrap();
    let head = [
        "owner",
        "visibility",
        "on the lineage",
        "on a sibling",
        "promoted, on the lineage",
    ];
    let [owner, visibility, on, off, promoted] = head;
    writeln!(
        out,
        "{owner:12} {visibility:20} {on:25} {off:25} {promoted}"
    )
    .unwrap();
    for owner in Owner::ALL {
        for visibility in Visibility::ALL {
            let on = RecordFacts {
                owner: *owner,
                visibility: *visibility,
                ..RECORD
            };
            let off = RecordFacts {
                on_lineage: false,
                ..on
            };
            let promoted = RecordFacts {
                promoted: true,
                ..on
            };
            let [on, off, promoted] = [on, off, promoted].map(|r| cell(&policy, REQUEST, r));
            writeln!(
                out,
                "{owner:12} {visibility:20} {on:25} {off:25} {promoted}"
            )
            .unwrap();
        }
    }
    writeln!(out, "\nown, on the lineage, chat:").unwrap();
    let [privacy, form] = ["privacy", "form"];
    let [untrusted, standard, trusted] = ["untrusted", "standard", "trusted"];
    writeln!(
        out,
        "{privacy:16} {form:8} {untrusted:27} {standard:27} {trusted}"
    )
    .unwrap();
    for privacy in Privacy::ALL {
        for (form, raw) in [("raw", true), ("compact", false)] {
            let record = RecordFacts {
                privacy: *privacy,
                raw,
                ..RECORD
            };
            let cells = [Trust::Untrusted, Trust::Standard, Trust::Trusted]
                .map(|trust| cell(&policy, RequestFacts { trust, ..REQUEST }, record));
            let [untrusted, standard, trusted] = cells;
            writeln!(
                out,
                "{privacy:16} {form:8} {untrusted:27} {standard:27} {trusted}"
            )
            .unwrap();
        }
    }
    writeln!(out, "\ndrafts, visible on the branch, on the lineage:").unwrap();
    for owner in Owner::ALL {
        let record = RecordFacts {
            kind: RecordKind::Message,
            owner: *owner,
            visibility: Visibility::Branch,
            draft: true,
            ..RECORD
        };
        writeln!(out, "{owner:12} {}", cell(&policy, REQUEST, record)).unwrap();
    }
    insta::assert_snapshot!(out);
}

/// Law 2 of the scenarios, told by facts and not by rules.
#[test]
fn the_default_policy_lets_nothing_pass_that_is_not_for_the_requester() {
    let policy = Policy::default_policy();
    each_request(|request| {
        each_record(|record| {
            if !policy.decide(&request, &record).permitted {
                return;
            }
            let addressed = matches!(record.owner, Owner::Own | Owner::Shared);
            let private = record.visibility == Visibility::ParticipantPrivate;
            let wide = record.visibility == Visibility::Conversation;
            let trusted = request.trust == Trust::Trusted;
            assert_ne!(record.visibility, Visibility::AuditOnly);
            assert!(addressed || !private, "{record:?}");
            assert!(
                record.owner != Owner::Child || record.promoted,
                "{record:?}"
            );
            assert!(
                record.on_lineage || wide || record.owner == Owner::Shared,
                "{record:?}"
            );
            assert!(!record.draft || record.owner == Owner::Own, "{record:?}");
            match record.privacy {
                Privacy::Unknown => panic!("{record:?}"),
                Privacy::SecretAdjacent => assert!(trusted && !record.raw, "{record:?}"),
                Privacy::OauthDerived | Privacy::GoogleDerived => {
                    let compact = request.trust == Trust::Standard && !record.raw;
                    assert!(trusted || compact, "{record:?}");
                }
                Privacy::Personal => {
                    assert!(
                        request.trust != Trust::Untrusted || !record.raw,
                        "{record:?}"
                    );
                }
                Privacy::Public | Privacy::Internal => {}
            }
        });
    });
}

#[test]
fn the_default_policy_treats_kinds_modes_and_retention_alike() {
    let policy = Policy::default_policy();
    each_record(|record| {
        let first = policy.decide(
            &REQUEST,
            &RecordFacts {
                kind: RecordKind::Message,
                ..record
            },
        );
        assert_eq!(policy.decide(&REQUEST, &record), first, "{record:?}");
    });
    each_request(|request| {
        let record = RecordFacts {
            privacy: Privacy::GoogleDerived,
            ..RECORD
        };
        let chat = RequestFacts {
            trust: request.trust,
            ..REQUEST
        };
        assert_eq!(
            policy.decide(&request, &record),
            policy.decide(&chat, &record),
            "{request:?}"
        );
    });
}

#[test]
fn the_default_document_states_the_built_in_values() {
    let written = Policy::default_policy();
    let bare = Policy::parse("schema = 2\nname = \"bare\"").unwrap();
    for policy in [&written, &bare] {
        assert_eq!(policy.freshness, FreshnessRules::default());
        assert_eq!(policy.conflicts, ConflictRules::default());
        assert_eq!(policy.recovery, RecoveryRules::default());
        assert_eq!(policy.presentation, PresentationRules::default());
        assert_eq!(policy.rehydration, RehydrationRules::default());
        assert_eq!(policy.budget, BudgetRules::default());
        assert_eq!(policy.layout.edits, Edits::WhenTheyPay);
        assert_eq!(policy.layout.horizon_min, 16);
        assert_eq!(policy.layout.horizon_max, 64);
    }
    // Every key is written, so that the document can be read as the reference of the defaults.
    let keys = "volatile-seconds session-seconds bounded-seconds stale superseded conflicting \
                notices-max open failed error-tokens-max raw-structured raw-lossless raw-lossy small-tokens raw-tokens-max \
                saving-percent-min brief-after outline thinking edits horizon-min horizon-max \
                bytes-max count-max privacy trust tokens candidates";
    for key in keys.split_whitespace() {
        let assigned = format!("{key} = ");
        assert!(
            Policy::builtin()
                .lines()
                .any(|line| line.starts_with(&assigned)),
            "{key} is not written"
        );
    }
    assert!(bare.gates.is_empty());
    assert!(bare.routes.is_empty());
    assert!(bare.prices.is_empty());
}

/// The default policy as long as schema 1 was the newest: stores cite it.
const DEFAULT_OF_SCHEMA_1: &str =
    include_str!("../../../../fixtures/policies/default-schema-1.toml");

#[test]
fn a_document_of_schema_1_means_what_it_meant() {
    let policy = Policy::parse(DEFAULT_OF_SCHEMA_1).unwrap();
    assert_eq!(
        policy.digest.to_string(),
        "1b0622cc75fabf49004bb7fe727028416f348b9c8db44f4641e9c9432efcc3eb"
    );
    let newest = Policy::default_policy();
    assert_eq!(policy.gates, newest.gates);
    assert_eq!(policy.presentation.brief_after, BriefAfter::Never);
    assert_eq!(policy.presentation.outline, []);
    assert_eq!(policy.layout.edits, Edits::AtOnce);
    assert_eq!(policy.prices, []);
}

#[test]
fn the_keys_of_schema_2_are_errors_in_a_document_of_schema_1() {
    let document = "schema = 1\nname = \"p\"\n[presentation]\nbrief-after = \"turn\"\n[layout]\n";
    let errors = Policy::parse(document).unwrap_err();
    let lines: Vec<String> = errors
        .iter()
        .map(|error| format!("{error}; {}", error.hint.clone().unwrap_or_default()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    line 4, column 1: `presentation.brief-after`: unknown key; it belongs to schema 2: write schema = 2
    line 5, column 2: `layout`: unknown key; it belongs to schema 2: write schema = 2
    ");
}

#[test]
fn a_price_is_found_by_provider_and_model() {
    let policy = Policy::default_policy();
    let price = |provider: &str, model: &str| {
        policy.price(&Route {
            provider: Label::new(provider).unwrap(),
            model: Some(Label::new(model).unwrap()),
            region: None,
            zero_retention: false,
        })
    };
    assert_eq!(price("anthropic", "any"), (100, 1_250));
    assert_eq!(price("openai", "gpt-4o"), (500, 1_000));
    assert_eq!(price("openai", "gpt-4.1"), (250, 1_000));
    assert_eq!(price("openai", "gpt-5.5"), (100, 1_000));
    assert_eq!(price("google", "any"), (100, 1_000));
    assert_eq!(price("elsewhere", "any"), (100, 1_250));
    let bare = Policy::parse("schema = 2\nname = \"bare\"").unwrap();
    let route = Route {
        provider: Label::new("anthropic").unwrap(),
        model: None,
        region: None,
        zero_retention: false,
    };
    assert_eq!(bare.price(&route), (1_000, 1_000), "no price, no cache");
}

#[test]
fn the_digest_covers_the_bytes_of_the_document() {
    let text = Policy::builtin();
    let policy = Policy::parse(text).unwrap();
    assert_eq!(
        policy.digest,
        Digest::of("foldback 2026 policy document v1", text.as_bytes())
    );
    let commented = Policy::parse(&format!("{text}# reviewed\n")).unwrap();
    assert_ne!(policy.digest, commented.digest);
    assert_eq!(policy.gates, commented.gates);
}
