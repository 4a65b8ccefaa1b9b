//! Rows: the specification's row ids stand where they are held, on tests, and nowhere else.

use crate::tree::{Source, holds, passes, sees};

/// The families of rows in the specification.
const FAMILIES: [&str; 39] = [
    "ACT", "AUTH", "BODY", "BP", "CHAT", "CLK", "CRV", "EDIT", "ENT", "FGV", "FIX", "GEN", "HIER",
    "HIT", "IDX", "INQ", "INT", "JOIN", "KIND", "LOAD", "LOGIC", "MOV", "MR", "OBJ", "PACE",
    "PLAN", "PLAT", "PRED", "REC", "REST", "SES", "SNAP", "SWAP", "SWITCH", "VIEW", "VIS", "VOX",
    "WHO", "WIRE",
];

#[test]
fn row_ids_appear_only_in_doc_comments_of_tests() {
    let row = concat!("WIRE", "-13");
    sees(stray_rows, &[("x.rs", &format!("//! {row}\n"))]);
    sees(stray_rows, &[("x.rs", &format!("// {row}\n#[test]\nfn x() {{}}"))]);
    sees(stray_rows, &[("x.rs", &format!("/// {row}\nfn x() {{}}\n#[test]\nfn y() {{}}"))]);
    sees(stray_rows, &[("README.md", &format!("See {row}."))]);
    passes(stray_rows, &[("x.rs", &format!("/// {row}, more\n/// words\n#[test]\nfn x() {{}}"))]);
    passes(stray_rows, &[("x.rs", "// UTF-8 by SHA-256 in ABCWIRE-13 and WIRE-1300")]);
    holds(stray_rows);
}

fn stray_rows(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.name() != "Cargo.lock") {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            if names_a_row(line) && !(line.starts_with("///") && above_a_test(&lines[index..])) {
                faults.push(format!("{}:{}: {line}", source.path, index + 1));
            }
        }
    }
    faults
}

/// Whether the doc comment and attributes that `lines` starts with belong to a test.
fn above_a_test(lines: &[&str]) -> bool {
    let mut above =
        lines.iter().take_while(|line| line.starts_with("///") || line.starts_with("#["));
    above.any(|line| *line == "#[test]")
}

/// Whether the line has a family's name, a hyphen and two or three digits.
fn names_a_row(line: &str) -> bool {
    line.match_indices('-').any(|(at, _)| {
        let before = line[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        let digits = line[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        before.is_some_and(|family| FAMILIES.contains(&family)) && (2..=3).contains(&digits)
    })
}
