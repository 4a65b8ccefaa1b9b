//! Where in the text of a `.gltf` a mistake lies.
//!
//! Used when a model is refused. A `.glb` has no text that people edit; the pointer is told there.

use super::Wrong;
use dh_map::Problem;
use dh_map::jsonc::{Node, Report};

/// The tree of a text, for places only.
pub(super) fn tree_of(text: &str) -> Option<Node<'_>> {
    Report::new("", text).parse()
}

/// A mistake with its place.
pub(super) fn problem(
    path: &str,
    text: Option<&str>,
    root: Option<&Node<'_>>,
    wrong: &Wrong,
) -> Problem {
    let what = if wrong.pointer.is_empty() {
        wrong.text.clone()
    } else {
        format!("{}: {}", wrong.pointer, wrong.text)
    };
    let (Some(text), Some(root)) = (text, root) else {
        return Problem::of_file(path, what, wrong.remedy.clone());
    };
    let mut report = Report::new(path, text);
    report.tell(find(root, &wrong.pointer).at, what, wrong.remedy.clone());
    report.into_problems().remove(0)
}

/// The deepest node on the way to a pointer.
fn find<'n, 'a>(root: &'n Node<'a>, pointer: &str) -> &'n Node<'a> {
    let mut node = root;
    let steps = pointer.split(['.', '[']).filter(|step| !step.is_empty());
    for step in steps {
        let next = match step.strip_suffix(']') {
            Some(index) => index.parse().ok().and_then(|index| node.item(index)),
            None => node.get(step),
        };
        let Some(next) = next else { break };
        node = next;
    }
    node
}

/// The mistakes that the library found.
pub(super) fn refused(
    path: &str,
    error: gltf::Error,
    told: impl FnOnce(Vec<Wrong>) -> Vec<Problem>,
) -> Vec<Problem> {
    match error {
        gltf::Error::Validation(faults) => {
            told(faults.iter().map(|(at, fault)| named(at.as_str(), &fault.to_string())).collect())
        }
        gltf::Error::Deserialize(error) => {
            let line = u32::try_from(error.line()).unwrap_or(0);
            let column = u32::try_from(error.column()).unwrap_or(0);
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or(&text).to_owned();
            let (file, remedy) = (path.to_owned(), String::new());
            vec![Problem { file, line, column, text: format!("no glTF: {text}"), remedy }]
        }
        other => vec![Problem::of_file(path, format!("no glTF 2.0: {other}"), "export it again")],
    }
}

fn named(pointer: &str, fault: &str) -> Wrong {
    let remedy = match fault {
        "Unsupported extension" | "Unsupported" => "export without this extension",
        "Index out of bounds" => "it names something that is not there",
        _ => "export it again",
    };
    Wrong::new(pointer, fault.to_lowercase()).with(remedy)
}
