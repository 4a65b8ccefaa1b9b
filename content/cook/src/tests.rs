//! What a cook keeps, what it leaves out, and that its bytes can be trusted.

use glam::Vec3;
use proptest::prelude::*;

use crate::{CookError, Cooked, DecodeError, OBJECTS_MAX, Part, REACH, cook, cook_while};

/// A floor of 1 m cells whose heights come from a rule, two triangles each.
fn terrain(side: u16) -> (Vec<[f32; 3]>, Vec<u32>) {
    let row = u32::from(side) + 1;
    let corners = (0..=side).flat_map(|z| (0..=side).map(move |x| (x, z)));
    let height = |x: u16, z: u16| f32::from((x * 7 + z * 13) % 11) * 0.125;
    let positions = corners.map(|(x, z)| [f32::from(x), height(x, z), f32::from(z)]).collect();
    let cells = (0..u32::from(side)).flat_map(|z| (0..u32::from(side)).map(move |x| (x, z)));
    let indices = cells.flat_map(|(x, z)| {
        let at = z * row + x;
        [at, at + row, at + 1, at + 1, at + row, at + row + 1]
    });
    (positions, indices.collect())
}

fn cooked(positions: &[[f32; 3]], indices: &[u32]) -> Cooked {
    cook(&[Part::in_world(4, positions, indices)]).unwrap()
}

/// The triangles near a place, found by looking at each.
fn looked_at(cooked: &Cooked, low: Vec3, high: Vec3) -> Vec<u32> {
    let meets = |number: &u32| {
        let corners = cooked.corners(*number);
        let (least, most) =
            (corners.into_iter().reduce(Vec3::min), corners.into_iter().reduce(Vec3::max));
        most.unwrap().cmpge(low).all() && least.unwrap().cmple(high).all()
    };
    (0..).take(cooked.triangles().len()).filter(meets).collect()
}

fn near(cooked: &Cooked, low: Vec3, high: Vec3) -> Vec<u32> {
    let mut found = Vec::new();
    cooked.near(low, high, |number| found.push(number));
    found
}

#[test]
fn equal_places_become_one_whichever_part_they_are_in() {
    let quad = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 1.0],
        [-0.0, 0.0, 0.0],
        [1.0, 0.0, 1.0],
        [0.0, -0.0, 1.0],
    ];
    let parts = [Part::in_world(2, &quad, &[0, 1, 2]), Part::in_world(3, &quad, &[3, 4, 5])];
    let cooked = cook(&parts).unwrap();
    assert_eq!((cooked.vertices().len(), cooked.triangles().len()), (4, 2));
    let mut objects = [cooked.object(0), cooked.object(1)];
    objects.sort_unstable();
    assert_eq!(objects, [2, 3], "each triangle keeps its object");
}

#[test]
fn each_triangle_keeps_its_object_wherever_the_cook_puts_it() {
    let (positions, indices) = terrain(20);
    // Each cell is a part of its own, the furthest one first.
    let parts: Vec<Part<'_>> = (0..)
        .zip(indices.chunks(6).rev())
        .map(|(object, cell)| Part::in_world(object, &positions, cell))
        .collect();
    let cooked = cook(&parts).unwrap();
    let sorted = |mut corners: [Vec3; 3]| {
        corners.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap());
        corners
    };
    for number in (0..).take(cooked.triangles().len()) {
        let cell = parts[cooked.object(number) as usize].indices.as_chunks::<3>().0;
        let at = |corner: &u32| Vec3::from_array(positions[*corner as usize]);
        let own = cell.iter().map(|corners| sorted(corners.each_ref().map(at)));
        let placed = sorted(cooked.corners(number));
        assert!(own.into_iter().any(|own| own == placed), "{number}");
    }
}

#[test]
fn triangles_that_span_no_plane_are_left_out_and_counted() {
    let positions = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1e-5],
        [0.0, 0.0, 0.0],
        [1e-6, 0.0, 0.0],
        [0.0, 1e-6, 0.0],
    ];
    let flat = [[0, 1, 2], [0, 0, 3], [0, 1, 4], [0, 5, 3], [5, 6, 7]];
    let indices: Vec<u32> = flat.into_iter().flatten().chain([0, 1, 3]).collect();
    let cooked = cooked(&positions, &indices);
    assert_eq!((cooked.triangles().len(), cooked.dropped()), (1, 5));
}

