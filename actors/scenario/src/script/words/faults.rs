//! Words that break things on purpose.

use std::net::SocketAddr;

use dh_host::disk::Failure;
use dh_host::net::{Cut, FLOOD_MAX, Hostile};
use rhai::Dynamic;

use super::{PeerHandle, ServerHandle, Words, actors, peers, servers};
use crate::hostile::slow_reader;
use crate::script::deed::DeedKind::Fault;
use crate::script::error::{Said, counted, wrong};
use crate::script::limit::RAIDS_MAX;
use crate::script::stage::{Stage, Strike, Target};
use crate::script::value::{integer, links, micros, number, ordinal};
use crate::world::World;

pub(super) fn register(words: &mut Words) {
    words.group(
        "faults of a peer",
        "at(2, || ada.cut(\"down\"));\n\
         at(4, || ada.heal());\n\
         at(5, || ada.link(#{ latency: 80, loss: 2, burst: 4 }));\n\
         at(6, || ada.panic(\"predictor\"));",
    );
    of_links(words);
    words.word(
        "peer.kill()",
        "Ends it as if its process had died: no goodbye, and its server misses it after 10 s. It \
         is `gone` from then on: what it is told is a mistake.",
        |peer: &mut PeerHandle| peer.stage.to_peer(Fault, peer.at, "is killed", World::kill_peer),
    );
    words.word(
        "peer.panic(\"actor\")",
        "Panics one of its actors at its next message.",
        |peer: &mut PeerHandle, actor: &str| {
            panic_at(&peer.stage, Target::Peer(peer.at), actor, None)
        },
    );
    words.word(
        "peer.panic(\"actor\", n)",
        "Panics one of its actors at its n-th message, counted from its start; asked for twice, it \
         panics over that message again. One that has not come by the end is a mistake of the \
         script.",
        |peer: &mut PeerHandle, actor: &str, nth: Dynamic| {
            panic_at(&peer.stage, Target::Peer(peer.at), actor, Some(nth))
        },
    );
    words.word(
        "peer.delay(seconds)",
        "Makes its next input so much too late, as a stall of its machine does.",
        |peer: &mut PeerHandle, by: Dynamic| {
            let by = micros("delay", &by)?;
            let what = format!("stalls for {} s", by.as_secs_f64());
            peer.stage.to_peer(Fault, peer.at, &what, move |world, id| {
                let path = world.peer_path(id, "predictor");
                world.runtime().registry().faults().delay_deadline(&path, by);
                world.disturb();
            })
        },
    );
    words.word(
        "peer.disk_fail(n)",
        "Has the n-th call of its disk from now on fail.",
        |peer: &mut PeerHandle, nth: Dynamic| {
            let owner = peers::owner(peer)?;
            disk_fail(&peer.stage, owner, &nth)
        },
    );
    words.word(
        "peer.disk_room(bytes)",
        "Leaves so much room on its disk; 0 fills it.",
        |peer: &mut PeerHandle, room: Dynamic| {
            let owner = peers::owner(peer)?;
            disk_room(&peer.stage, owner, &room)
        },
    );
    words.word("peer.disk_free()", "Gives its disk all room again.", |peer: &mut PeerHandle| {
        disk_free(&peer.stage, peers::owner(peer)?)
    });
    of_servers(words);
    raids(words);
}

