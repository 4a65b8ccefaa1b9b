//! What a journal holds is played again to the same digests, wherever it was cut.

use std::convert::Infallible;

use dh_host::flight::Journal as _;
use dh_messages::{Buttons, MapAdvert};
use dh_sim::Prop;
use proptest::prelude::*;

use super::super::journal::{Journal, JournalError, Recorded, Replay};
use super::super::{Compared, Entry, JOURNAL_FILE_MAX};
use super::*;

/// A loop whose journal is written as the performer writes it.
struct Taped {
    it: Loop,
    journal: Journal,
    map: Arc<MapAdvert>,
    begun: bool,
    dice: u64,
    sequences: [u32; 4],
}

impl Taped {
    /// Four players and some props.
    fn new(seed: u64) -> Self {
        let mut it = Loop::new();
        it.ticking = it.ticking.journaled(true);
        for at in 0..5_u8 {
            let position = glam::Vec3::splat(f32::from(at));
            let rotation = glam::Quat::from_rotation_y(f32::from(at));
            let prop = Prop { kind: dh_messages::NetKind::Prop, position, rotation };
            it.ticking.world.spawn_prop(prop).unwrap();
        }
        let journal = Journal::new(TickRate::DEFAULT);
        let map = Arc::new(MapAdvert::default());
        let mut taped = Self { it, journal, map, begun: false, dice: seed, sequences: [0; 4] };
        (0..4).for_each(|peer| taped.tell(joining(peer)));
        taped
    }

    fn tell(&mut self, msg: TickMsg) {
        let mut out = Outbox::default();
        self.it.ticking.handle(self.it.now, msg, &mut out);
        self.take(out);
    }

    fn take(&mut self, mut out: Outbox<Effect>) {
        for effect in out.drain() {
            match effect {
                Effect::Keep(kept) if !self.begun || self.journal.is_due() => {
                    self.journal.begin(&kept, &self.map, false);
                    self.begun = true;
                }
                Effect::Journal(entry) if self.begun => self.journal.note(&entry),
                _ => {}
            }
        }
    }

    fn roll(&mut self) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice
    }

    /// One tick: everybody runs, jumps and looks about; some leave, come back, or are sent about.
    fn tick(&mut self) {
        for peer in 0..4_u32 {
            let at = peer as usize;
            let roll = self.roll();
            let [a, b, c, d, e, ..] = roll.to_le_bytes();
            if a < 2 {
                self.tell(TickMsg::Leave(PeerId(peer)));
                self.tell(joining(peer));
                self.sequences[at] = 0;
            }
            if b == 7 {
                let slot = u8::try_from(peer).unwrap();
                let deeds = [
                    Deed::Respawn,
                    Deed::Noclip(None),
                    Deed::Teleport(Place::Beside(0)),
                    Deed::Teleport(Place::Point([1.0, 2.0, f32::from(c)])),
                ];
                let deed = deeds[usize::from(c % 4)];
                self.tell(TickMsg::Command(TickCommand { id: 1, slot, deed }));
            }
            self.sequences[at] += 1;
            let sequence = self.sequences[at];
            let buttons = Buttons::NONE.with(Buttons::JUMP, d % 3 == 0);
            let (move_x, move_z) = (c.cast_signed(), e.cast_signed());
            let yaw = f32::from(d) / 40.0 - 3.0;
            let input =
                PlayerInput { sequence, move_x, move_z, buttons, yaw, ..Default::default() };
            // Each input travels twice, and now and then not at all.
            for _ in 0..u8::from(a > 20) * 2 {
                let inputs = vec![input];
                self.tell(TickMsg::Inputs(PeerInputs { peer: PeerId(peer), inputs }));
            }
        }
        self.it.now = self.it.ticking.next_deadline().unwrap();
        let mut out = Outbox::default();
        self.it.ticking.wake(self.it.now, &mut out);
        self.take(out);
    }

    fn file(&self) -> Vec<u8> {
        self.journal.to_file().unwrap()
    }
}

fn joining(peer: u32) -> TickMsg {
    TickMsg::Join(Joining { peer: PeerId(peer), slot: u8::try_from(peer).unwrap() })
}

fn gray_box(_: &MapAdvert) -> Result<Ground, Infallible> {
    Ok(Ground::gray_box())
}

fn played(recorded: &Recorded) -> Vec<Compared> {
    let mut all = Vec::new();
    for span in &recorded.spans {
        let mut replay = Replay::new(recorded, span, Ground::gray_box()).unwrap();
        while let Some(tick) = replay.tick(gray_box).unwrap() {
            all.push(tick);
        }
    }
    all
}

#[test]
fn the_last_thirty_seconds_are_played_again_to_the_same_digests_wherever_they_are_cut() {
    for (seed, ticks) in [(1, 1), (2, 599), (3, 1_234), (4, 4_000)] {
        let mut taped = Taped::new(seed);
        (0..ticks).for_each(|_| taped.tick());
        let all = played(&Recorded::parse(&taped.file()).unwrap());
        assert!(all.len() >= ticks.min(1_800), "{} of {ticks} ticks", all.len());
        let last = all.last().unwrap();
        assert_eq!((last.tick, last.digest), (taped.it.ticking.tick(), taped.it.digest()));
        let other = all.iter().find(|tick| !tick.is_equal());
        assert_eq!(other, None, "seed {seed}");
    }
}

