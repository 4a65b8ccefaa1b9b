//! The entry points for files that come from others, with mutations of good ones.

use dh_cook::{Part as Solid, cook};
use dh_map::{Mesh, mesh};
use dh_tests::fuzz::FILES;

use crate::stage::pallet;
use dh_tests::noise;

/// Mutations of each good file.
const MUTATIONS: usize = 500;
/// Most of what can go wrong lies in the first bytes.
const HEAD: usize = 1_500;

const MAP: &str = r##"{
  "materials": { "stone": { "color": "#c9bfae", "texture": "assets/a.png", "tile": 2.5 } },
  "objects": [ // comments are allowed
    { "id": "a", "transform": { "position": [1, -2.5, 3e1], "rotation": [0, 90, 0] },
      "components": { "dh.box": { "size": [4, 1, 4], "material": "stone" } } },
    { "id": "b", "name": "B", "parent": "a",
      "components": { "dh.model": { "model": "assets/b.glb" }, "dh.spawn": { "radius": 1 },
        "dh.collider": { "shape": "box", "size": [1, 2, 3] }, "dh.camera": { "fov": 70 },
        "dh.sun": { "shadows": false }, "dh.sky": { "haze": 100 } } }
  ]
}"##;

const CORNERS: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
const INDICES: [u32; 6] = [0, 1, 2, 2, 1, 3];

/// A good file of the kind that an entry point of this name reads.
fn good(target: &str) -> Vec<u8> {
    match target {
        "pallet" => pallet().0,
        "map" => MAP.into(),
        "mesh" => a_mesh().encode(),
        "image" => {
            let files = dh_compile::core_sources().0;
            files.iter().find(|(path, _)| path.ends_with("rock.png")).unwrap().1.to_vec()
        }
        "cooked" => cook(&[Solid::in_world(3, &CORNERS, &INDICES)]).unwrap().encode(),
        other => panic!("no good file for {other}"),
    }
}

fn a_mesh() -> Mesh {
    let part = mesh::Part { name: "part".to_owned(), first: 0, count: 6, material: 0 };
    let image = Some("assets/a.png".to_owned());
    Mesh {
        positions: CORNERS.to_vec(),
        normals: vec![[0.0, 1.0, 0.0]; 4],
        uvs: vec![[0.5; 2]; 4],
        colors: vec![[255; 4]; 4],
        tangents: vec![[1.0, 0.0, 0.0, 1.0]; 4],
        indices: INDICES.to_vec(),
        parts: vec![part],
        materials: vec![mesh::Surface { base_image: image, ..mesh::Surface::default() }],
    }
}

#[test]
fn every_good_file_is_one() {
    assert!(dh_map::Map::parse(MAP, "good.dh-map").is_ok());
    assert_eq!(Mesh::decode(&good("mesh")), Ok(a_mesh()));
    assert!(dh_map::image::decode(&good("image"), 64).is_ok());
    assert!(dh_cook::Cooked::decode(&good("cooked")).is_ok());
}

#[test]
fn no_reader_of_files_panics_on_mutations_of_a_good_one() {
    let mut dice = noise(400_000).into_iter().map(usize::from);
    let mut below = |bound: usize| {
        let number = dice.by_ref().take(3).fold(0, |number, byte| (number << 8) | byte);
        number % bound.max(1)
    };
    for (name, target) in FILES {
        let good = good(name);
        target(&good);
        for _ in 0..MUTATIONS {
            let mut bytes = good.clone();
            let head = HEAD.min(bytes.len());
            let at = if below(4) == 0 { below(bytes.len()) } else { below(head) };
            match below(4) {
                0 => bytes[at] ^= 1 << below(8),
                1 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                2 => bytes.truncate(at),
                _ => drop(bytes.drain(at..at + below(40).min(good.len() - at))),
            }
            target(&bytes);
        }
    }
}
