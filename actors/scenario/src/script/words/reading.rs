//! Words that read what servers and peers are, know and did.

use dh_machine::Tick;
use dh_prefs::{Preference, Problem, Value};
use rhai::{Array, Dynamic, Map};

use super::actors::{self, no_figure};
use super::faults::path_of;
use super::{Handle, PeerHandle, ServerHandle, Words};
use crate::records::{PeerRecord, ServerRecord};
use crate::script::error::{Said, wrong, wrong_pref};
use crate::script::stage::{Stage, Target};
use crate::world::Standing;

pub(super) fn register(words: &mut Words) {
    words.group(
        "reading a peer",
        "eventually(\"ada has the new map\", || ada.playing && ada.position.y > -9.0);\n\
         at(5, || print(ada.name + \" sees \" + ada.sees));",
    );
    peers(words);
    words.group(
        "reading a server",
        "expect_within(2, \"ada is here\", || main.players.contains(\"ada\"));\n\
         never(\"it is late\", || main.metric(\"tick\", \"late_ms\") > 50.0);",
    );
    servers(words);
}

fn peers(words: &mut Words) {
    words.reading("peer.name", "Its name.", |peer: &mut PeerHandle| {
        Ok(peer.stage.peer_name(peer.at))
    });
    words.reading("peer.playing", "Whether it plays.", |peer: &mut PeerHandle| {
        of_peer(peer, PeerRecord::is_playing)
    });
    words.reading(
        "peer.state",
        "`connecting`, `loading`, `playing` or `disconnected`; `gone` once it was killed, empty \
         before it was told to join.",
        |peer: &mut PeerHandle| of_peer(peer, |record| record.state.to_owned()),
    );
    words.reading(
        "peer.map",
        "The barcode of the map it has loaded, empty for the gray box.",
        |peer: &mut PeerHandle| {
            let id = peer.stage.peer(peer.at);
            let world = peer.stage.world()?;
            let records = world.records();
            let record = records.peer(id);
            let joined = world.joined(id).map(|server| records.server(server));
            let newest = record.loaded.last().copied();
            let stands = joined.and_then(|server| {
                server.maps.iter().find(|(_, generation)| Some(*generation) == newest)
            });
            Ok(stands.map_or_else(|| record.map.clone(), |(map, _)| map.clone()))
        },
    );
    words.reading(
        "peer.slot",
        "The roster slot it was last given; -1 before.",
        |peer: &mut PeerHandle| {
            of_peer(peer, |record| record.spawns.last().map_or(-1, |(slot, ..)| i64::from(*slot)))
        },
    );
    words.reading("peer.spawns", "How often it was given a pawn.", |peer: &mut PeerHandle| {
        of_peer(peer, |record| count(record.spawns.len()))
    });
    words.reading(
        "peer.position",
        "Where its feet are by the newest snapshot: #{ x, y, z }, metres.",
        |peer: &mut PeerHandle| of_peer(peer, position),
    );
    words.reading("peer.sees", "The entities in its newest snapshot.", |peer: &mut PeerHandle| {
        of_peer(peer, |record| {
            record.newest.as_ref().map_or(0, |(_, snapshot)| count(snapshot.records.len()))
        })
    });
    predictions(words);
    feed(words);
}

fn predictions(words: &mut Words) {
    words.reading(
        "peer.correction",
        "The largest correction of its prediction so far, metres.",
        |peer: &mut PeerHandle| of_peer(peer, |record| f64::from(record.correction_max)),
    );
    words.reading(
        "peer.corrected",
        "How many of its predictions were corrected.",
        |peer: &mut PeerHandle| of_peer(peer, |record| big(record.corrected)),
    );
    words.reading(
        "peer.confirmed",
        "How many of its predictions were confirmed.",
        |peer: &mut PeerHandle| of_peer(peer, |record| big(record.confirmed)),
    );
}

