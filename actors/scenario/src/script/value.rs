//! From what a script says to what the world takes, each with what was expected where it is not.

use std::collections::BTreeMap;

use dh_host::net::{Burst, Link, Links};
use dh_machine::Micros;
use rhai::{Dynamic, Map};

use super::error::{Said, nobody, unknown, wrong};
use super::gathered::Gathered;
use super::limit::NAME_MAX;
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
    let mut told = Gathered::default();
    let read = links_of(value, named, &mut told);
    told.or_first(read)
}

/// The same, and everything that is wrong with it.
pub(super) fn links_of(
    value: &Dynamic,
    named: &BTreeMap<String, Links>,
    told: &mut Gathered,
) -> Links {
    if let Ok(name) = value.clone().into_string() {
        let names = named.keys().map(String::as_str);
        return named.get(&name).copied().unwrap_or_else(|| {
            told.add(nobody("link", &name, names));
            Links::IDEAL
        });
    }
    let data = told.map("link", value);
    if data.contains_key("up") || data.contains_key("down") {
        told.known("entry of a link", &data, WAYS);
        let mut way = |key: &str| match data.get(key) {
            Some(way) => told.under(key, |told| {
                let way = told.map("link", way);
                link(&way, told)
            }),
            None => Link::IDEAL,
        };
        return Links { up: way("up"), down: way("down") };
    }
    Links::both(link(&data, told))
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

fn link(data: &Map, told: &mut Gathered) -> Link {
    told.known("entry of a link", data, LINK);
    let mut figure = |key: &str, max: f64| -> f64 {
        told.entry(data, key, 0.0, |value| match number(key, value)? {
            it if (0.0..=max).contains(&it) => Ok(it),
            found => Err(wrong(format!("expected 0 to {max}, found {found}"))),
        })
    };
    let burst = whole(figure("burst", 10_000.0));
    let mut part = |key: &str| whole(figure(key, 100.0) * 1e4);
    let (loss, duplicate_ppm, reorder_ppm) = (part("loss"), part("duplicate"), part("reorder"));
    let mut span = |key: &str| Micros::from_secs_f64(figure(key, 60_000.0) / 1e3);
    let (latency, draw, tail) = (span("latency"), span("jitter"), span("tail"));
    let (reorder, queue) = (span("held"), span("queue"));
    let bursts = 1 < burst;
    Link {
        latency,
        draw,
        tail,
        loss_ppm: if bursts { 0 } else { loss },
        burst: if bursts { Burst::of(loss, burst) } else { Burst::NONE },
        duplicate_ppm,
        mtu: whole(figure("mtu", 65_535.0)),
        reorder_ppm,
        reorder,
        rate: whole(figure("rate", 4e6) * 1e3),
        queue,
    }
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
