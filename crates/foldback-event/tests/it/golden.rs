//! Old bytes stay readable: the golden records (docs/event-format.md, "Golden records").

use foldback_event::{Event, Kind};
use foldback_testkit::golden;
use std::collections::BTreeSet;
use std::fs;

fn files_ending(ending: &str) -> BTreeSet<String> {
    fs::read_dir(golden::folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(ending)?.to_owned()))
        .collect()
}

fn every_kind_and_version() -> BTreeSet<String> {
    Kind::ALL
        .iter()
        .flat_map(|kind| (1..=kind.version()).map(|version| golden::stem(*kind, version)))
        .collect()
}

#[test]
fn every_kind_and_version_has_its_golden_pair_and_no_file_is_left_over() {
    let wanted = every_kind_and_version();
    assert_eq!(wanted.len(), 37);
    assert_eq!(files_ending(".bin"), wanted);
    assert_eq!(files_ending(".json"), wanted);
}

#[test]
fn golden_bytes_decode_to_their_description_and_encode_to_themselves() {
    let stems = files_ending(".bin");
    assert_eq!(
        stems.len(),
        37,
        "the folder holds one record per kind and version"
    );
    for stem in stems {
        let record = fs::read(golden::folder().join(format!("{stem}.bin"))).unwrap();
        let described = fs::read(golden::folder().join(format!("{stem}.json"))).unwrap();
        let described: serde_json::Value = serde_json::from_slice(&described).unwrap();
        let event = Event::decode(&record).unwrap_or_else(|error| panic!("{stem}: {error}"));
        let kind = event.body.kind().unwrap();
        let version = version_of(&stem);
        assert_eq!(golden::stem(kind, version), stem);
        if version == kind.version() {
            assert_eq!(golden::describe(&event), described, "{stem}");
            assert_eq!(event.encode().unwrap(), record, "{stem}");
        } else {
            // What is written again is of the newest version, and says the same.
            assert_eq!(golden::describe_as(&event, version), described, "{stem}");
            let newest = event.encode().unwrap();
            assert_ne!(newest, record, "{stem}");
            assert_eq!(Event::decode(&newest).unwrap(), event, "{stem}");
        }
    }
}

fn version_of(stem: &str) -> u16 {
    stem.rsplit_once(".v")
        .map_or(1, |(_, version)| version.parse().unwrap())
}

#[test]
fn an_old_record_is_refused_when_it_is_cut_or_has_bytes_left_over() {
    let old = files_ending(".bin").into_iter().filter(|stem| {
        let kind = Kind::ALL
            .iter()
            .find(|kind| golden::stem(**kind, version_of(stem)) == **stem);
        version_of(stem) < kind.unwrap().version()
    });
    let mut count = 0;
    for stem in old {
        let mut record = fs::read(golden::folder().join(format!("{stem}.bin"))).unwrap();
        for length in 0..record.len() {
            assert!(
                Event::decode(&record[..length]).is_err(),
                "{stem} cut to {length} bytes"
            );
        }
        record.push(0);
        assert!(Event::decode(&record).is_err(), "{stem}");
        count += 1;
    }
    assert_eq!(count, 2);
}

/// A description that shows no empty option hides no field.
#[test]
fn golden_records_show_every_field() {
    for stem in files_ending(".json") {
        let text = fs::read_to_string(golden::folder().join(format!("{stem}.json"))).unwrap();
        assert!(!text.contains("null"), "{stem} has an empty option");
        assert!(!text.contains("[]"), "{stem} has an empty list");
    }
}