fn feed(words: &mut Words) {
    words.reading(
        "peer.downloaded",
        "Bytes of its newest transfer of content that have come.",
        |peer: &mut PeerHandle| of_peer(peer, |it| big(it.download.map_or(0, |it| it.received))),
    );
    words.reading(
        "peer.loaded",
        "The generations of the maps it loaded, in order.",
        |peer: &mut PeerHandle| {
            of_peer(peer, |record| -> Array {
                record.loaded.iter().map(|it| Dynamic::from(i64::from(*it))).collect()
            })
        },
    );
    words.reading(
        "peer.endings",
        "How its sessions ended: an array of #{ kind, reason }.",
        |peer: &mut PeerHandle| of_peer(peer, endings),
    );
    words.reading(
        "peer.chat",
        "The lines of chat it heard: an array of #{ kind, slot, name, text }.",
        |peer: &mut PeerHandle| of_peer(peer, chat),
    );
    words.reading(
        "peer.answers",
        "The answers of its server's console to it, in order.",
        |peer: &mut PeerHandle| {
            of_peer(peer, |record| texts(record.answers.iter().map(|(_, text)| text)))
        },
    );
    words.reading("peer.lines", "The lines of its feed and console.", |peer: &mut PeerHandle| {
        of_peer(peer, |record| texts(record.lines.iter()))
    });
    words.reading("peer.tick", "The tick of its newest snapshot.", |peer: &mut PeerHandle| {
        of_peer(peer, |record| {
            record.newest.as_ref().map_or(0, |(_, snapshot)| i64::from(snapshot.head.tick))
        })
    });
    words.reading(
        "peer.depth",
        "Its inputs that wait on the server; below 0 for ticks that found none.",
        |peer: &mut PeerHandle| {
            of_peer(peer, |record| {
                let newest = record.newest.as_ref();
                newest.map_or(0, |(_, snapshot)| i64::from(snapshot.head.owner.0.depth))
            })
        },
    );
    words.word(
        "peer.metric(\"actor\", \"figure\")",
        "A figure of one of its actors, such as `predictor`, `restarts`; 0 once it was killed.",
        |peer: &mut PeerHandle, actor: &str, figure: &str| -> Said<Dynamic> {
            metric(peer, Target::Peer(peer.at), actor, figure)
        },
    );
}

fn servers(words: &mut Words) {
    words.reading("server.name", "Its name.", |server: &mut ServerHandle| -> Said<String> {
        server.stage.server_name(server.at)
    });
    words.reading("server.tick", "Its newest tick.", |server: &mut ServerHandle| {
        of_server(server, |record| record.last_tick.map_or(0, |(Tick(tick), _)| i64::from(tick)))
    });
    words.reading(
        "server.pawns",
        "The pawns of its newest tick; 0 while it does not run.",
        |server: &mut ServerHandle| of_running(server, |record| i64::from(record.pawns)),
    );
    words.reading(
        "server.entities",
        "The entities of its newest tick; 0 while it does not run.",
        |server: &mut ServerHandle| {
            of_running(server, |record| record.frames.back().map_or(0, |it| count(it.len())))
        },
    );
    words.reading(
        "server.players",
        "The names of who plays there now; none while it does not run.",
        |server: &mut ServerHandle| {
            of_running(server, |record| {
                let here = record
                    .sessions
                    .values()
                    .filter(|session| session.state == "playing" && session.ended.is_none());
                texts(here.filter_map(|session| session.name.as_ref()))
            })
        },
    );
    words.reading(
        "server.generation",
        "The generation of the map that stands.",
        |server: &mut ServerHandle| {
            of_server(server, |record| {
                record.frames.back().map_or(0, |frame| i64::from(frame.generation()))
            })
        },
    );
    transcript(words);
}

fn transcript(words: &mut Words) {
    words.reading(
        "server.map",
        "The barcode of the map that stands, as it was last told; empty for the first.",
        |server: &mut ServerHandle| {
            of_server(server, |it| it.maps.last().map_or(String::new(), |(map, _)| map.clone()))
        },
    );
    words.reading("server.lines", "The lines of its transcript.", |server: &mut ServerHandle| {
        of_server(server, |record| texts(record.lines.iter()))
    });
    words.reading(
        "server.answers",
        "The answers of its console, in order.",
        |server: &mut ServerHandle| {
            of_server(server, |record| texts(record.answers.iter().map(|(_, text)| text)))
        },
    );
    words.reading(
        "server.left",
        "Why its sessions ended, in the order they began.",
        |server: &mut ServerHandle| {
            of_server(server, |it| texts(it.sessions.values().filter_map(|it| it.ended.as_ref())))
        },
    );
    words.word(
        "server.metric(\"actor\", \"figure\")",
        "A figure of one of its actors, such as `tick`, `late_ms`; 0 while it does not run.",
        |server: &mut ServerHandle, actor: &str, figure: &str| -> Said<Dynamic> {
            metric(server, Target::Server(server.at), actor, figure)
        },
    );
    words.word(
        "server.pref(\"key\")",
        "The value of one of its preferences as it stands, as a text.",
        |server: &mut ServerHandle, key: &str| -> Said<String> {
            let id = server.stage.server(server.at)?;
            let prefs = server.stage.world()?.running(id).directory().prefs();
            let preference = preference(key)?;
            Ok(prefs
                .value(preference)
                .map_or_else(|| preference.standard.to_string(), Value::to_string))
        },
    );
}

/// The preference of this name.
pub(super) fn preference(key: &str) -> Said<&'static Preference> {
    dh_prefs::find(key).ok_or_else(|| wrong_pref(Problem::unknown(key)))
}

