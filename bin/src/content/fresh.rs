//! `dh new`: a folder of content that builds as it is.

use std::fs;
use std::io;
use std::path::Path;

use dh_pallet::{ABOUT_CHARS_MAX, CORE_PALLET_ID, check_pallet_id};
use serde_json::json;

use crate::command::Shared;
use crate::exit::{Exit, Failure};
use crate::output;

/// What is written, by path; `@ID@` stands for the pallet's id, `"@NAME@"` for its name.
const FILES: [(&str, &str); 3] = [
    ("pallet.dh", include_str!("fresh/pallet.dh")),
    ("assets/main.dh-map", include_str!("fresh/main.dh-map")),
    ("README.md", include_str!("fresh/README.md")),
];
/// The id where the folder's name gives none.
const ID: &str = "my-world";

/// Writes the folder, unless something is in it already.
pub(super) fn run(dir: &Path, shared: &Shared) -> Result<(), Failure> {
    let id = id_of(dir);
    let refused = |why: &dyn std::fmt::Display| {
        let cause = format!("cannot make a content folder {}: {why}", dir.display());
        Failure::new(Exit::CannotCreate, cause)
            .remedy("dh new DIR, with a folder that is not there")
    };
    if id == CORE_PALLET_ID {
        return Err(refused(&format!("\"{id}\" is the id of the built-in pallet; choose another")));
    }
    match fs::read_dir(dir).map(|mut inside| inside.next().is_none()) {
        Ok(true) => {}
        Ok(false) => return Err(refused(&"it is not empty")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(&error)),
    }
    FILES
        .iter()
        .try_for_each(|(path, text)| write(dir, path, text, &id))
        .map_err(|e| refused(&e))?;
    let shown = dir.display().to_string();
    if shared.json {
        return output::json(&json!({ "path": shown, "palletId": id }));
    }
    output::line(&format!("made {shown}; next:"))?;
    output::line(&format!("  dh build {} --out {id}.pallet", quoted(&shown)))?;
    output::line(&format!("  dh play --content {id}.pallet --map {id}:assets/main.dh-map"))
}

fn write(dir: &Path, path: &str, text: &str, id: &str) -> io::Result<()> {
    let place = dir.join(path);
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    let name = json!(name_of(dir)).to_string();
    fs::write(place, text.replace("\"@NAME@\"", &name).replace("@ID@", id))
}

/// The folder's name as people read it.
fn name_of(dir: &Path) -> String {
    let named = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = named.file_name().unwrap_or_default().to_string_lossy();
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    name.chars().map(plain).take(ABOUT_CHARS_MAX).collect()
}

/// A path as one word of a shell's command.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+,=@%".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The folder's name as a pallet's id.
fn id_of(dir: &Path) -> String {
    let name = name_of(dir).to_ascii_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let id: String = name.chars().map(plain).collect();
    let id = id.trim_matches(['-', '_', '.']);
    if check_pallet_id(id).is_ok() { id.to_owned() } else { ID.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command;
    use std::ffi::OsString;

    fn shared() -> Shared {
        command::parse([OsString::from("dh")]).unwrap().shared
    }

    #[test]
    fn the_folder_builds_as_it_is_and_has_all_that_a_map_needs() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("My Yard");
        run(&dir, &shared()).unwrap();
        let built = dh_compile::build(&dir, home.path(), &|_| {}).unwrap();
        assert_eq!((built.id.as_str(), built.notes.len()), ("my-yard", 0));
        let about = fs::read_to_string(dir.join("pallet.dh")).unwrap();
        assert!(about.contains("\"displayName\": \"My Yard\""), "{about}");
        let text = fs::read_to_string(dir.join("assets/main.dh-map")).unwrap();
        let map = dh_map::Map::parse(&text, "main.dh-map").unwrap();
        let count = |has: fn(&dh_map::Components) -> bool| {
            map.objects.iter().filter(|object| has(&object.components)).count()
        };
        let found = [
            count(|it| it.spawn.is_some()),
            count(|it| it.sun.is_some()),
            count(|it| it.sky.is_some()),
            count(|it| it.camera.is_some()),
        ];
        assert_eq!(found, [1; 4]);
        assert!(count(|it| it.solid.is_some()) > 3);
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("mine"), "").unwrap();
        for dir in [home.path(), &home.path().join("mine")] {
            assert_eq!(run(dir, &shared()).unwrap_err().exit, Exit::CannotCreate);
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_example_builds_once_it_is_no_comment_and_has_its_model() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("yard");
        run(&dir, &shared()).unwrap();
        let map = dir.join("assets/main.dh-map");
        let text = fs::read_to_string(&map).unwrap();
        let (before, example) = text.split_once("    // , { \"id\": \"tree\"").unwrap();
        let example = format!("    // , {{ \"id\": \"tree\"{example}").replace("    // ", "    ");
        fs::write(&map, format!("{before}{example}")).unwrap();
        let files = dh_compile::core_sources().0;
        let file = |path: &str| files.iter().find(|(name, _)| *name == path).unwrap().1;
        fs::write(dir.join("assets/model.glb"), file("assets/demo/tree.gltf")).unwrap();
        fs::write(dir.join("assets/tree.bin"), file("assets/demo/tree.bin")).unwrap();
        let built = dh_compile::build(&dir, home.path(), &|_| {});
        assert_eq!(built.unwrap().entries, 2);
    }

    #[test]
    fn a_path_is_one_word_of_the_command_that_is_told() {
        let words = ["yard", "a/b.c", "My Yard", "it's", "-x", "$HOME"].map(quoted);
        assert_eq!(words, ["yard", "a/b.c", "'My Yard'", "'it'\\''s'", "./-x", "'$HOME'"]);
    }

    #[test]
    fn an_id_is_made_of_any_folders_name() {
        let ids = ["Big Yard!", "a", "...", "con", "\u{e9}t\u{e9}"].map(|it| id_of(Path::new(it)));
        assert_eq!(ids, ["big-yard", "a", ID, ID, "t"]);
    }
}