#[test]
fn another_map_and_other_settings_are_played_again_too() {
    let mut taped = Taped::new(5);
    (0..50).for_each(|_| taped.tick());
    taped.tell(TickMsg::Install(Arc::new(crate::map_switch::PreparedMap::gray_box())));
    (0..20).for_each(|_| taped.tick());
    for peer in (0..4).map(PeerId) {
        taped.tell(TickMsg::Arrived(Arrival { peer, generation: 2 }));
    }
    taped.tell(TickMsg::Prefs(Arc::new(set(&["world.noclipSpeed=3"]))));
    (0..50).for_each(|_| taped.tick());
    let all = played(&Recorded::parse(&taped.file()).unwrap());
    assert!(all.len() == 120 && all.iter().all(Compared::is_equal));
}

#[test]
fn the_journal_fits_its_share_and_allocates_nothing_once_every_span_was_used() {
    let mut taped = Taped::new(6);
    (0..4_000).for_each(|_| taped.tick());
    assert!(taped.file().len() < JOURNAL_FILE_MAX / 2);
    let spaces = |taped: &mut Taped, ticks: u32| {
        let mut spaces = std::collections::BTreeSet::new();
        for _ in 0..ticks {
            let mut out = Outbox::default();
            taped.it.ticking.keep(&mut out);
            taped.it.now = taped.it.ticking.next_deadline().unwrap();
            taped.it.ticking.wake(taped.it.now, &mut out);
            for effect in out.drain() {
                if let Effect::Keep(kept) = effect {
                    spaces.insert(Arc::as_ptr(&kept) as usize);
                    if taped.journal.is_due() {
                        taped.journal.begin(&kept, &taped.map, false);
                    }
                } else if let Effect::Journal(entry) = effect {
                    taped.journal.note(&entry);
                }
            }
        }
        spaces
    };
    let first = spaces(&mut taped, 4_200);
    assert!(spaces(&mut taped, 1_300).is_subset(&first), "no new space for what is kept");
}

fn small() -> Vec<u8> {
    let mut taped = Taped::new(7);
    (0..30).for_each(|_| taped.tick());
    taped.file()
}

/// The file with other entries, as if they had been recorded.
fn with(recorded: &Recorded, at: usize, entry: Entry) -> Recorded {
    let mut other = recorded.clone();
    other.spans[0].set(at, entry);
    other
}

#[test]
fn damaged_and_foreign_files_are_told_with_their_place() {
    let file = small();
    let refused = |bytes: &[u8]| Recorded::parse(bytes).unwrap_err();
    assert_eq!(refused(b""), JournalError::Foreign);
    assert_eq!(refused(&[7; 4_096]), JournalError::Foreign);
    assert_eq!(refused(&file[..file.len() - 8]), JournalError::Checksum);
    assert_eq!(refused(&file[..file.len() - 3]), JournalError::Checksum);
    let mut newer = file.clone();
    newer[12] = 9;
    assert_eq!(refused(&newer), JournalError::Version(9));
    assert!(refused(&newer).to_string().starts_with("byte 8: expected journal version 1, found 9"));
    let large = vec![0; JOURNAL_FILE_MAX + 1];
    assert!(matches!(refused(&large), JournalError::TooLarge(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn one_changed_input_is_found_as_the_first_tick_that_differs(
        (which, turn) in (any::<prop::sample::Index>(), 1_u8..127),
    ) {
        let recorded = Recorded::parse(&small()).unwrap();
        let entries = recorded.spans[0].entries().to_vec();
        let inputs: Vec<(usize, PeerId, PlayerInput)> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| match entry {
                Entry::Input(peer, input) => Some((at, *peer, *input)),
                _ => None,
            })
            .collect();
        let (at, peer, input) = inputs[which.index(inputs.len())];
        // A look is felt in the tick that uses it, whatever the pawn stands against.
        let turn = f32::from(turn) / 50.0;
        let yaw = if input.yaw > 0.0 { input.yaw - turn } else { input.yaw + turn };
        let changed = with(&recorded, at, Entry::Input(peer, PlayerInput { yaw, ..input }));
        let all = played(&changed);
        let first = all.iter().find(|tick| !tick.is_equal()).map(|tick| tick.recorded.0);
        let before = entries[..at].iter().rev().find_map(|entry| match entry {
            Entry::Tick(tick, _) => Some(tick.0),
            _ => None,
        });
        // The first inputs of a peer wait for two ticks, and others behind those that wait.
        let soonest = before.unwrap_or_default() + 1;
        let used = first.map(|tick| (soonest..soonest + 12).contains(&tick.0));
        let near_end = soonest + 4 > all.last().unwrap().tick.0;
        let unused = near_end || left(&entries[at..], peer);
        prop_assert!(used == Some(true) || (used.is_none() && unused));
    }

    #[test]
    fn no_change_of_bytes_makes_a_replay_panic(
        (at, byte) in (any::<prop::sample::Index>(), 1_u8..),
    ) {
        let mut file = small();
        let at = at.index(file.len());
        file[at] ^= byte;
        // Past the checksum, which finds this by itself.
        prop_assert!(Recorded::parse(&file).is_err());
        if let Ok(recorded) = Recorded::parse(&super::super::journal::resealed(&file)) {
            for span in &recorded.spans {
                let replay = Replay::new(&recorded, span, Ground::gray_box());
                let Ok(mut replay) = replay else { continue };
                let mut ticks = 0;
                while replay.tick(gray_box).unwrap().is_some() {
                    ticks += 1;
                }
                prop_assert!(ticks <= span.entries().len());
            }
        }
    }
}

/// Whether the peer left before long, so that its input was never used.
fn left(entries: &[Entry], peer: PeerId) -> bool {
    entries.contains(&Entry::Leave(peer))
}
