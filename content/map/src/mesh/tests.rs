//! Meshes: bytes there and back, every rule refused, hostile bytes harmless.

use super::{AlphaMode, Mesh, MeshError, Part, Surface};
use proptest::prelude::*;

fn sample() -> Mesh {
    let surface = Surface {
        name: "bark".to_owned(),
        alpha: AlphaMode::Mask,
        double_sided: true,
        base_image: Some("assets/bark.png".to_owned()),
        emissive_image: Some("assets/glow.jpg".to_owned()),
        ..Surface::default()
    };
    let part =
        |name: &str, first, material| Part { name: name.to_owned(), first, count: 3, material };
    Mesh {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, -3.0]],
        normals: vec![[0.0, 0.0, 1.0]; 4],
        uvs: vec![[0.0, 1.0]; 4],
        colors: vec![[1, 2, 3, 4]; 4],
        tangents: vec![[1.0, 0.0, 0.0, -1.0]; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: vec![part("trunk", 0, 1), part("crown", 3, 0)],
        materials: vec![Surface::default(), surface],
    }
}

fn broken(breaking: impl FnOnce(&mut Mesh)) -> MeshError {
    let mut mesh = sample();
    breaking(&mut mesh);
    Mesh::decode(&mesh.encode()).unwrap_err()
}

#[test]
fn a_mesh_is_the_same_after_its_bytes() {
    let mesh = sample();
    assert_eq!(Mesh::decode(&mesh.encode()).unwrap(), mesh);
    let bare = Mesh { uvs: vec![], colors: vec![], tangents: vec![], ..mesh };
    assert_eq!(Mesh::decode(&bare.encode()).unwrap(), bare);
    assert_eq!(bare.bounds(), ([0.0, 0.0, -3.0], [1.0, 2.0, 0.0]));
}

#[test]
fn every_rule_of_a_mesh_is_checked_when_it_is_read() {
    let rules = [
        broken(|m| {
            m.indices.clear();
            m.parts.clear();
        }),
        broken(|m| m.indices[5] = 4),
        broken(|m| {
            m.indices.pop();
        }),
        broken(|m| m.positions[2][1] = f32::NAN),
        broken(|m| m.normals[0][0] = f32::INFINITY),
        broken(|m| m.uvs[0][0] = f32::NEG_INFINITY),
        broken(|m| m.tangents[3][3] = f32::NAN),
        broken(|m| m.parts[1].first = 4),
        broken(|m| m.parts[1].material = 2),
        broken(|m| {
            m.parts.pop();
        }),
        broken(|m| m.parts[0].count = 0),
        broken(|m| m.parts[0].name = "x".repeat(257)),
        broken(|m| m.materials[0].base[3] = 1.5),
        broken(|m| m.materials[0].emissive[0] = -1.0),
        broken(|m| m.materials[0].base_image = Some("../x.png".to_owned())),
    ];
    let told: std::collections::BTreeSet<String> = rules.iter().map(ToString::to_string).collect();
    assert!(rules.iter().all(|error| matches!(error, MeshError::Rule(_))), "{rules:?}");
    assert!(told.len() >= 12, "{told:#?}");
}

#[test]
fn bytes_of_another_format_or_length_are_refused() {
    let bytes = sample().encode();
    assert_eq!(Mesh::decode(b"DHMESH02"), Err(MeshError::Magic));
    assert_eq!(Mesh::decode(b""), Err(MeshError::Magic));
    for length in 8..bytes.len() {
        assert!(Mesh::decode(&bytes[..length]).is_err(), "{length}");
    }
    assert_eq!(Mesh::decode(&[&bytes[..], &[0]].concat()), Err(MeshError::Trailing));
}

#[test]
fn a_count_without_bytes_behind_it_is_refused_before_it_is_allocated() {
    for place in [8, 12, 16, 20] {
        let mut bytes = sample().encode();
        bytes[place..place + 4].copy_from_slice(&65_000_u32.to_le_bytes());
        assert!(Mesh::decode(&bytes).is_err());
        bytes[place..place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(Mesh::decode(&bytes), Err(MeshError::Rule(_))));
    }
}

proptest! {
    #[test]
    fn hostile_bytes_are_refused_or_read_to_a_mesh_that_keeps_the_rules(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = sample().encode();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(mesh) = Mesh::decode(&bytes) {
            prop_assert!(mesh.check().is_ok());
            prop_assert_eq!(mesh.encode(), bytes);
        }
    }
}
