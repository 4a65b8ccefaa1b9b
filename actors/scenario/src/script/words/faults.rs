//! Words that break things on purpose.

use dh_host::net::Links;
use rhai::Dynamic;

use super::{PeerHandle, ServerHandle, Words, peers, servers};
use crate::script::deed::DeedKind::Fault;
use crate::script::error::{Said, wrong};
use crate::script::stage::{Stage, Target};
use crate::script::value::{integer, links, micros, number};

pub(super) fn register(words: &mut Words<'_>) {
    words.group("faults of a peer");
    of_links(words);
    words.word(
        "peer.kill()",
        "Ends it as if its process had died: no goodbye.",
        |peer: &mut PeerHandle| {
            peer.stage.to_peer(Fault, peer.at, "is killed", |world, id| world.kill_peer(id))
        },
    );
    words.word(
        "peer.panic(\"actor\", n)",
        "Panics one of its actors at its n-th message, counted from its start.",
        |peer: &mut PeerHandle, actor: &str, nth: Dynamic| {
            panic_at(&peer.stage, Target::Peer(peer.at), actor, &nth)
        },
    );
    words.word(
        "peer.disk_fail(n)",
        "Has the n-th call of its disk from now on fail.",
        |peer: &mut PeerHandle, nth: Dynamic| {
            let owner = peers::owner(peer);
            disk_fail(&peer.stage, owner, &nth)
        },
    );
    words.word(
        "peer.disk_room(bytes)",
        "Leaves so much room on its disk; 0 fills it.",
        |peer: &mut PeerHandle, room: Dynamic| {
            let owner = peers::owner(peer);
            disk_room(&peer.stage, owner, &room)
        },
    );
    words.group("faults of a server");
    words.word(
        "server.panic(\"actor\", n)",
        "Panics one of its actors at its n-th message, counted from its start.",
        |server: &mut ServerHandle, actor: &str, nth: Dynamic| {
            panic_at(&server.stage, Target::Server(server.at), actor, &nth)
        },
    );
    words.word(
        "server.delay_tick(seconds)",
        "Starts its next tick so much too late.",
        |server: &mut ServerHandle, by: Dynamic| {
            let by = micros("delay_tick", &by)?;
            let what = format!("ticks {} s late", by.as_secs_f64());
            server.stage.to_server(Fault, server.at, &what, move |world, id| {
                let path = world.server_path(id, "tick");
                world.runtime().registry().faults().delay_deadline(&path, by);
            })
        },
    );
    words.word(
        "server.disk_fail(n)",
        "Has the n-th call of its disk from now on fail.",
        |server: &mut ServerHandle, nth: Dynamic| {
            let owner = servers::owner(server)?;
            disk_fail(&server.stage, owner, &nth)
        },
    );
    words.word(
        "server.disk_room(bytes)",
        "Leaves so much room on its disk; 0 fills it.",
        |server: &mut ServerHandle, room: Dynamic| {
            let owner = servers::owner(server)?;
            disk_room(&server.stage, owner, &room)
        },
    );
}

fn of_links(words: &mut Words<'_>) {
    words.word(
        "peer.link(link)",
        "Changes what its path does, from the next packet on: a name of `links`, one link for \
         both ways, or #{ up, down }.",
        |peer: &mut PeerHandle, link: Dynamic| {
            let links = links(&link, &peer.stage.plan()?.links)?;
            peer.stage.0.peers.borrow_mut()[peer.at].plan.links = links;
            peer.stage.to_peer(Fault, peer.at, "gets another link", move |world, id| {
                world.relink(id, links);
            })
        },
    );
    words.word("peer.cut()", "Lets nothing pass, either way.", |peer: &mut PeerHandle| {
        peer.stage.to_peer(Fault, peer.at, "is cut off", |world, id| world.relink(id, Links::CUT))
    });
    words.word(
        "peer.cut(\"up\")",
        "Lets nothing pass in one direction: up, to the server, or down.",
        |peer: &mut PeerHandle, way: &str| {
            let mut links = peer.stage.0.peers.borrow()[peer.at].plan.links;
            match way {
                "up" => links.up = dh_host::net::Link::CUT,
                "down" => links.down = dh_host::net::Link::CUT,
                other => return Err(wrong(format!("cut: expected up or down, found {other}"))),
            }
            let what = format!("is cut off {way}wards");
            peer.stage.to_peer(Fault, peer.at, &what, move |world, id| world.relink(id, links))
        },
    );
    words.word("peer.heal()", "Gives it back the link it had.", |peer: &mut PeerHandle| {
        let links = peer.stage.0.peers.borrow()[peer.at].plan.links;
        peer.stage.to_peer(Fault, peer.at, "is healed", move |world, id| world.relink(id, links))
    });
}

/// Where an actor stands in the tree.
pub(super) fn path_of(stage: &Stage, whose: Target, actor: &str) -> Said<String> {
    if actor.is_empty() || actor.len() > 200 {
        return Err(wrong(format!("expected the name of an actor, found \"{actor}\"")));
    }
    Ok(match whose {
        Target::Server(at) => {
            let id = stage.server(at)?;
            stage.world()?.server_path(id, actor)
        }
        Target::Peer(at) => {
            let id = stage.peer(at);
            let world = stage.world()?;
            if world.has_peer(id) { world.peer_path(id, actor) } else { format!("/{actor}") }
        }
    })
}

fn panic_at(stage: &Stage, whose: Target, actor: &str, nth: &Dynamic) -> Said<()> {
    let nth = integer("panic", nth)?;
    let nth = u64::try_from(nth).ok().filter(|nth| *nth > 0);
    let nth = nth.ok_or_else(|| wrong("panic: expected the number of a message, from 1"))?;
    let name = match whose {
        Target::Server(at) => stage.plan()?.servers[at].name.clone(),
        Target::Peer(at) => stage.0.peers.borrow()[at].plan.name.clone(),
    };
    let actor = actor.to_owned();
    stage.deed(Fault, format!("{name} panics: {actor} at message {nth}"), move |stage| {
        let path = path_of(stage, whose, &actor)?;
        stage.world()?.runtime().registry().faults().panic_at(&path, nth);
        Ok(())
    })
}

fn disk_fail(stage: &Stage, owner: String, nth: &Dynamic) -> Said<()> {
    let nth = u64::try_from(integer("disk_fail", nth)?).ok().filter(|nth| *nth > 0);
    let nth = nth.ok_or_else(|| wrong("disk_fail: expected the number of a call, from 1"))?;
    stage.deed(Fault, format!("{owner}: call {nth} of the disk fails"), move |stage| {
        stage.0.contents.borrow_mut().disk(&owner).break_it(|faults| faults.nth = Some(nth));
        Ok(())
    })
}

fn disk_room(stage: &Stage, owner: String, room: &Dynamic) -> Said<()> {
    let room = number("disk_room", room)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    let room = if (0.0..1e15).contains(&room) { Some(room as u64) } else { None };
    let room = room.ok_or_else(|| wrong("disk_room: expected bytes, 0 or more"))?;
    stage.deed(Fault, format!("{owner}: room for {room} bytes"), move |stage| {
        stage.0.contents.borrow_mut().disk(&owner).break_it(|faults| faults.room = Some(room));
        Ok(())
    })
}