/// A figure of an actor of a server or a peer, noted as read.
fn metric(of: &impl Handle, whose: Target, actor: &str, name: &str) -> Said<Dynamic> {
    let read = figure(of.stage(), whose, actor, name)?;
    of.noted(|| format!("metric({actor:?}, {name:?})"), &read);
    Ok(read)
}

fn figure(stage: &Stage, whose: Target, actor: &str, name: &str) -> Said<Dynamic> {
    let path = path_of(stage, whose, actor)?;
    if is_down(stage, whose)? {
        return nothing(name);
    }
    let world = stage.world()?;
    let report = path.and_then(|path| world.runtime().registry().report(&path));
    let report = report.ok_or_else(|| {
        wrong(format!("metric: no {actor} is there now; expected one that has started"))
    })?;
    let total = report.port.total();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds need few bits")]
    let millis = |ns: u64| Dynamic::from(ns as f64 / 1e6);
    Ok(match name {
        "depth" => big(total.depth).into(),
        "peak" => count(report.port.control.peak.max(report.port.data.peak)).into(),
        "offered" => big(total.offered).into(),
        "handled" => big(total.handled).into(),
        "refused" => big(total.refused).into(),
        "dropped" => big(total.dropped + total.coalesced).into(),
        "lost" => big(total.lost).into(),
        "panics" => big(report.panics).into(),
        "restarts" => big(report.restarts).into(),
        "late_ms" => millis(report.late.p99_ns),
        "wait_ms" => millis(report.wait.p99_ns),
        other => return Err(no_figure(other)),
    })
}

/// Whether a server does not run, or a peer was killed.
fn is_down(stage: &Stage, whose: Target) -> Said<bool> {
    match whose {
        Target::Server(at) => Ok(stage.world()?.standing(stage.server(at)?) != Standing::Runs),
        Target::Peer(at) => Ok(stage.is_gone(at)),
    }
}

/// A figure of an actor that is not there.
fn nothing(figure: &str) -> Said<Dynamic> {
    match actors::FIGURES.iter().any(|(known, _)| *known == figure) {
        true if figure.ends_with("_ms") => Ok(0.0.into()),
        true => Ok(0.into()),
        false => Err(no_figure(figure)),
    }
}

fn of_peer<T>(peer: &mut PeerHandle, read: impl FnOnce(&PeerRecord) -> T) -> Said<T> {
    let id = peer.stage.peer(peer.at);
    let world = peer.stage.world()?;
    let records = world.records();
    Ok(read(records.peer(id)))
}

fn of_server<T>(server: &mut ServerHandle, read: impl FnOnce(&ServerRecord) -> T) -> Said<T> {
    let id = server.stage.server(server.at)?;
    let world = server.stage.world()?;
    let records = world.records();
    Ok(read(records.server(id)))
}

/// What a server that runs has; nothing of one that was stopped or killed.
fn of_running<T: Default>(
    server: &mut ServerHandle,
    read: impl FnOnce(&ServerRecord) -> T,
) -> Said<T> {
    let is_down = is_down(&server.stage, Target::Server(server.at))?;
    if is_down { Ok(T::default()) } else { of_server(server, read) }
}

fn position(record: &PeerRecord) -> Map {
    let newest = record.newest.as_ref();
    let [x, y, z] = newest.map_or([0.0; 3], |(_, snapshot)| snapshot.head.owner.0.position);
    let axes = [("x", x), ("y", y), ("z", z)];
    axes.map(|(name, at)| (name.into(), Dynamic::from(f64::from(at)))).into_iter().collect()
}

fn endings(record: &PeerRecord) -> Array {
    let ending = |end: &dh_client::SessionEnd| {
        let (kind, reason) = (format!("{:?}", end.kind), end.reason.clone().unwrap_or_default());
        let pairs = [("kind", kind), ("reason", reason)];
        let map: Map = pairs.map(|(key, it)| (key.into(), Dynamic::from(it))).into_iter().collect();
        Dynamic::from_map(map)
    };
    record.endings.iter().map(ending).collect()
}

fn chat(record: &PeerRecord) -> Array {
    let line = |line: &dh_messages::ServerChat| {
        let slot = Dynamic::from(i64::from(line.slot));
        let text = |it: &str| Dynamic::from(it.to_owned());
        let kind = text(line.kind.name());
        let (name, said) = (text(line.name.as_str()), text(line.text.as_str()));
        let pairs = [("kind", kind), ("slot", slot), ("name", name), ("text", said)];
        Dynamic::from_map(pairs.map(|(key, it)| (key.into(), it)).into_iter().collect::<Map>())
    };
    record.chat.iter().map(line).collect()
}

fn texts<'a>(lines: impl Iterator<Item = &'a String>) -> Array {
    lines.map(|line| Dynamic::from(line.clone())).collect()
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn big(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
