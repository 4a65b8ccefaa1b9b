//! Names: what no pallet may hold, whoever made it.

use super::about;
use crate::{
    About, ENTRIES_MAX, PalletError, Writer, check_pallet_id, check_path, check_twins, pack,
};

/// Paths that are refused, by what is wrong with them.
const BAD: [&[&str]; 7] = [
    &["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "./a", "..."],
    &["..\\a", "a\\b", "D:\\a", "D:/a", "D:a", "\\\\host\\a", "a:b"],
    &["a\0b", "a\nb", "a\tb", "a\u{7f}", "a\u{85}"],
    &["con", "CON", "Con.txt", "a/nul", "a/NUL.tar.gz", "com1", "LPT9.x", "com\u{b9}"],
    &["aux .txt", "conin$", "prn ", "a.", "a ", "a./b", "a /b", " a", "a/ b"],
    &["a*", "a?", "a<b", "a>b", "a|b", "a\"b"],
    &["a\u{1f600}", "\u{10ffff}/a"],
];

/// Paths that are not.
const GOOD: [&[&str]; 3] = [
    &["a", "a/b", "a/b.c", "assets/x.dh-map", "A/B", "a b/c d", "caf\u{e9}", "\u{ffee}"],
    &["...a", ".hidden", "a..b", "console", "com", "com10", "comx", "nul2/a"],
    &["-", "a~1", "100%"],
];

#[test]
fn paths_that_mean_something_else_on_some_disk_are_refused() {
    let (longest, long) = ("a".repeat(240), "a".repeat(241));
    for path in BAD.concat().into_iter().chain([long.as_str()]) {
        assert!(matches!(check_path(path), Err(PalletError::Name { .. })), "{path:?}");
    }
    for path in GOOD.concat().into_iter().chain([longest.as_str()]) {
        assert_eq!(check_path(path), Ok(()), "{path:?}");
    }
}

#[test]
fn ids_that_are_no_plain_word_are_refused() {
    let long = "a".repeat(65);
    for id in
        ["", "A", "-a", "a-", ".a", "a.", "a b", "a/b", "a:b", "a\u{e9}", "nul", "con.x", &long]
    {
        assert!(check_pallet_id(id).is_err(), "{id:?}");
    }
    for id in ["a", "0", "a-b", "a.b_c", "museum", "core", &long[..64]] {
        assert_eq!(check_pallet_id(id), Ok(()), "{id:?}");
    }
}

#[test]
fn twins_in_case_composition_or_as_file_and_folder_are_refused_with_both_names() {
    let twins = [
        ("a/b", "a/B"),
        ("A/b", "a/B"),
        ("caf\u{e9}", "cafe\u{301}"),
        ("caf\u{e9}", "CAFE\u{301}"),
        ("stra\u{df}e", "STRASSE"),
        ("a", "a/b"),
        ("A", "a/b/c"),
        ("a/b", "a/B/c"),
    ];
    for (one, other) in twins {
        for pair in [[one, other], [other, one]] {
            let text = check_twins(pair).unwrap_err().to_string();
            assert!(text.contains(&format!("{one:?}")), "{text}");
            assert!(text.contains(&format!("{other:?}")), "{text}");
        }
    }
    assert_eq!(check_twins(["a", "ab", "b/a", "b/c", "a.b", "caf\u{e9}"]), Ok(()));
}

#[test]
fn twins_are_refused_when_a_pallet_is_written() {
    let mut writer = Writer::new(about()).unwrap();
    writer.put("a/readme", pack(b"").in_memory()).unwrap();
    assert!(writer.put("a/readme", pack(b"").in_memory()).is_err(), "one path twice");
    assert!(writer.put("../x", pack(b"").in_memory()).is_err());
    writer.put("a/README", pack(b"").in_memory()).unwrap();
    let error = writer.write(&mut Vec::new(), crate::xxh128, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, PalletError::Twins { .. }), "{error}");
}

#[test]
fn what_a_pallet_says_of_itself_is_bounded() {
    type Change = fn(&mut About);
    let changes: [Change; 9] = [
        |about| about.id = "..".to_owned(),
        |about| about.name = "a\tb".to_owned(),
        |about| about.version = "1\n".to_owned(),
        |about| about.licence = "x".repeat(257),
        |about| about.authors = vec!["a\u{1b}".to_owned()],
        |about| about.authors = vec![String::new(); 65],
        |about| about.dependencies.reverse(),
        |about| about.dependencies = vec!["museum".to_owned()],
        |about| about.dependencies = (100..357).map(|id| format!("p{id}")).collect(),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut about = about();
        change(&mut about);
        assert!(Writer::new(about).is_err(), "change {at}");
    }
}

#[test]
fn what_a_pallet_says_of_itself_may_be_as_long_as_its_bounds() {
    let longest = "\u{e9}".repeat(256);
    let about = About {
        name: longest.clone(),
        version: longest.clone(),
        authors: vec![longest.clone(); 64],
        licence: longest,
        dependencies: (100..356).map(|id| format!("p{id}")).collect(),
        ..about()
    };
    assert!(Writer::new(about).is_ok());
}

#[test]
fn entries_and_the_bytes_of_a_manifest_are_bounded() {
    let written = |count: usize, name_bytes: usize| {
        let mut writer = Writer::new(about()).unwrap();
        for number in 0..count {
            let path = format!("{number:0name_bytes$}");
            writer.put(&path, pack(b"").in_memory()).unwrap();
        }
        writer.write(&mut Vec::new(), crate::xxh128, &mut |_, _| {})
    };
    let refused = |why| Err(PalletError::Manifest(why));
    assert_eq!(written(ENTRIES_MAX + 1, 5), refused("more than 65,536 entries"));
    assert_eq!(written(30_000, 240), refused("more than 16 MiB"));
    assert!(written(ENTRIES_MAX, 5).is_ok());
}
