//! Builds as scripts say them: one that is known by name, or an array of changes.

use dh_wire::schema::{Edit, Type};
use rhai::{Dynamic, Map};

use super::error::{Mistake, Said, Under as _, unknown, wrong};
use super::plan::known;
use super::value::{integer, shown, text};
use super::words::Entries;
use crate::build::OtherBuild;

/// The changes, by the entry that names what is changed.
pub(super) const CHANGES: Entries = &[
    ("drop", "a message that it does not have, as in serverChat"),
    ("add", "a field that it has besides, as in ClientInfo.locale; needs kind, takes at"),
    ("remove", "a field, case, name or bit that it does not have"),
    ("place", "a field or case that stands elsewhere; needs at"),
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
    build.check().map_err(|why| wrong(why.to_string()))?;
    Ok(build)
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
    Type::read(&kind).map_err(|fault| wrong(format!("kind: {fault}, found {kind}")))
}