#[test]
fn a_part_stands_where_its_axes_and_origin_put_it() {
    let (positions, indices) = ([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]], [0, 1, 2]);
    let axes = [[0.0, 0.0, -2.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
    let part = Part { axes, origin: [10.0, 0.0, 0.5], ..Part::in_world(0, &positions, &indices) };
    let cooked = cook(&[part]).unwrap();
    let want = [Vec3::new(10.0, 0.0, -1.5), Vec3::new(10.0, 2.0, 0.5), Vec3::new(13.0, 0.0, 0.5)];
    assert_eq!(cooked.corners(0), want);
    assert_eq!(cooked.bounds(), Some([Vec3::new(10.0, 0.0, -1.5), Vec3::new(13.0, 2.0, 0.5)]));
}

#[test]
fn every_fault_of_a_part_is_told_with_its_object() {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let fault = |part: Part<'_>| cook(&[part]).unwrap_err();
    let part = Part::in_world(9, &positions, &[0, 1, 2]);
    assert_eq!(
        fault(Part { object: OBJECTS_MAX, ..part }),
        CookError::ObjectNumber { object: OBJECTS_MAX }
    );
    assert_eq!(fault(Part { indices: &[0, 1], ..part }), CookError::Ragged { object: 9 });
    assert_eq!(
        fault(Part { indices: &[0, 1, 3], ..part }),
        CookError::NoSuchCorner { object: 9, index: 3 }
    );
    for broken in [f32::NAN, f32::INFINITY] {
        let origin = [0.0, broken, 0.0];
        assert_eq!(fault(Part { origin, ..part }), CookError::NotFinite { object: 9 });
    }
    let origin = [0.0, 0.0, REACH];
    assert_eq!(fault(Part { origin, ..part }), CookError::TooFar { object: 9 });
    let many = vec![0; 3 * crate::TRIANGLES_MAX];
    let parts = [Part { indices: &many, ..part }, part];
    assert_eq!(cook(&parts).unwrap_err(), CookError::TooMany, "a sum over all parts");
    assert!(!CookError::TooFar { object: 9 }.to_string().contains('\n'));
}

/// A worker can tell how far it is, and be called off.
#[test]
fn a_cook_tells_how_far_it_is_and_stops_when_told_to() {
    let (positions, indices) = terrain(200);
    let part = [Part::in_world(0, &positions, &indices)];
    let mut heard = Vec::new();
    cook_while(&part, |progress| {
        heard.push(progress);
        true
    })
    .unwrap();
    assert!(heard.len() > 6 && heard.is_sorted_by_key(|progress| progress.done), "{heard:?}");
    assert_eq!(heard.last().map(|last| last.done), Some(heard[0].total));
    for patience in 0..heard.len() {
        let mut left = patience;
        let stopped = cook_while(&part, |_| {
            left = left.wrapping_sub(1);
            left != usize::MAX
        });
        assert_eq!(stopped.unwrap_err(), CookError::Stopped, "after {patience}");
    }
}

/// MR-164: the sum pins the bytes on every machine this is built for.
#[test]
fn equal_parts_give_equal_bytes_on_every_machine() {
    let (positions, indices) = terrain(40);
    let bytes = cooked(&positions, &indices).encode();
    assert_eq!(bytes, cooked(&positions, &indices).encode());
    let mut digest = dh_machine::Digest::new();
    digest.bytes(&bytes);
    assert_eq!(digest.value(), PINNED, "raise Cooked::VERSION when a cook comes out otherwise");
}

/// What [`equal_parts_give_equal_bytes_on_every_machine`] came to for this version.
const PINNED: u64 = 17_446_889_501_019_851_959;

/// MR-164
#[test]
fn a_cook_survives_its_bytes() {
    let empty = cook(&[]).unwrap();
    assert!(
        near(&empty, Vec3::NEG_INFINITY, Vec3::INFINITY).is_empty() && empty.bounds().is_none()
    );
    for side in [1, 2, 3, 10, 33] {
        let (positions, indices) = terrain(side);
        let before = cooked(&positions, &indices);
        let after = Cooked::decode(&before.encode()).unwrap();
        assert_eq!(after.digest(), before.digest());
        assert_eq!((after.vertices(), after.triangles()), (before.vertices(), before.triangles()));
        let all = [Vec3::NEG_INFINITY, Vec3::INFINITY].map(Vec3::from);
        assert_eq!(near(&after, all[0], all[1]).len(), before.triangles().len());
    }
    assert!(Cooked::decode(&empty.encode()).is_ok());
}

#[test]
fn bytes_of_something_else_are_told_from_damaged_ones() {
    let (positions, indices) = terrain(3);
    let bytes = cooked(&positions, &indices).encode();
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = to;
        Cooked::decode(&bytes).unwrap_err()
    };
    assert_eq!(changed(0, b'X'), DecodeError::Magic);
    assert_eq!(changed(8, 99), DecodeError::Version(99));
    assert_eq!(changed(15, 99), DecodeError::TooMany);
    assert_eq!(changed(16, 99), DecodeError::Length);
    assert_eq!(changed(20, 99), DecodeError::Damaged);
    assert_eq!(Cooked::decode(&bytes[..31]).unwrap_err(), DecodeError::Length);
    assert_eq!(Cooked::decode(&bytes[..40]).unwrap_err(), DecodeError::Length);
}

