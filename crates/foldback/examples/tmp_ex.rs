#![allow(clippy::all, clippy::pedantic, clippy::restriction, warnings)]
use foldback_assembly::extract::{Input, extract};
use std::io::Read;
fn main() {
    let mut s = String::new();
    std::io::stdin().read_to_string(&mut s).unwrap();
    let rows: Vec<(String, String, String)> = serde_json::from_str(&s).unwrap();
    let show = std::env::args().nth(1).is_some();
    let mut by: std::collections::BTreeMap<String, [u64; 6]> = Default::default();
    for (tool, args, result) in rows {
        let media = if serde_json::from_str::<serde_json::Value>(&result).is_ok() {
            foldback_event::MediaType::Json
        } else {
            foldback_event::MediaType::Text
        };
        let e = extract(&Input {
            tool: &tool,
            arguments: args.as_bytes(),
            result: result.as_bytes(),
            media,
            failed: false,
        });
        let t = |s: &str| foldback::count_tokens(s) as u64;
        let b = e.brief.as_deref().map_or(t(&e.summary), t);
        let a = by
            .entry(format!("{tool}/{}/{}", e.extractor, e.lossless))
            .or_default();
        a[0] += 1;
        a[1] += t(&result);
        a[2] += t(&e.summary);
        a[3] += b;
        a[4] += u64::from(e.brief.is_some());
        if show {
            println!(
                "--- {tool} {} lossless {} raw {} summary {} brief {}\n{}\n=== brief\n{}\n=== outline {}",
                e.extractor,
                e.lossless,
                t(&result),
                t(&e.summary),
                b,
                e.summary,
                e.brief.clone().unwrap_or_default(),
                e.outline
            );
        }
    }
    for (k, v) in by {
        eprintln!("{k:<60} {v:?}");
    }
}
