//! Shelf: the files of `tests/scripts`, in the order of their names.

use std::fs;
use std::path::Path;

use dh_scenario::Script;
use dh_scenario::script::Plan;

/// One scenario.
#[derive(Debug)]
pub(crate) struct Shelved {
    /// The file's name without its ending.
    pub(crate) stem: String,
    pub(crate) text: String,
    pub(crate) script: Script,
    pub(crate) plan: Plan,
}

/// Every scenario there is.
pub(crate) fn all() -> Vec<Shelved> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| read(&folder, name)).collect()
}

fn read(folder: &Path, name: &str) -> Shelved {
    let stem = name.strip_suffix(".rhai");
    let stem = stem.unwrap_or_else(|| panic!("scripts/{name}: only scenarios lie here"));
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let script = Script::new(format!("tests/scripts/{name}"), text.clone());
    let plan = script.plan().unwrap_or_else(|mistake| panic!("{mistake}"));
    Shelved { stem: stem.to_owned(), text, script, plan }
}
