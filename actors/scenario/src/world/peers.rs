//! The peers of a world: started, joined, steered, cut off and killed.

use dh_client::{
    CameraMode, Client, ClientOptions, Controls, Dialer, Manner, Observer as ClientObserver, Pilot,
    Wish,
};
use dh_host::net::{Cut, Links, Whose};
use dh_messages::{Buttons, Direction};
use dh_prefs::Address;

use super::{RunningPeer, World};
use crate::build;
use crate::invariants::Line;
use crate::peer::{PeerId, PeerSetup};
use crate::recorder::{Heard, RecorderMsg};
use crate::scenario::Transport;
use crate::server::ServerId;

impl World {
    /// Start a peer; it is nowhere until told to join.
    pub fn peer(&mut self, setup: PeerSetup) -> PeerId {
        let id = PeerId(u32::try_from(self.peers.len()).expect("peers fit 32 bits"));
        let PeerSetup { name, links, manner, prefs, inside, content, build } = setup;
        let scope = self.runtime.root().child(format!("peer-{name}"));
        let (whose, closely) = (id, self.closely);
        let hear = move |event| RecorderMsg::Client(Heard { whose, event });
        let identity = self.identity(&name);
        let key = identity.key().to_string();
        let mut dialer = Dialer::new(identity);
        dialer.links = links;
        dialer.shaped = true;
        dialer.through_memory = match (inside, self.transport) {
            (true, _) => Some(Whose::Host),
            (false, Transport::Memory) => Some(Whose::Guest),
            (false, Transport::Quic) => None,
        };
        let options = ClientOptions {
            dialer,
            builds: build::process(build.as_ref(), Direction::ToClient),
            content,
            prefs,
            fallback_name: name.clone(),
            controls: self.controls(&name, manner),
            camera: CameraMode::Map,
            observer: ClientObserver::new(self.recorder.inlet(hear), closely),
        };
        let client = Client::start(&scope, &self.gray_box, options);
        let (wish, joined, disturbed) = (Wish::default(), None, self.runtime.now());
        self.peers.push(RunningPeer {
            client,
            scope,
            name,
            key,
            wish,
            links,
            cut: Cut::NONE,
            joined,
            disturbed,
        });
        id
    }

    /// Have a peer join a server.
    pub fn join(&mut self, peer: PeerId, server: ServerId) {
        let address = self.server_address_of(server);
        let address = Address { host: address.ip().to_string(), port: address.port() };
        let now = self.runtime.now();
        let peer = &mut self.peers[peer.0 as usize];
        (peer.joined, peer.disturbed) = (Some(server), now);
        peer.client.connect(Some(address));
    }

    /// Have a peer leave.
    pub fn disconnect(&mut self, peer: PeerId) {
        self.peers[peer.0 as usize].client.disconnect();
    }

    /// Have a peer say a line.
    pub fn say(&mut self, peer: PeerId, line: &str) {
        if line.chars().any(char::is_alphanumeric)
            && let Some(said) = Line::of(self, peer)
        {
            self.records().note_said(said);
        }
        self.peers[peer.0 as usize].client.chat(line);
    }

    /// End a peer as if its process had died: what its connection would still say is lost.
    pub fn kill_peer(&mut self, peer: PeerId) {
        self.records().peer_dies(peer);
        let peer = &mut self.peers[peer.0 as usize];
        peer.joined = None;
        peer.client.path().cut(Cut::BOTH);
        peer.scope.kill();
    }

    /// Change what a peer's path does to packets, from the next one on. Links do as they are told
    /// only where there were some before, so a real path needs them from the start.
    pub fn relink(&mut self, peer: PeerId, links: Links) {
        let now = self.runtime.now();
        let peer = &mut self.peers[peer.0 as usize];
        (peer.links, peer.disturbed) = (links, now);
        peer.client.relink(links);
    }

    /// Cut a peer's path in these directions, whatever its links; or end that.
    pub fn cut(&mut self, peer: PeerId, cut: Cut) {
        let now = self.runtime.now();
        let peer = &mut self.peers[peer.0 as usize];
        (peer.cut, peer.disturbed) = (cut, now);
        peer.client.path().cut(cut);
    }

    /// Have the network see a peer at another address from now on; whether it has a path yet.
    pub fn rebind(&mut self, peer: PeerId) -> bool {
        let now = self.runtime.now();
        let peer = &mut self.peers[peer.0 as usize];
        peer.disturbed = now;
        peer.client.rebind().is_ok()
    }

    /// Every path was changed: nobody needs to follow before it had time to settle.
    pub(crate) fn disturb(&mut self) {
        let now = self.runtime.now();
        self.peers.iter_mut().for_each(|peer| peer.disturbed = now);
    }

    /// Ask a peer for a view of this moment; it is in its record after the next turn.
    pub fn present(&mut self, peer: PeerId) {
        self.peers[peer.0 as usize].client.present();
    }

    /// Hold a peer's stick: to the right and ahead, each -127 to 127.
    pub fn walk(&mut self, peer: PeerId, right: i8, ahead: i8) {
        self.want(peer, |wish| (wish.move_x, wish.move_z) = (right, ahead));
    }

    /// Turn a peer's view, radians.
    pub fn look(&mut self, peer: PeerId, yaw: f32, pitch: f32) {
        self.want(peer, |wish| (wish.yaw, wish.pitch) = (yaw, pitch));
    }

    /// Have the server's console run a line for a peer; its number, which the answer carries.
    pub fn peer_console(&mut self, peer: PeerId, line: &str) -> u32 {
        self.next_line += 1;
        self.peers[peer.0 as usize].client.console(self.next_line, line);
        self.next_line
    }

    /// Press or release jump.
    pub fn jump(&mut self, peer: PeerId, held: bool) {
        self.want(peer, |wish| wish.buttons = wish.buttons.with(Buttons::JUMP, held));
    }

    /// Give a peer's controls to a pilot.
    pub fn fly(&mut self, peer: PeerId, manner: Manner) {
        let name = self.peers[peer.0 as usize].name.clone();
        let controls = self.controls(&name, manner);
        self.peers[peer.0 as usize].client.control(controls);
    }

    /// The peer's client, for what this API does not name.
    #[must_use]
    pub fn client(&self, peer: PeerId) -> &Client {
        &self.peers[peer.0 as usize].client
    }

    /// Whether a peer was killed.
    #[must_use]
    pub fn is_gone(&self, peer: PeerId) -> bool {
        self.records().peer(peer).is_gone()
    }

    /// Whether a peer plays.
    #[must_use]
    pub fn is_playing(&self, peer: PeerId) -> bool {
        self.records().peer(peer).is_playing()
    }

    fn want(&mut self, peer: PeerId, change: impl FnOnce(&mut Wish)) {
        let peer = &mut self.peers[peer.0 as usize];
        change(&mut peer.wish);
        peer.client.wish(peer.wish);
    }

    fn controls(&self, name: &str, manner: Manner) -> Controls {
        match manner {
            Manner::Idle => Controls::default(),
            manner => {
                let bytes = self.bytes_of(&format!("pilot-{name}"));
                let [a, b, c, d, e, f, g, h, ..] = bytes;
                let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
                Controls::Flown(Box::new(Pilot::new(manner, seed)))
            }
        }
    }
}
