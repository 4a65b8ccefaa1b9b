//! A table of values by token: the rows of two builds, and what becomes of a value between them.

use alloc::vec;
use alloc::vec::Vec;

use super::plan::{losses, read};
use crate::{Schema, message};

/// A build: its table of these rows, and messages that hold values of it.
macro_rules! build {
    ($build:ident { $($rows:tt)* }) => {
        mod $build {
            use super::message;
            use crate::List8;

            message!(
                #[union(u16)]
                pub(super) enum Material {
                    $($rows)*
                }
            );
            message!(
                pub(super) struct It {
                    pub before: u8,
                    pub values: List8<Material>,
                    pub after: u8,
                }
            );
            message!(
                pub(super) struct Layer {
                    pub place: u8,
                    pub value: Material,
                }
            );
            message!(
                pub(super) struct Layers {
                    pub layers: List8<Layer>,
                    pub after: u8,
                }
            );
        }
    };
}

build!(ours {
    Colour([f32; 3]) = 0 as "base.colour",
    Roughness(f32) = 1 as "base.roughness",
    Metal(f32) = 2 as "base.metal",
    Layer(u8) = 3 as "base.layer",
    Glow([f32; 3]) = 4 as "glow.colour",
    GlowStrength(f32) = 5 as "glow.strength",
    Depth(f32) = 6 as "water.depth",
    Foam([f32; 3]) = 7 as "water.foamColor",
    FoamWidth(f32) = 8 as "water.foamWidth",
    Waves(u16) = 9 as "water.waves",
    Snow(bool) = 10 as "snow.on",
    SnowDepth(f32) = 11 as "snow.depth",
});

// Two rows in another kind, one that ours lacks, and one of ours that it lacks.
build!(theirs {
    SnowDepth(f32) = 2 as "snow.depth",
    Snow(bool) = 60 as "snow.on",
    Waves(u16) = 4 as "water.waves",
    Foam([f32; 3]) = 41 as "water.foamColor",
    FoamWidth(f32) = 5 as "water.foamWidth",
    Moss([f32; 3]) = 7 as "moss.colour",
    Depth(f32) = 0 as "water.depth",
    Glow(u32) = 1 as "glow.colour",
    GlowStrength(f32) = 3 as "glow.strength",
    Layer([f32; 3]) = 6 as "base.layer",
    Roughness(f32) = 70 as "base.roughness",
    Colour([f32; 3]) = 8 as "base.colour",
});

fn sent(values: Vec<theirs::Material>) -> Vec<ours::Material> {
    let read: ours::It = read(theirs::It { before: 1, values: values.into(), after: 2 });
    assert_eq!((read.before, read.after), (1, 2));
    read.values.0
}

/// WIRE-19
#[test]
fn the_schema_lists_each_row_of_a_table_with_its_token_number_and_kind() {
    let mut schema = Schema::new(2);
    schema.shape::<ours::It>().unwrap();
    let text = schema.text();
    assert!(text.contains("\nunion Material u16\n  base.colour 0 f32x3\n  base.roughness 1 f32\n"));
    let rows = text.lines().filter(|line| line.starts_with("  ") && line.contains('.'));
    assert_eq!(rows.count(), 12, "{text}");
    assert_eq!(Schema::read(text.as_bytes()), Ok(schema));
}

/// PLAN-22
#[test]
fn a_value_lands_on_the_row_that_has_its_token() {
    let foam = sent(vec![theirs::Material::Foam([0.5, 1.0, 2.0])]);
    assert_eq!(foam, [ours::Material::Foam([0.5, 1.0, 2.0])]);
    let mut bytes = Vec::new();
    crate::encode(&mut ours::It { values: foam.into(), ..ours::It::default() }, &mut bytes)
        .unwrap();
    assert_eq!(bytes[1..4], [1, 7, 0]);
}

/// PLAN-23
#[test]
fn a_value_of_an_unknown_token_or_of_another_kind_vanishes_and_its_neighbours_stay() {
    use theirs::Material::{Depth, Glow, Layer, Moss, Snow, Waves};
    let values = vec![Depth(1.5), Moss([0.0; 3]), Snow(true), Glow(7), Layer([1.0; 3]), Waves(9)];
    let kept =
        vec![ours::Material::Depth(1.5), ours::Material::Snow(true), ours::Material::Waves(9)];
    assert_eq!(sent(values), kept);
    assert_eq!(
        losses::<theirs::It, ours::It>(),
        ["values.moss.colour case", "values.glow.colour case", "values.base.layer case"]
    );
}

/// PLAN-21, PLAN-23
#[test]
fn an_entry_is_dropped_whole_whatever_stands_before_its_unknown_token() {
    use theirs::Material::{Depth, Moss, Waves};
    let layer = |place, value| theirs::Layer { place, value };
    let layers = vec![layer(1, Depth(1.5)), layer(2, Moss([0.0; 3])), layer(3, Waves(9))].into();
    let read: ours::Layers = read(theirs::Layers { layers, after: 4 });
    let layer = |place, value| ours::Layer { place, value };
    let kept = vec![layer(1, ours::Material::Depth(1.5)), layer(3, ours::Material::Waves(9))];
    assert_eq!(read, ours::Layers { layers: kept.into(), after: 4 });
}

/// FIX-08, PLAN-24
#[test]
fn a_table_in_another_order_loses_nothing_either_way() {
    use theirs::Material as Theirs;
    let theirs = || {
        vec![
            Theirs::SnowDepth(1.0),
            Theirs::Snow(true),
            Theirs::Waves(2),
            Theirs::Foam([3.0; 3]),
            Theirs::FoamWidth(4.0),
            Theirs::Depth(5.0),
            Theirs::GlowStrength(6.0),
            Theirs::Roughness(7.0),
            Theirs::Colour([8.0; 3]),
        ]
    };
    let ours = sent(theirs());
    use ours::Material as Ours;
    let same = [
        Ours::SnowDepth(1.0),
        Ours::Snow(true),
        Ours::Waves(2),
        Ours::Foam([3.0; 3]),
        Ours::FoamWidth(4.0),
        Ours::Depth(5.0),
        Ours::GlowStrength(6.0),
        Ours::Roughness(7.0),
        Ours::Colour([8.0; 3]),
    ];
    assert_eq!(ours, same);
    let back: theirs::It = read(ours::It { values: ours.into(), ..ours::It::default() });
    assert_eq!(back.values, theirs().into());
}