fn of_servers(words: &mut Words) {
    words.group(
        "faults of a server",
        "at(2, || main.delay_tick(0.5));\n\
         at(3, || main.panic(\"tick\", main.metric(\"tick\", \"handled\") + dice(60)));\n\
         at(4, || main.flood(500, 2));",
    );
    words.word("server.cut()", "Cuts every path to it, both ways.", |server: &mut ServerHandle| {
        server.stage.to_server(Fault, server.at, "is cut off", |world, id| {
            let address = world.server_address_of(id);
            world.runtime().net().isolate(address);
            world.disturb();
        })
    });
    words.word("server.heal()", "Ends what cut() began.", |server: &mut ServerHandle| {
        server.stage.to_server(Fault, server.at, "is healed", |world, id| {
            let address = world.server_address_of(id);
            world.runtime().net().reunite(address);
            world.disturb();
        })
    });
    words.word(
        "server.panic(\"actor\")",
        "Panics one of its actors at its next message.",
        |server: &mut ServerHandle, actor: &str| {
            panic_at(&server.stage, Target::Server(server.at), actor, None)
        },
    );
    words.word(
        "server.panic(\"actor\", n)",
        "Panics one of its actors at its n-th message, counted from its start; asked for twice, it \
         panics over that message again. One that has not come by the end is a mistake of the \
         script.",
        |server: &mut ServerHandle, actor: &str, nth: Dynamic| {
            panic_at(&server.stage, Target::Server(server.at), actor, Some(nth))
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

fn raids(words: &mut Words) {
    words.word(
        "server.flood(rate, seconds)",
        "Garbage from a few sockets, so many packets a second for so long.",
        |server: &mut ServerHandle, rate: Dynamic, seconds: Dynamic| {
            let rate = count("flood", &rate)?;
            let span = micros("flood", &seconds)?;
            raid(server, "is flooded", move |world, to| world.runtime().net().flood(to, rate, span))
        },
    );
    words.word(
        "server.half_open(n)",
        "So many handshakes that never end.",
        |server: &mut ServerHandle, n: Dynamic| {
            let n = count("half_open", &n)?;
            let told = format!("is dialled by {n} who never finish");
            raid(server, &told, move |world, to| world.runtime().net().half_open(to, n))
        },
    );
    words.word(
        "server.deaf(\"name\")",
        "A peer of this name that joins and reads nothing of what it is sent.",
        |server: &mut ServerHandle, name: &str| {
            let name = name.to_owned();
            let told = format!("is joined by {name}, who reads nothing");
            raid(server, &told, move |world, to| {
                slow_reader(world.runtime(), world.transport(), to, &name)
            })
        },
    );
}

/// Something hostile, for the rest of the scenario.
fn raid(
    server: &ServerHandle,
    told: &str,
    begin: impl Fn(&World, SocketAddr) -> Result<Hostile, String> + 'static,
) -> Said<()> {
    let at = server.at;
    let name = server.stage.server_name(at)?;
    server.stage.deed(Fault, format!("{name} {told}"), move |stage| {
        let id = stage.server(at)?;
        let world = stage.world()?;
        if RAIDS_MAX <= stage.0.raids.borrow().len() {
            return Err(wrong(format!("expected at most {RAIDS_MAX} hostile peers and floods")));
        }
        let raid = begin(&world, world.server_address_of(id)).map_err(wrong)?;
        stage.0.raids.borrow_mut().push(raid);
        Ok(())
    })
}

/// What a hostile peer does, by its own draw.
pub(super) fn raid_of_chance(stage: &Stage, at: usize, server: &ServerHandle) -> Said<()> {
    let name = stage.peer_name(at);
    let drawn = stage.0.seeds.bytes(&format!("raid {name}"))[0];
    match drawn % 3 {
        0 => raid(server, &format!("is flooded by {name}"), |world, to| {
            world.runtime().net().flood(to, 500, dh_machine::Micros::from_secs(10))
        }),
        1 => raid(server, &format!("is dialled by {name}, who never finishes"), |world, to| {
            world.runtime().net().half_open(to, 16)
        }),
        _ => raid(server, &format!("is joined by {name}, who reads nothing"), move |world, to| {
            slow_reader(world.runtime(), world.transport(), to, &name)
        }),
    }
}

fn count(word: &str, value: &Dynamic) -> Said<u32> {
    let count = u32::try_from(integer(word, value)?).ok().filter(|it| *it <= FLOOD_MAX);
    count.ok_or_else(|| wrong(format!("{word}: expected 0 to {FLOOD_MAX}")))
}

fn of_links(words: &mut Words) {
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
        cut(peer, Cut::BOTH, "is cut off")
    });
    words.word(
        "peer.cut(\"up\")",
        "Lets nothing pass in one direction: up, to the server, or down.",
        |peer: &mut PeerHandle, way: &str| match way {
            "up" => cut(peer, Cut::UP, "is cut off upwards"),
            "down" => cut(peer, Cut::DOWN, "is cut off downwards"),
            other => Err(wrong(format!("cut: expected up or down, found {other}"))),
        },
    );
    words.word("peer.heal()", "Ends what cut() began.", |peer: &mut PeerHandle| {
        cut(peer, Cut::NONE, "is healed")
    });
    words.word(
        "peer.rebind()",
        "Has the network see it at another address from now on.",
        |peer: &mut PeerHandle| {
            peer.stage.to_peer(Fault, peer.at, "gets another address", |world, id| {
                world.rebind(id);
            })
        },
    );
}

fn cut(peer: &PeerHandle, what: Cut, told: &str) -> Said<()> {
    peer.stage.to_peer(Fault, peer.at, told, move |world, id| world.cut(id, what))
}

/// Where an actor stands in the tree; none of a peer that was left out of this run.
pub(super) fn path_of(stage: &Stage, whose: Target, actor: &str) -> Said<Option<String>> {
    actors::check(matches!(whose, Target::Server(_)), actor)?;
    Ok(match whose {
        Target::Server(at) => {
            let id = stage.server(at)?;
            Some(stage.world()?.server_path(id, actor))
        }
        Target::Peer(at) => {
            stage.is_player(at)?;
            let id = stage.peer(at);
            let world = stage.world()?;
            world.has_peer(id).then(|| world.peer_path(id, actor))
        }
    })
}

/// Plan a panic at the n-th message of an actor, or at its next one.
fn panic_at(stage: &Stage, whose: Target, actor: &str, nth: Option<Dynamic>) -> Said<()> {
    let nth = nth.map(|nth| ordinal("panic", &nth)).transpose()?;
    let name = stage.name_of(whose)?;
    let which = nth.map_or_else(|| "its next message".to_owned(), |nth| format!("message {nth}"));
    let (what, place) = (format!("{name} panics: {actor} at {which}"), stage.0.place.get());
    let actor = actor.to_owned();
    stage.deed(Fault, what, move |stage| {
        if let Target::Peer(at) = whose {
            stage.is_there(at)?;
        }
        let Some(path) = path_of(stage, whose, &actor)? else { return Ok(()) };
        let actor = format!("{actor} of {name}");
        let world = stage.world()?;
        let registry = world.runtime().registry();
        let past = registry.report(&path).map_or(0, |report| actors::taken(&report));
        let nth = nth.unwrap_or(past + 1);
        if nth <= past {
            return Err(wrong(format!(
                "panic: {actor} has had {}, so message {nth} is past; expected a larger number, \
                 or none for its next message",
                counted(past, "message")
            )));
        }
        registry.faults().panic_at(&path, nth);
        stage.0.strikes.borrow_mut().push(Strike { path, nth, actor, place });
        Ok(())
    })
}

fn disk_fail(stage: &Stage, owner: String, nth: &Dynamic) -> Said<()> {
    let nth = ordinal("disk_fail", nth)?;
    stage.deed(Fault, format!("{owner}: call {nth} of the disk fails"), move |stage| {
        let mut contents = stage.0.contents.borrow_mut();
        contents.disk(&owner).faulty.fail_nth(nth, Failure::Io);
        Ok(())
    })
}

fn disk_free(stage: &Stage, owner: String) -> Said<()> {
    stage.deed(Fault, format!("{owner}: room again"), move |stage| {
        stage.0.contents.borrow_mut().disk(&owner).faulty.make_room();
        Ok(())
    })
}

fn disk_room(stage: &Stage, owner: String, room: &Dynamic) -> Said<()> {
    let room = number("disk_room", room)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    let room = if (0.0..1e15).contains(&room) { Some(room as u64) } else { None };
    let room = room.ok_or_else(|| wrong("disk_room: expected bytes, 0 or more"))?;
    stage.deed(Fault, format!("{owner}: room for {}", counted(room, "byte")), move |stage| {
        stage.0.contents.borrow_mut().disk(&owner).faulty.fill(room);
        Ok(())
    })
}
