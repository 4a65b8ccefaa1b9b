//! glTF into meshes: places, parts, turned faces, pictures, what is left out.

use super::samples::{built, data, entry, gltf, mesh, paths, png, square, square_gltf};
use dh_map::{AlphaMode, Mesh};

/// Numbers that must be exactly equal; plain zeros only.
fn bits(numbers: [f32; 3]) -> [u32; 3] {
    numbers.map(|number| (number + 0.0).to_bits())
}

#[test]
fn node_transforms_are_applied_and_each_node_is_a_part_of_its_name() {
    let nodes = r#""nodes": [0, 2] } ],
  "nodes": [ { "name": "base", "translation": [0, 10, 0], "children": [1] },
             { "name": "top", "mesh": 0, "scale": [2, 2, 2] },
             { "mesh": 0 } ],"#;
    let text = square_gltf();
    let start = text.find("\"nodes\": [0]").unwrap();
    let end = text.find("\"meshes\"").unwrap();
    let mesh = mesh(&format!("{}{nodes}{}", &text[..start], &text[end..]));
    assert_eq!(mesh.parts.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["top", "node 2"]);
    assert_eq!(mesh.bounds(), ([0.0, 0.0, 0.0], [2.0, 12.0, 0.0]));
    assert_eq!((mesh.triangles(), mesh.parts[1].first, mesh.parts[1].count), (4, 6, 6));
}

#[test]
fn a_model_without_normals_has_flat_faces_and_a_mirrored_one_is_not_inside_out() {
    let plain = mesh(&square_gltf());
    assert!(plain.normals[..6].iter().all(|normal| bits(*normal) == bits([0.0, 0.0, 1.0])));
    let mirrored = square_gltf().replace("\"translation\": [5, 0, 0]", "\"scale\": [-1, 1, 1]");
    let mirrored = mesh(&mirrored);
    let corner = |at: usize| {
        let index = usize::try_from(mirrored.indices[at]).unwrap();
        glam::Vec3::from_array(mirrored.positions[index])
    };
    let face = (corner(1) - corner(0)).cross(corner(2) - corner(0)).normalize();
    assert_eq!(bits(face.to_array()), bits([0.0, 0.0, 1.0]));
    assert!(mirrored.normals[..6].iter().all(|normal| bits(*normal) == bits([0.0, 0.0, 1.0])));
}

#[test]
fn strips_fans_and_bare_vertices_become_triangles() {
    for mode in [5, 6] {
        let text = square_gltf().replace("\"indices\": 1", &format!("\"mode\": {mode}"));
        assert_eq!(mesh(&text).triangles(), 2, "mode {mode}");
    }
    assert_eq!(mesh(&square_gltf().replace(", \"indices\": 1", "")).triangles(), 1);
}

#[test]
fn pictures_inside_models_are_entries_stored_once_by_content() {
    let image = data(&png(3));
    let extra = format!(
        r#""images": [ {{ "uri": "{image}" }}, {{ "uri": "wood.png" }} ],
  "textures": [ {{ "source": 0 }}, {{ "source": 1 }} ],
  "materials": [ {{ "name": "wood", "alphaMode": "MASK", "doubleSided": true,
    "pbrMetallicRoughness": {{ "baseColorTexture": {{ "index": 0 }} }},
    "emissiveTexture": {{ "index": 1 }} }} ],"#
    );
    let model = gltf(&extra, &data(&square()));
    let model = model.replace("\"indices\": 1", "\"indices\": 1, \"material\": 0");
    let pallet = built(&[
        ("assets/a.gltf", model.as_bytes()),
        ("assets/b.gltf", model.as_bytes()),
        ("assets/wood.png", &png(4)),
    ]);
    let pallet = pallet.unwrap();
    let paths = paths(&pallet);
    assert_eq!(paths.len(), 4, "{paths:?}");
    assert!(paths[0].starts_with("assets/.images/") && paths[0].ends_with(".png"), "{paths:?}");
    let mesh = Mesh::decode(&entry(&pallet, "assets/b.dh-mesh")).unwrap();
    let wood = &mesh.materials[0];
    assert_eq!(
        (wood.name.as_str(), wood.alpha, wood.double_sided),
        ("wood", AlphaMode::Mask, true)
    );
    assert_eq!(wood.base_image.as_ref(), Some(&paths[0]));
    assert_eq!(wood.emissive_image.as_deref(), Some("assets/wood.png"));
    assert_eq!(entry(&pallet, &paths[0]), png(3));
}

#[test]
fn a_picture_inside_a_model_that_lies_in_the_folder_too_is_not_stored_again() {
    let extra = format!(r#""images": [ {{ "uri": "{}" }} ],"#, data(&png(3)));
    let model = gltf(&extra, &data(&square()));
    let files: [(&str, &[u8]); 2] =
        [("assets/a.gltf", model.as_bytes()), ("assets/same.png", &png(3))];
    let pallet = built(&files).unwrap();
    assert_eq!(paths(&pallet), ["assets/a.dh-mesh", "assets/same.png"]);
}

#[test]
fn skins_stand_in_bind_pose_wherever_their_node_is() {
    let extra = r#""skins": [ { "joints": [0] } ],"#;
    let skinned =
        gltf(extra, &data(&square())).replace("\"mesh\": 0,", "\"mesh\": 0, \"skin\": 0,");
    assert_eq!(bits(mesh(&skinned).bounds().0), bits([0.0, 0.0, 0.0]));
    assert_eq!(bits(mesh(&square_gltf()).bounds().0), bits([5.0, 0.0, 0.0]));
}

#[test]
fn sparse_accessors_change_single_elements() {
    let text = square_gltf().replace(
        "\"max\": [1, 1, 0] }",
        r#""max": [1, 1, 0], "sparse": { "count": 1,
        "indices": { "bufferView": 1, "byteOffset": 2, "componentType": 5123 },
        "values": { "bufferView": 0, "byteOffset": 24 } } }"#,
    );
    // Element 1 takes the value of element 2.
    let mesh = mesh(&text);
    let kept = mesh.positions.iter().any(|place| bits(*place) == bits([6.0, 0.0, 0.0]));
    assert!(!kept, "{:?}", mesh.positions);
}

#[test]
fn arrays_that_reach_beyond_their_bytes_are_refused() {
    for (from, to, told) in [
        ("\"byteLength\": 48", "\"byteLength\": 480", "reaches beyond its buffer"),
        ("\"count\": 4", "\"count\": 5", "reaches beyond its buffer view"),
        ("\"byteLength\": 66,", "\"byteLength\": 67,", "says 67 bytes, there are 66"),
        ("\"type\": \"VEC3\"", "\"type\": \"VEC2\"", "3 are needed"),
        ("5123", "5126", "no list of unsigned integers"),
    ] {
        let text = square_gltf().replacen(from, to, 1);
        let refused = built(&[("assets/a.gltf", text.as_bytes())]).unwrap_err();
        assert!(refused.iter().any(|line| line.contains(told)), "{told}: {refused:#?}");
    }
}
