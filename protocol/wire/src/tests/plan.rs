//! Another build's bytes read through a plan: every difference, both ways.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::shapes::bytes;
use crate::plan::{Loss, Plan, Planned, Scratch};
use crate::schema::{MessageEntry, Schema};
use crate::{Fault, Fields, Section, Str8, Str16, WireError, decode};

const UP: &str = "toServer";

/// The schema of a build whose message 7 has the shape `F`.
fn build<F: Fields>() -> Schema {
    let mut schema = Schema::new(2);
    let shape = schema.shape::<F>().unwrap();
    let (direction, name, channel) = (UP.to_string(), "it".to_string(), "stream".to_string());
    schema.messages.push(MessageEntry { direction, id: 7, name, channel, frame: false, shape });
    schema
}

/// The schema as it comes over the wire.
fn told(schema: &Schema) -> Schema {
    Schema::read(schema.text().as_bytes()).unwrap()
}

fn plan<Theirs: Fields, Own: Fields>() -> Plan {
    Plan::new(&build::<Own>(), told(&build::<Theirs>()), UP).unwrap()
}

/// What a build with `Own` makes of a packet of one with `Theirs`.
fn rewritten<Theirs: Fields, Own: Fields>(packet: &[u8]) -> Result<Option<Own>, WireError> {
    let mut scratch = Scratch::default();
    match plan::<Theirs, Own>().rewrite(7, packet, &mut scratch)? {
        Planned::Same(7) => decode(packet).map(Some),
        Planned::Rewritten(7) => decode(scratch.body()).map(Some),
        Planned::Unknown => Ok(None),
        other => panic!("{other:?}"),
    }
}

pub(super) fn read<Theirs: Fields, Own: Fields>(theirs: Theirs) -> Own {
    rewritten::<Theirs, Own>(&bytes(theirs)).unwrap().expect("every case is known")
}

/// Shapes as one build has them; each holds the shape `It` and what that needs.
macro_rules! builds {
    ($($name:ident { $($body:tt)* })*) => {$(
        mod $name {
            #[expect(unused_imports, reason = "each build takes what it needs")]
            use crate::{
                Count16, Counted, List8, List16, Rest, Section, Str8, Str16, Tail, Varu32,
            };
            use crate::message;

            $($body)*
        }
    )*};
}

