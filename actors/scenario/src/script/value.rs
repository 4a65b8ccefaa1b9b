//! From what a script says to what the world takes, each with what was expected where it is not.

use std::collections::BTreeMap;

use dh_host::net::{Burst, Link, Links};
use dh_machine::Micros;
use rhai::{Dynamic, Map};

use super::error::{Said, Under as _, nobody, unknown, wrong};
use super::limit::NAME_MAX;
use super::plan::{known, map};
use super::words::{Entries, told::type_name};
use crate::roles::Role;

/// A number.
pub(super) fn number(what: &str, value: &Dynamic) -> Said<f64> {
    #[expect(clippy::cast_precision_loss, reason = "what a script counts is small")]
    let number = value.as_float().or_else(|_| value.as_int().map(|it| it as f64));
    let number = number.ok().filter(|it| it.is_finite());
    number.ok_or_else(|| wrong(format!("{what}: expected a number, found {}", shown(value))))
}

/// A whole number.
pub(super) fn integer(what: &str, value: &Dynamic) -> Said<i64> {
    value
        .as_int()
        .map_err(|_| wrong(format!("{what}: expected a whole number, found {}", shown(value))))
}

/// A number counted from 1.
pub(super) fn ordinal(what: &str, value: &Dynamic) -> Said<u64> {
    let found = integer(what, value)?;
    let number = u64::try_from(found).ok().filter(|number| *number > 0);
    number.ok_or_else(|| wrong(format!("{what}: expected 1 or more, found {found}")))
}

/// A span in seconds, 0 or more.
pub(super) fn micros(what: &str, value: &Dynamic) -> Said<Micros> {
    let seconds = number(what, value)?;
    if !(0.0..=1e6).contains(&seconds) {
        return Err(wrong(format!("{what}: expected 0 seconds or more, found {seconds}")));
    }
    Ok(Micros::from_secs_f64(seconds))
}

/// A text.
pub(super) fn text(what: &str, value: &Dynamic) -> Said<String> {
    let text = value.clone().into_string();
    text.map_err(|_| wrong(format!("{what}: expected a text, found {}", shown(value))))
}

/// True or false.
pub(super) fn truth(what: &str, value: &Dynamic) -> Said<bool> {
    value
        .as_bool()
        .map_err(|_| wrong(format!("{what}: expected true or false, found {}", shown(value))))
}

/// A role by its name.
pub(super) fn role(name: &str) -> Said<Role> {
    let found = Role::ALL.iter().find(|(known, ..)| *known == name);
    let names = Role::ALL.iter().map(|(name, ..)| *name);
    found.map(|(_, role, _)| *role).ok_or_else(|| unknown("role", name, names))
}

/// A path: the name of a link, a link for both ways, or `#{up: ..., down: ...}`.
pub(super) fn links(value: &Dynamic, named: &BTreeMap<String, Links>) -> Said<Links> {
    if let Ok(name) = value.clone().into_string() {
        let found = named.get(&name).copied();
        let names = named.keys().map(String::as_str);
        return found.ok_or_else(|| nobody("link", &name, names));
    }
    let data = map("link", value)?;
    if data.contains_key("up") || data.contains_key("down") {
        known("entry of a link", &data, WAYS)?;
        let read = |way: &Dynamic| link(&map("link", way)?);
        let way = |key: &str| data.get(key).map_or(Ok(Link::IDEAL), |way| read(way).under(key));
        return Ok(Links { up: way("up")?, down: way("down")? });
    }
    Ok(Links::both(link(&data)?))
}

/// The entries of a path whose directions differ.
pub(super) const WAYS: Entries = &[
    ("up", "the link to the server; ideal unless said"),
    ("down", "the link from the server; ideal unless said"),
];

/// The entries of one direction of a link, and what each means.
pub(super) const LINK: Entries = &[
    ("latency", "milliseconds a packet takes"),
    ("jitter", "milliseconds it takes more or less, drawn for each packet"),
    ("tail", "milliseconds a packet may take more, nearly always far less"),
    ("loss", "percent of packets that are lost"),
    ("burst", "how many packets a loss takes with it on average; 0 or 1 for each its own"),
    ("duplicate", "percent of packets that arrive twice"),
    ("mtu", "bytes of the largest packet that passes; 0 for any"),
    ("reorder", "percent of packets that are held back"),
    ("held", "milliseconds by which they are held back"),
    ("rate", "kilobytes a second that pass; 0 for no limit"),
    ("queue", "milliseconds a packet may wait for the rate; more is lost"),
];

fn link(data: &Map) -> Said<Link> {
    known("entry of a link", data, LINK)?;
    let figure = |key: &str, max: f64| -> Said<f64> {
        let Some(value) = data.get(key) else { return Ok(0.0) };
        let figure = number(key, value).under(key)?;
        if (0.0..=max).contains(&figure) {
            Ok(figure)
        } else {
            Err(wrong(format!("expected 0 to {max}, found {figure}"))).under(key)
        }
    };
    let span = |key: &str| figure(key, 60_000.0).map(|ms| Micros::from_secs_f64(ms / 1e3));
    let part = |key: &str| figure(key, 100.0).map(|percent| whole(percent * 1e4));
    let burst = whole(figure("burst", 10_000.0)?);
    let bursts = 1 < burst;
    Ok(Link {
        latency: span("latency")?,
        draw: span("jitter")?,
        tail: span("tail")?,
        loss_ppm: if bursts { 0 } else { part("loss")? },
        burst: if bursts { Burst::of(part("loss")?, burst) } else { Burst::NONE },
        duplicate_ppm: part("duplicate")?,
        mtu: whole(figure("mtu", 65_535.0)?),
        reorder_ppm: part("reorder")?,
        reorder: span("held")?,
        rate: whole(figure("rate", 4e6)? * 1e3),
        queue: span("queue")?,
    })
}

/// The nearest whole number; what comes here is checked to fit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
fn whole(figure: f64) -> u32 {
    figure.round() as u32
}

/// What a peer or a server may be called: it stands in lines and in the tree of actors.
pub(super) fn called(kind: &str, name: &str) -> Said<()> {
    let is_plain = !name.contains(|it: char| it.is_control() || it == '/') && name.trim() == name;
    if is_plain && (1..=NAME_MAX).contains(&name.chars().count()) {
        return Ok(());
    }
    Err(wrong(format!(
        "\"{name}\" is no name of a {kind}; expected 1 to {NAME_MAX} characters, none of them a / \
         or a control character, and no blank at its ends"
    )))
}

/// A value in an error: what it is, and how it is written where that is short.
pub(super) fn shown(value: &Dynamic) -> String {
    let is_plain = value.is_int() || value.is_float() || value.is_bool() || value.is_string();
    if !is_plain {
        return type_name(value.type_name()).to_owned();
    }
    let text: String = value.to_string().chars().take(40).collect();
    format!("{} `{text}`", value.type_name())
}
