//! Where in the text of a `.gltf` a mistake lies.
//!
//! Used when a model is refused. A `.glb` has no text that people edit; the pointer is told there.

use super::Wrong;
use dh_map::Problem;
use dh_map::jsonc::{Node, PROBLEMS_MAX, Report};

/// The mistakes with their places.
pub(super) fn problems(path: &str, text: Option<&str>, wrong: &[Wrong]) -> Vec<Problem> {
    let root = text.and_then(|text| Report::new(path, text).parse().map(|root| (text, root)));
    let Some((text, root)) = root else {
        let some = wrong.iter().take(PROBLEMS_MAX);
        let told = some.map(|wrong| Problem::of_file(path, what(wrong), wrong.remedy.as_str()));
        let more = (wrong.len() > PROBLEMS_MAX).then(|| Problem::more(path));
        return told.chain(more).collect();
    };
    let mut report = Report::new(path, text);
    for wrong in wrong {
        if report.is_full() {
            report.tell_more();
            break;
        }
        report.tell(find(&root, &wrong.pointer).at, what(wrong), wrong.remedy.as_str());
    }
    report.into_problems()
}

/// A mistake and where it is, in words.
fn what(wrong: &Wrong) -> String {
    let Wrong { pointer, text, .. } = wrong;
    if pointer.is_empty() { text.clone() } else { format!("{pointer}: {text}") }
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
            let faults = faults.iter().take(PROBLEMS_MAX + 1);
            told(faults.map(|(at, fault)| named(at.as_str(), &fault.to_string())).collect())
        }
        gltf::Error::Deserialize(error) => {
            let line = u32::try_from(error.line()).unwrap_or(0);
            let column = u32::try_from(error.column()).unwrap_or(0);
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or(&text).to_owned();
            let (file, remedy) = (path.to_owned(), "export it again".to_owned());
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