/// Bytes that pass for a cook although no cook made them; a corner too many is written afterwards.
fn forged(vertices: &[[f32; 3]], triangles: &[[u32; 3]], objects: Vec<u32>) -> Vec<u8> {
    let vertices: Vec<_> = vertices.iter().copied().map(Vec3::from_array).collect();
    let count = u32::try_from(vertices.len()).unwrap();
    let inside = triangles.iter().map(|triangle| triangle.map(|corner| corner.min(count - 1)));
    let mut bytes = Cooked::of(vertices, inside.collect(), objects, 0).encode();
    let start = 32 + 12 * count as usize;
    for (at, corner) in triangles.iter().flatten().enumerate() {
        bytes[start + 4 * at..][..4].copy_from_slice(&corner.to_le_bytes());
    }
    bytes
}

proptest! {
    #[test]
    fn a_search_finds_what_looking_at_each_triangle_finds(
        corners in prop::collection::vec(prop::array::uniform3(-20.0_f32..20.0), 3..200),
        at in prop::array::uniform3(-25.0_f32..25.0),
        size in 0.0_f32..15.0,
    ) {
        let whole = corners.len() / 3 * 3;
        let indices: Vec<u32> = (0..).take(whole).collect();
        let cooked = cooked(&corners, &indices);
        let (low, high) = (Vec3::from_array(at), Vec3::from_array(at) + Vec3::splat(size));
        prop_assert_eq!(near(&cooked, low, high), looked_at(&cooked, low, high));
    }

    /// Damage is found, whatever it hits.
    #[test]
    fn a_flipped_bit_or_a_cut_is_refused(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        cut: bool,
    ) {
        let (positions, indices) = terrain(6);
        let mut bytes = cooked(&positions, &indices).encode();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit };
        prop_assert!(Cooked::decode(&bytes).is_err());
    }

    /// Hostile bytes whose digest is right: refused, or as good as a cook's own.
    #[test]
    fn whatever_bytes_say_a_search_among_them_ends_and_is_right(
        vertices in prop::collection::vec(prop::array::uniform3(prop_oneof![
            400 => -9.0_f32..9.0, 1 => Just(f32::NAN), 1 => Just(-0.0), 1 => Just(1e30),
        ]), 12),
        triangles in prop::collection::vec((0..12_u32, 1..5_u32, 6..11_u32), 0..40),
        beyond in prop_oneof![9 => Just(12_u32), 1 => Just(13)],
        object in prop_oneof![9 => Just(3_u32), 1 => Just(OBJECTS_MAX)],
    ) {
        let corners = |(a, b, c)| [a, (a + b) % beyond, (a + c) % beyond];
        let triangles: Vec<_> = triangles.into_iter().map(corners).collect();
        let objects = vec![object; triangles.len()];
        if let Ok(cooked) = Cooked::decode(&forged(&vertices, &triangles, objects)) {
            for corner in [-3.0, 0.0, 3.0] {
                let (low, high) = (Vec3::splat(corner - 2.0), Vec3::splat(corner + 2.0));
                prop_assert_eq!(near(&cooked, low, high), looked_at(&cooked, low, high));
            }
            prop_assert!(cooked.vertices().iter().all(|vertex| vertex.is_finite()));
            prop_assert!(object < OBJECTS_MAX || cooked.triangles().is_empty());
        }
    }

    #[test]
    fn noise_is_no_cook(bytes in prop::collection::vec(any::<u8>(), 0..200), headed: bool) {
        let mut noise = if headed { cook(&[]).unwrap().encode() } else { Vec::new() };
        noise.truncate(12);
        noise.extend(bytes);
        prop_assert!(Cooked::decode(&noise).is_err() || noise.len() == 32);
    }
}