builds! {
    short {
        message!( pub(super) struct It { pub first: u8, pub last: u16 } );
    }
    long {
        message!( pub(super) struct Pair { pub left: u8, pub right: Str8 } );
        message!( #[sparse(u8)] pub(super) struct Lamp { pub on: u8, pub name: Str8 } );
        message!( #[union(u8)] pub(super) enum Form { Number(u32) = 3, Text(Str16) = 9 } );
        message!( pub(super) struct Head { pub count: Count16, pub tick: u32 } );
        message!(
            pub(super) struct It {
                pub first: u8,
                pub number: u64,
                pub text: Str8,
                pub packed: Varu32,
                pub list: List16<Str8>,
                pub maybe: Option<Pair>,
                pub lamp: Lamp,
                pub form: Form,
                pub pair: Pair,
                pub section: Section<Pair>,
                pub head: Head,
                pub entries: Counted<Pair>,
                pub last: u16,
            }
        );
    }
    moved {
        message!( pub(super) struct Pair { pub right: Str8, pub left: u8 } );
        message!(
            #[sparse(u16)]
            pub(super) struct Lamp {
                pub name: Str8,
                pub size: u8,
                pub on: u8,
            }
        );
        message!( #[union(u32)] pub(super) enum Form { Text(Str16) = 3, Number(u32) = 70_000 } );
        message!( pub(super) struct Head { pub tick: u32, pub count: Count16 } );
        message!(
            pub(super) struct It {
                pub last: u16,
                pub form: Form,
                pub lamp: Lamp,
                pub maybe: Option<Pair>,
                pub head: Head,
                pub list: List8<Str16>,
                pub entries: Counted<Pair>,
                pub section: Section<Pair>,
                pub pair: Pair,
                pub packed: Varu32,
                pub text: Str16,
                pub number: u32,
                pub first: u64,
            }
        );
    }
    named {
        message!( #[named(u8)] pub(super) enum Kind { Wall = 0, Door = 9, Lift = 2 } );
        message!( #[open(u16)] pub(super) enum Mood { Calm = 0, Door = 4, Gone = 7 } );
        message!( #[flags(u8)] pub(super) enum Keys { JUMP = 0, NOCLIP = 5, OLD = 7 } );
        message!(
            pub(super) struct It {
                pub kind: Kind,
                pub kinds: List8<Kind>,
                pub maybe: Option<Kind>,
                pub mood: Mood,
                pub keys: Keys,
                pub last: u8,
            }
        );
    }
    renamed {
        message!( #[named(u32)] pub(super) enum Kind { Door = 4, Wall = 70_000 } );
        message!( #[open(u8)] pub(super) enum Mood { Calm = 7, Door = 0 } );
        message!( #[flags(u16)] pub(super) enum Keys { NOCLIP = 1, NEW = 5, JUMP = 12 } );
        message!(
            pub(super) struct It {
                pub kind: Kind,
                pub kinds: List8<Kind>,
                pub maybe: Option<Kind>,
                pub mood: Mood,
                pub keys: Keys,
                pub last: u8,
            }
        );
    }
    unions {
        message!( pub(super) struct Pair { pub left: Str8, pub right: u8 } );
        message!(
            #[union(u16)]
            pub(super) enum Form { Number(u16) = 0, Text(Str8) = 1, Both(Pair) = 2 }
        );
        message!( #[sparse(u8)] pub(super) struct Lamp { pub form: Form, pub on: u8 } );
        message!(
            pub(super) struct It {
                pub count: Count16,
                pub forms: List8<Form>,
                pub counted: Counted<Form>,
                pub maybe: Option<Form>,
                pub lamp: Lamp,
                pub last: u8,
            }
        );
    }
    fewer {
        message!( #[union(u16)] pub(super) enum Form { Text(Str8) = 0, Number(u16) = 1 } );
        message!( #[sparse(u8)] pub(super) struct Lamp { pub form: Form, pub on: u8 } );
        message!(
            pub(super) struct It {
                pub count: Count16,
                pub forms: List8<Form>,
                pub counted: Counted<Form>,
                pub maybe: Option<Form>,
                pub lamp: Lamp,
                pub last: u8,
            }
        );
    }
    families {
        message!( pub(super) struct Pair { pub left: u8 } );
        message!(
            pub(super) struct It {
                pub number: Str8,
                pub text: u32,
                pub pair: List8<u8>,
                pub list: Pair,
                pub maybe: u8,
                pub single: u32,
                pub last: u8,
            }
        );
    }
    others {
        message!( pub(super) struct Pair { pub left: u8 } );
        message!(
            #[preset]
            pub(super) struct It {
                pub number: u32,
                pub text: Str8,
                pub pair: Pair,
                pub list: List8<u8>,
                pub maybe: Option<u8>,
                pub single: f32,
                pub last: u8,
            }
        );
        impl Default for It {
            fn default() -> Self {
                let (number, text, pair) = (44, Str8::from("held"), Pair { left: 9 });
                let list = List8::default();
                Self { number, text, pair, list, maybe: None, single: 1.0, last: 0 }
            }
        }
    }
    cut {
        message!( pub(super) struct Last { pub last: Str8 } );
        message!( pub(super) struct Later { pub later: u16, pub more: Tail<Last> } );
        message!( pub(super) struct It { pub first: u8, pub rest: Tail<Later> } );
    }
    cut_longer {
        message!( pub(super) struct Last { pub extra: Option<Str8>, pub last: Str16 } );
        message!( pub(super) struct Later { pub later: u32, pub more: Tail<Last> } );
        message!( pub(super) struct It { pub first: u8, pub rest: Tail<Later> } );
    }
    bounded {
        message!(
            pub(super) struct It {
                pub small: i8,
                pub text: Str16<1_000>,
                pub list: List16<u8, 1_000>,
                pub wide: f64,
                pub last: u8,
            }
        );
    }
    tighter {
        message!(
            #[preset]
            pub(super) struct It {
                pub small: u16,
                pub text: Str8<4>,
                pub list: List8<u8, 4>,
                pub wide: f32,
                pub last: u8,
            }
        );
        impl Default for It {
            fn default() -> Self {
                let text = Str8::from("held");
                Self { small: 5, text, list: List8::default(), wide: 2.5, last: 0 }
            }
        }
    }
}

fn long() -> long::It {
    let pair = || long::Pair { left: 7, right: "right".into() };
    long::It {
        first: 1,
        number: 2,
        text: "text".into(),
        packed: 300.into(),
        list: vec![Str8::from("a"), "bc".into()].into(),
        maybe: Some(pair()),
        lamp: long::Lamp { set: 0b11, on: 4, name: "lamp".into() },
        form: long::Form::Text("form".into()),
        pair: pair(),
        section: Section(pair()),
        head: long::Head { count: 2.into(), tick: 5 },
        entries: vec![pair(), pair()].into(),
        last: 6,
    }
}

/// FIX-08, PLAN-07
#[test]
fn fields_of_every_construct_that_only_the_peer_has_are_stepped_over() {
    assert_eq!(read::<_, short::It>(long()), short::It { first: 1, last: 6 });
}

/// FIX-08, PLAN-09
#[test]
fn fields_that_only_this_build_has_hold_what_they_held() {
    let read: long::It = read(short::It { first: 1, last: 6 });
    assert_eq!(read, long::It { first: 1, last: 6, ..long::It::default() });
}

/// FIX-08, PLAN-06, PLAN-10, PLAN-11, PLAN-13, PLAN-14, PLAN-15, PLAN-20
#[test]
fn fields_that_were_moved_and_widened_arrive_both_ways() {
    let moved: moved::It = read(long());
    let pair = || moved::Pair { left: 7, right: "right".into() };
    let expected = moved::It {
        first: 1,
        number: 2,
        text: "text".into(),
        packed: 300.into(),
        list: vec![Str16::from("a"), "bc".into()].into(),
        maybe: Some(pair()),
        lamp: moved::Lamp { set: 0b101, on: 4, name: "lamp".into(), size: 0 },
        form: moved::Form::Text("form".into()),
        pair: pair(),
        section: Section(pair()),
        head: moved::Head { count: 2.into(), tick: 5 },
        entries: vec![pair(), pair()].into(),
        last: 6,
    };
    assert_eq!(moved, expected);
    assert_eq!(read::<_, long::It>(moved), long());
}

/// FIX-08, PLAN-12, PLAN-18, PLAN-19
#[test]
fn members_and_bits_that_were_renumbered_keep_their_meaning_both_ways() {
    use named::{It, Keys, Kind, Mood};
    let theirs = It {
        kind: Kind::Door,
        kinds: vec![Kind::Wall, Kind::Lift, Kind::Door].into(),
        maybe: Some(Kind::Wall),
        mood: Mood::Door,
        keys: Keys::NOCLIP | Keys::OLD,
        last: 3,
    };
    let own = renamed::It {
        kind: renamed::Kind::Door,
        // What this build has no name for is what a kind is by itself.
        kinds: vec![renamed::Kind::Wall, renamed::Kind::Door, renamed::Kind::Door].into(),
        maybe: Some(renamed::Kind::Wall),
        mood: renamed::Mood::Door,
        keys: renamed::Keys::NOCLIP,
        last: 3,
    };
    assert_eq!(read::<_, renamed::It>(theirs.clone()), own);
    let back: It = read(own);
    let kinds = vec![Kind::Wall, Kind::Door, Kind::Door].into();
    assert_eq!(back, It { kinds, keys: Keys::NOCLIP, ..theirs });
    let gone = It { mood: Mood::Gone, ..It::default() };
    assert_eq!(read::<_, renamed::It>(gone).mood, renamed::Mood::default());
}

/// FIX-08, PLAN-20, PLAN-21
#[test]
fn a_case_that_this_build_lacks_drops_its_entry_and_nothing_else() {
    use unions::{Form, It, Lamp, Pair};
    let both = || Form::Both(Pair { left: "left".into(), right: 2 });
    let forms = || vec![Form::Number(4), both(), Form::Text("text".into())];
    let theirs = It {
        count: 3.into(),
        forms: forms().into(),
        counted: forms().into(),
        maybe: Some(both()),
        lamp: Lamp { set: 0b11, form: both(), on: 8 },
        last: 3,
    };
    let kept = || vec![fewer::Form::Number(4), fewer::Form::Text("text".into())];
    let own = fewer::It {
        count: 2.into(),
        forms: kept().into(),
        counted: kept().into(),
        maybe: None,
        lamp: fewer::Lamp { set: 0b10, on: 8, ..fewer::Lamp::default() },
        last: 3,
    };
    assert_eq!(read::<_, fewer::It>(theirs), own);
    let back: It = read(own);
    let kept = || vec![Form::Number(4), Form::Text("text".into())];
    assert_eq!((back.forms, back.counted), (kept().into(), kept().into()));
    assert_eq!((back.maybe, back.lamp.set, back.lamp.on, back.last), (None, 0b10, 8, 3));
}

/// PLAN-09, PLAN-16
#[test]
fn a_field_that_moved_to_another_family_holds_what_it_held() {
    let theirs = families::It {
        number: "12".into(),
        text: 7,
        pair: vec![1, 2, 3].into(),
        list: families::Pair { left: 4 },
        maybe: 5,
        single: 6,
        last: 7,
    };
    assert_eq!(read::<_, others::It>(theirs), others::It { last: 7, ..others::It::default() });
    let own = others::It { list: vec![1].into(), maybe: Some(2), last: 7, ..others::It::default() };
    assert_eq!(read::<_, families::It>(own), families::It { last: 7, ..families::It::default() });
}

/// PLAN-11, PLAN-13, PLAN-14
#[test]
fn a_value_that_does_not_fit_counts_as_absent() {
    let theirs = bounded::It {
        small: 100,
        text: "four".into(),
        list: vec![1, 2, 3, 4].into(),
        wide: 1.5,
        last: 7,
    };
    let (text, list) = (Str8::from("four"), vec![1, 2, 3, 4].into());
    let fits = tighter::It { small: 100, text, list, wide: 1.5, last: 7 };
    assert_eq!(read::<_, tighter::It>(theirs.clone()), fits);
    assert_eq!(read::<_, bounded::It>(fits), theirs);
    let list = vec![1; 300].into();
    let theirs = bounded::It { small: -1, text: "fives".into(), list, wide: 1e300, last: 7 };
    assert_eq!(read::<_, tighter::It>(theirs), tighter::It { last: 7, ..tighter::It::default() });
}

/// PLAN-09
#[test]
fn a_packet_that_ends_at_the_peers_tail_ends_or_goes_on_with_what_was_held() {
    for (cut, later, last) in [(1, 0, ""), (3, 2, ""), (6, 2, "ab")] {
        let packet = &[1, 2, 0, 2, b'a', b'b'][..cut];
        let read = rewritten::<cut::It, cut_longer::It>(packet).unwrap().unwrap();
        assert_eq!((read.first, read.rest.0.later), (1, later), "{cut}");
        assert_eq!(read.rest.0.more.0.last, *last, "{cut}");
        assert_eq!(read.rest.0.more.0.extra, None, "{cut}");
    }
    for cut in [2, 4, 5] {
        let packet = &[1, 2, 0, 2, b'a', b'b'][..cut];
        let refused = rewritten::<cut::It, cut_longer::It>(packet).unwrap_err();
        assert_eq!(refused.fault, Fault::Truncated, "{cut}");
    }
}

/// PLAN-02
#[test]
fn equal_shapes_are_read_as_they_are() {
    let plan = plan::<long::It, long::It>();
    let mut scratch = Scratch::default();
    assert_eq!(plan.rewrite(7, &bytes(long()), &mut scratch), Ok(Planned::Same(7)));
    assert_eq!(plan.rewrite(8, &[], &mut scratch), Ok(Planned::Unknown));
    assert_eq!(scratch.body(), []);
}

/// PLAN-03
#[test]
fn messages_pair_by_name_and_take_the_numbers_of_either_build() {
    let mut own = build::<long::It>();
    own.messages[0].id = 9;
    let plan = Plan::new(&own, told(&build::<short::It>()), UP).unwrap();
    let packet = bytes(short::It { first: 1, last: 2 });
    assert_eq!(plan.rewrite(7, &packet, &mut Scratch::default()), Ok(Planned::Rewritten(9)));
    assert_eq!(plan.rewrite(9, &packet, &mut Scratch::default()), Ok(Planned::Unknown));
    let other = Plan::new(&own, told(&build::<short::It>()), "toClient").unwrap();
    assert_eq!(other.rewrite(7, &packet, &mut Scratch::default()), Ok(Planned::Unknown));
}

/// What is lost of the message, as lines.
pub(super) fn losses<Theirs: Fields, Own: Fields>() -> Vec<String> {
    let plan = plan::<Theirs, Own>();
    let told = plan.losses(7).unwrap().iter();
    told.map(|Loss { path, lost }| format!("{path} {}", lost.word())).collect()
}

#[test]
fn what_is_lost_between_two_builds_is_told_by_name() {
    assert_eq!(losses::<long::It, long::It>(), [""; 0]);
    assert_eq!(losses::<long::It, moved::It>(), ["lamp.size held", "list entries", "number range"]);
    assert_eq!(
        losses::<moved::It, long::It>(),
        ["first range", "text text", "list text", "lamp.size skipped"]
    );
    assert_eq!(
        losses::<named::It, renamed::It>(),
        [
            "kind.Lift member",
            "kinds.Lift member",
            "maybe.Lift member",
            "mood.Gone member",
            "mood unnamed",
            "keys.old bit"
        ]
    );
    assert_eq!(
        losses::<unions::It, fewer::It>(),
        ["forms.Both case", "counted.Both case", "maybe.Both case", "lamp.form.Both case"]
    );
    assert_eq!(
        losses::<families::It, others::It>(),
        [
            "number family",
            "text family",
            "pair family",
            "list family",
            "maybe family",
            "single family"
        ]
    );
    assert_eq!(losses::<short::It, long::It>().len(), 11);
    assert_eq!(plan::<long::It, long::It>().losses(8), None);
}
