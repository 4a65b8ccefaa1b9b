//! Builds as scripts say them: one that is known by name, or an array of changes.

use dh_wire::schema::{Edit, EditError, SchemaFault, Shape, Type};
use rhai::{Dynamic, Map};

use super::error::{Mistake, Said, Under as _, unknown, wrong};
use super::plan::known;
use super::value::{integer, shown, text};
use super::words::Entries;
use crate::build::{NoBuild, OtherBuild};

/// The changes, by the entry that names what is changed.
pub(super) const CHANGES: Entries = &[
    ("drop", "a message that it does not have, as in serverChat"),
    ("add", "a field that it has besides, as in ClientInfo.locale; needs kind, takes at"),
    ("remove", "a field, case, name or bit that it does not have"),
    ("place", "a field or case that stands elsewhere; takes at"),
    ("widen", "a number, length, count, mask or tag of the next width"),
    ("renumber", "an enum, flags or a union whose numbers are the other way round"),
    ("rename", "a field, case, name or bit that it calls otherwise; needs to"),
    ("kind", "what the field is, as dh wire schema spells it: u8, str8(16), optional(f32)"),
    ("at", "how many stand in front of it; 0 unless said"),
    ("to", "what it is called"),
];

/// A build by its name, or by what is different in it.
pub(super) fn build(value: &Dynamic) -> Said<OtherBuild> {
    let build = if value.is_string() {
        let name = text("build", value)?;
        let known = OtherBuild::named(&name);
        known.ok_or_else(|| unknown("build", &name, OtherBuild::NAMES.into_iter()))?
    } else {
        let changes = value.clone().into_typed_array::<Map>().map_err(|_| {
            let found = shown(value);
            wrong(format!("expected the name of a build or an array of #{{...}}, found {found}"))
        })?;
        let edits = changes.iter().map(change).collect::<Said<Vec<Edit>>>()?;
        OtherBuild { name: "a build of a script".to_owned(), edits }
    };
    build.check().map_err(|why| match &why {
        NoBuild::Edit(EditError(edit)) => unnamed(edit).unwrap_or_else(|| wrong(why.to_string())),
        _ => wrong(why.to_string()),
    })?;
    Ok(build)
}

/// The mistake of a change of something that this build does not have.
fn unnamed(edit: &Edit) -> Option<Mistake> {
    let schema = dh_messages::schema();
    let (name, part) = match edit {
        Edit::Drop { message } => {
            let mut names = schema.messages.iter().map(|it| it.name.as_str());
            let known = names.clone();
            return (!names.any(|it| it == message)).then(|| unknown("message", message, known));
        }
        Edit::Add { shape, .. } | Edit::Renumber { shape } => (shape, None),
        Edit::Widen { shape, name } => (shape, name.as_ref()),
        Edit::Remove { shape, name } | Edit::Move { shape, name, .. } => (shape, Some(name)),
        Edit::Rename { shape, from, .. } => (shape, Some(from)),
    };
    let Some(shape) = schema.shapes.get(name) else {
        return Some(unknown("shape", name, schema.shapes.keys().map(String::as_str)));
    };
    let (part, parts) = (part?, parts(shape));
    let is_there = parts.iter().any(|it| it == part);
    (!is_there).then(|| unknown(&format!("part of {name}"), part, parts.iter().copied()))
}

/// The names of the fields, cases, names or bits of a shape.
fn parts(shape: &Shape) -> Vec<&str> {
    match shape {
        Shape::Record(fields) | Shape::Sparse(_, fields) => {
            fields.iter().map(|it| it.name.as_str()).collect()
        }
        Shape::Union(_, cases) => cases.iter().map(|it| it.name.as_str()).collect(),
        Shape::Enum { members, .. } | Shape::Flags(_, members) => {
            members.iter().map(|(name, _)| name.as_str()).collect()
        }
    }
}

fn change(data: &Map) -> Said<Edit> {
    known("entry of a change", data, CHANGES)?;
    let verbs = ["drop", "add", "remove", "place", "widen", "renumber", "rename"];
    let mut said = verbs.into_iter().filter_map(|verb| Some((verb, data.get(verb)?)));
    let (Some((verb, what)), None) = (said.next(), said.next()) else {
        return Err(wrong(format!("a change: expected one of {}", verbs.join(", "))));
    };
    edit(verb, &text(verb, what)?, data).map_err(|mistake: Mistake| mistake.under(verb))
}

fn edit(verb: &str, what: &str, data: &Map) -> Said<Edit> {
    let (shape, field) = match what.split_once('.') {
        Some((shape, field)) => (shape.to_owned(), Some(field.to_owned())),
        None => (what.to_owned(), None),
    };
    let name = || {
        let name = field.clone();
        name.ok_or_else(|| wrong(format!("expected Shape.field, found {what}")))
    };
    Ok(match verb {
        "drop" => Edit::Drop { message: shape },
        "add" => Edit::Add { name: name()?, at: at(data)?, kind: kind(data)?, shape },
        "remove" => Edit::Remove { name: name()?, shape },
        "place" => Edit::Move { name: name()?, to: at(data)?, shape },
        "widen" => Edit::Widen { name: field, shape },
        "renumber" => Edit::Renumber { shape },
        _ => Edit::Rename { from: name()?, to: said(data, "to")?, shape },
    })
}

fn said(data: &Map, key: &str) -> Said<String> {
    let value = data.get(key).ok_or_else(|| wrong(format!("expected `{key}` beside it")))?;
    text(key, value)
}

fn at(data: &Map) -> Said<usize> {
    let at = data.get("at").map_or(Ok(0), |value| integer("at", value))?;
    usize::try_from(at).map_err(|_| wrong(format!("at: expected 0 or more, found {at}")))
}

fn kind(data: &Map) -> Said<Type> {
    let kind = said(data, "kind")?;
    Type::read(&kind).map_err(|fault| match fault {
        SchemaFault::Expected(_) => wrong(format!(
            "kind: expected a kind as dh wire schema spells it, such as u8, str8(16), \
             optional(f32) or the name of a shape, found \"{kind}\""
        )),
        fault => wrong(format!("kind: {fault}, found \"{kind}\"")),
    })
}
