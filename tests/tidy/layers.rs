//! Layers: arrows point down, and each dependency is named only where it may be.

use crate::architecture::{Built, Permitted, Ranked, Ring, Use};
use crate::architecture::{built, document, permitted, ranks};
use crate::tree::assert_clean;

#[test]
fn imports_go_downwards_only_and_never_within_a_rank() {
    let table = [ranked(0, "a"), ranked(1, "b"), ranked(1, "c")];
    assert_eq!(upward(&table, &[crate_of("b", &["dh-a"])]), Vec::<String>::new());
    assert_eq!(upward(&table, &[crate_of("a", &["dh-b"])]).len(), 1);
    assert_eq!(upward(&table, &[crate_of("b", &["dh-c"])]).len(), 1);
    assert_clean(&upward(&ranks(document()), &built()));
}

#[test]
fn every_crate_is_in_the_ranks_table_and_the_table_names_no_other() {
    let table = [ranked(0, "a")];
    assert_eq!(unlisted(&table, &[crate_of("a", &[]), crate_of("b", &[])]).len(), 1);
    assert_eq!(unlisted(&table, &[]).len(), 1);
    assert_clean(&unlisted(&ranks(document()), &built()));
}

#[test]
fn every_package_is_named_after_its_folder() {
    let odd = Built { name: "dh-x".to_owned(), folder: "a/b".to_owned(), uses: Vec::new() };
    assert_eq!(misnamed(&[odd, crate_of("a/c", &[])]).len(), 1);
    assert_clean(&misnamed(&built()));
}

#[test]
fn a_dependency_is_used_only_by_the_crates_the_document_permits() {
    let table = [Permitted { name: "tokio".to_owned(), users: vec!["a".to_owned()] }];
    assert_eq!(unpermitted(&table, &[crate_of("a", &["tokio"])]), Vec::<String>::new());
    assert_eq!(unpermitted(&table, &[crate_of("b", &["tokio"])]).len(), 1);
    assert_eq!(unpermitted(&table, &[crate_of("a", &["quinn"])]).len(), 1);
    assert_clean(&unpermitted(&permitted(document()), &built()));
}

#[test]
fn every_permission_to_use_a_dependency_is_used() {
    let table = [Permitted { name: "tokio".to_owned(), users: vec!["a".to_owned()] }];
    assert_eq!(unused(&table, &[crate_of("a", &["tokio"])]), Vec::<String>::new());
    assert_eq!(unused(&table, &[crate_of("a", &[])]).len(), 1);
    assert_clean(&unused(&permitted(document()), &built()));
}

fn upward(ranks: &[Ranked], crates: &[Built]) -> Vec<String> {
    let rank_of = |name: &str| {
        let ranked = ranks.iter().find(|ranked| package_name(&ranked.folder) == name);
        ranked.map(|ranked| ranked.rank)
    };
    let mut faults = Vec::new();
    for user in crates {
        for used in user.uses.iter().filter(|used| used.name.starts_with("dh-")) {
            let (above, below) = (rank_of(&user.name), rank_of(&used.name));
            if above.is_none() || below.is_none() || above <= below {
                let (user, used) = (&user.name, &used.name);
                faults.push(format!("{user} (rank {above:?}) imports {used} (rank {below:?})"));
            }
        }
    }
    faults
}

fn unlisted(ranks: &[Ranked], crates: &[Built]) -> Vec<String> {
    let listed = |folder: &str| ranks.iter().filter(|ranked| ranked.folder == folder).count();
    let exists = |folder: &str| crates.iter().any(|built| built.folder == folder);
    let unlisted = crates.iter().filter(|built| listed(&built.folder) != 1);
    let gone = ranks.iter().filter(|ranked| !exists(&ranked.folder));
    let unlisted = unlisted.map(|built| format!("{} is not listed once", built.folder));
    unlisted.chain(gone.map(|ranked| format!("{} is no crate", ranked.folder))).collect()
}

fn misnamed(crates: &[Built]) -> Vec<String> {
    let odd = crates.iter().filter(|built| built.name != package_name(&built.folder));
    odd.map(|built| format!("{} in {}", built.name, built.folder)).collect()
}

fn unpermitted(table: &[Permitted], crates: &[Built]) -> Vec<String> {
    let mut faults = Vec::new();
    for user in crates {
        for used in user.uses.iter().filter(|used| !used.ours) {
            let row = table.iter().find(|row| row.name == used.name);
            let may = |who: &str| row.is_some_and(|row| row.users.iter().any(|user| user == who));
            let permitted = may(&user.folder) || (used.dev && may("dev"));
            if !permitted {
                faults.push(format!("{} names {}", user.folder, used.name));
            }
        }
    }
    faults
}

fn unused(table: &[Permitted], crates: &[Built]) -> Vec<String> {
    let mut faults = Vec::new();
    for row in table {
        for user in &row.users {
            let mut uses = crates.iter().filter(|built| user == "dev" || built.folder == *user);
            let dev = user == "dev";
            let is_it = |used: &Use| used.name == row.name && (used.dev || !dev);
            if !uses.any(|built| built.uses.iter().any(is_it)) {
                faults.push(format!("{user} no longer uses {}", row.name));
            }
        }
    }
    faults
}

/// The package in a folder: `dh` is the program, all else has its folder's name behind `dh-`.
fn package_name(folder: &str) -> String {
    match folder.rsplit('/').next() {
        Some("bin") => "dh".to_owned(),
        Some(last) => format!("dh-{last}"),
        None => folder.to_owned(),
    }
}

fn ranked(rank: u32, folder: &str) -> Ranked {
    Ranked { rank, folder: folder.to_owned(), ring: Ring::Core }
}

fn crate_of(folder: &str, uses: &[&str]) -> Built {
    let used =
        |name: &&str| Use { name: (*name).to_owned(), dev: false, ours: name.starts_with("dh-") };
    Built {
        name: package_name(folder),
        folder: folder.to_owned(),
        uses: uses.iter().map(used).collect(),
    }
}
