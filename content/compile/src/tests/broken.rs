//! Bad content: one clear error each, with file, place and remedy, and nothing half-written.

use super::samples::{ABOUT, bomb, built, data, entry, gltf, map, png, square, square_gltf};
use crate::{BuildError, Bundled, build, build_bundled, core_sources};
use dh_map::jsonc::PROBLEMS_MAX;
use std::fs;

/// What is told of one bad file.
fn told(path: &str, bytes: &[u8]) -> Vec<String> {
    built(&[(path, bytes)]).unwrap_err()
}

fn told_of_model(model: &str) -> Vec<String> {
    told("assets/a.gltf", model.as_bytes())
}

fn one(told: &[String], starts: &str, contains: &str) {
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].starts_with(starts) && told[0].contains(contains), "{told:#?}");
}

#[test]
fn a_mesh_without_triangles_is_refused() {
    let lines = square_gltf().replace("\"indices\": 1", "\"indices\": 1, \"mode\": 1");
    let refused = told_of_model(&lines);
    one(&refused, "assets/a.gltf:1:1: a mesh without triangles", "export it with faces");
    let none = square_gltf().replace("\"mesh\": 0, ", "");
    one(&told_of_model(&none), "assets/a.gltf:1:1: ", "a mesh without triangles");
}

#[test]
fn an_index_out_of_range_is_refused_at_its_line() {
    let mut bytes = square();
    bytes[48..50].copy_from_slice(&7_u16.to_le_bytes());
    let refused = told_of_model(&gltf("", &data(&bytes)));
    let starts = "assets/a.gltf:7:79: meshes[0].primitives[0].indices: index 7 is out of range";
    one(&refused, starts, "there are 4 vertices");
    let nowhere = square_gltf().replace("\"indices\": 1", "\"indices\": 9");
    assert!(told_of_model(&nowhere)[0].starts_with("assets/a.gltf:7:"));
}

#[test]
fn positions_that_are_not_finite_are_refused() {
    for bad in [f32::NAN, f32::INFINITY, 1e20] {
        let mut bytes = square();
        bytes[16..20].copy_from_slice(&bad.to_le_bytes());
        one(
            &told_of_model(&gltf("", &data(&bytes))),
            "assets/a.gltf:7:",
            "position 1 is not finite",
        );
    }
    let scaled = square_gltf().replace("[5, 0, 0]", "[1e30, 0, 0]");
    one(&told_of_model(&scaled), "assets/a.gltf:7:", "position 0 is not finite");
}

#[test]
fn more_than_four_million_triangles_are_refused_before_they_are_read() {
    let many = square_gltf().replace("\"count\": 9", "\"count\": 12000003");
    one(&told_of_model(&many), "assets/a.gltf:1:1: 4000001 triangles", "split it");
}

#[test]
fn cyclic_nodes_are_refused() {
    let nodes = r#""name": "square", "children": [1] }, { "children": [0],"#;
    let cyclic = square_gltf().replace("\"name\": \"square\",", nodes);
    let refused = told_of_model(&cyclic);
    assert!(refused.iter().any(|told| told.contains("cyclic nodes")), "{refused:#?}");
    let own = square_gltf().replace("\"mesh\": 0,", "\"mesh\": 0, \"children\": [0],");
    assert!(told_of_model(&own)[0].starts_with("assets/a.gltf:6:"));
    let shared = r#""children": [1, 1] }, {"#;
    let shared = square_gltf().replace("\"name\": \"square\",", shared);
    assert!(told_of_model(&shared)[0].contains("a node with two parents"));
}

#[test]
fn uris_that_leave_the_folder_are_refused_whatever_they_are_written_like() {
    let outside = [
        "/etc/passwd",
        "../secret.bin",
        "a/../../secret.bin",
        "D:\\\\x.bin",
        "D:/x.bin",
        "file:///x.bin",
        "https://example.com/x.bin",
        "%2e%2e/secret.bin",
        "..%5Cx.bin",
        "a//b.bin",
    ];
    for uri in outside {
        let refused = told_of_model(&gltf("", uri));
        one(&refused, "assets/a.gltf:17:", "leaves the model's folder; put the file beside");
    }
    let image = r#""images": [ { "uri": "../x.png" } ],"#;
    let refused = told_of_model(&gltf(image, &data(&square())));
    one(&refused, "assets/a.gltf:2:24: images[0].uri", "leaves the model's folder");
}

#[test]
fn a_missing_buffer_or_picture_is_told_with_the_nearest_name() {
    let model = gltf(r#""images": [ { "uri": "wod.png" } ],"#, "squar.bin");
    let refused = built(&[
        ("assets/d/a.gltf", model.as_bytes()),
        ("assets/d/square.bin", &square()),
        ("assets/d/wood.png", &png(1)),
    ]);
    let refused = refused.unwrap_err();
    assert_eq!(refused.len(), 2, "{refused:#?}");
    assert!(refused[0].contains("there is no image \"wod.png\"; did you mean \"wood.png\"?"));
    assert!(refused[1].contains("no buffer \"squar.bin\"; did you mean \"square.bin\"?"));
}

#[test]
fn a_bomb_is_refused_wherever_it_lies() {
    one(&told("assets/a.png", &bomb()), "assets/a.png: 60000 x 60000 pixels", "at most");
    let image = format!("\"images\": [ {{ \"uri\": \"{}\" }} ],", data(&bomb()));
    let refused = told_of_model(&gltf(&image, &data(&square())));
    one(&refused, "assets/a.gltf:2:24: images[0]", "60000 x 60000 pixels");
    one(&told("assets/a.png", b"no picture"), "assets/a.png: neither PNG nor JPEG", "");
}

#[test]
fn a_map_that_names_a_model_or_picture_that_is_not_there_is_told_where() {
    let text = r#"{ "materials": { "m": { "texture": "assets/ston.png" } }, "objects": [
{ "id": "a", "components": { "dh.model": { "model": "assets/tre.gltf" } } },
{ "id": "b", "components": { "dh.model": { "model": "forest:assets/tree.gltf" } } } ] }"#;
    let refused = built(&[
        ("assets/m.dh-map", text.as_bytes()),
        ("assets/tree.gltf", square_gltf().as_bytes()),
        ("assets/stone.png", &png(1)),
    ]);
    let refused = refused.unwrap_err();
    assert_eq!(
        refused[..2],
        [
            "assets/m.dh-map:1:36: there is no picture \"assets/ston.png\"; \
             did you mean \"assets/stone.png\"?",
            "assets/m.dh-map:2:53: there is no model \"assets/tre.gltf\"; \
             did you mean \"assets/tree.gltf\"?",
        ]
    );
    assert!(refused[2].contains("\"forest\" is another pallet"), "{refused:#?}");
}

#[test]
fn the_mistakes_of_all_files_are_told_in_one_run_in_order() {
    let twice = map("{ \"id\": \"a\" },\n{ \"id\": \"a\" }");
    let about = r#"{ "id": "Yard!", "displayName": "x", "version": "1", "file": [] }"#;
    let files: [(&str, &[u8]); 5] = [
        ("pallet.dh", about.as_bytes()),
        ("assets/a.dh-map", twice.as_bytes()),
        ("assets/b.dh-map", b"{ \"objects\": [ }"),
        ("assets/c.gltf", b"{ \"asset\": }"),
        ("assets/d.glb", b"glTF\x02\0\0\0\xff\0\0\0"),
    ];
    let Err(BuildError::Content(problems)) = build_bundled(Bundled(&files)) else {
        panic!("it was built");
    };
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let starts = [
        "assets/a.dh-map:3:9: two objects have the id \"a\"",
        "assets/b.dh-map:1:16: ",
        "assets/c.gltf:1:12: no glTF: expected value",
        "assets/d.glb: no glTF 2.0",
        "pallet.dh:1:9: \"Yard!\" is no pallet id: a-z, 0-9, and - _ . between them",
        "pallet.dh:1:54: unknown key \"file\"; did you mean \"files\"?",
    ];
    assert_eq!(told.len(), starts.len(), "{told:#?}");
    assert!(told.iter().zip(starts).all(|(told, start)| told.starts_with(start)), "{told:#?}");
}

#[test]
fn a_listed_file_must_exist_once_and_not_be_compiled() {
    let about = ABOUT.replace("}", ", \"files\": [ \"red.me\", \"assets/m.dh-map\" ] }");
    let m = map(r#"{ "id": "a" }"#);
    let files: [(&str, &[u8]); 3] =
        [("pallet.dh", about.as_bytes()), ("assets/m.dh-map", m.as_bytes()), ("read.me", b"")];
    let told = build_bundled(Bundled(&files)).unwrap_err().to_string();
    assert!(told.contains("there is no file \"red.me\"; did you mean \"read.me\"?"), "{told}");
    assert!(told.contains("\"assets/m.dh-map\" is compiled already"), "{told}");
}

#[test]
fn a_folder_without_pallet_dh_or_assets_is_told_what_to_write() {
    let told = build_bundled(Bundled(&[])).unwrap_err().to_string();
    assert!(told.contains("assets: no map, model or picture"), "{told}");
    assert!(told.contains("pallet.dh: is not there; write { \"id\""), "{told}");
}

#[test]
fn models_that_become_one_entry_are_refused() {
    let model = square_gltf();
    let refused = built(&[("assets/a.glb", model.as_bytes()), ("assets/a.gltf", model.as_bytes())]);
    one(&refused.unwrap_err(), "assets/a.gltf: becomes the same entry as assets/a.glb", "rename");
}

#[test]
fn an_extension_that_a_model_cannot_do_without_is_named() {
    let needs = r#""extensionsRequired": ["KHR_draco_mesh_compression"],"#;
    let refused = told_of_model(&gltf(needs, &data(&square())));
    one(&refused, "assets/a.gltf:2:", "extension");
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_folder_is_refused_and_nothing_is_left_behind() {
    let home = tempfile::tempdir().unwrap();
    let (folder, out) = (home.path().join("src"), home.path().join("out"));
    fs::create_dir_all(folder.join("assets")).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(folder.join("pallet.dh"), ABOUT).unwrap();
    fs::write(home.path().join("secret.png"), png(1)).unwrap();
    let link = folder.join("assets/a.png");
    std::os::unix::fs::symlink(home.path().join("secret.png"), &link).unwrap();
    let target = out.join("yard.pallet");
    fs::write(&target, "what was there").unwrap();
    let refused = build(&folder, &target, &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("assets/a.png: is a link that leaves the folder"), "{refused}");
    fs::remove_file(&link).unwrap();
    fs::write(folder.join("assets/a.gltf"), "{}").unwrap();
    build(&folder, &target, &|_| {}).unwrap_err();
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    assert_eq!(fs::read(&target).unwrap(), b"what was there");
    fs::remove_file(folder.join("assets/a.gltf")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("assets/loop")).unwrap();
    let refused = build(&folder, &target, &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("assets/loop: is a link to a folder"), "{refused}");
}

#[test]
fn a_damaged_model_is_refused_or_read_and_never_panics() {
    let text = square_gltf().into_bytes();
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    let body = [text.as_slice(), b"  "].concat();
    let body = &body[..body.len() / 4 * 4];
    glb.extend(u32::try_from(body.len() + 20).unwrap().to_le_bytes());
    glb.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(body);
    for (path, whole) in [("assets/a.gltf", &text), ("assets/a.glb", &glb)] {
        for at in 0..whole.len().min(700) {
            for byte in [b'0', b'9', b'-', b'"', 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = built(&[(path, &bytes)]);
            }
            let _ = built(&[(path, &whole[..at])]);
        }
    }
}

#[test]
fn the_id_of_the_built_in_pallet_is_refused_to_all_others() {
    let about = ABOUT.replace("yard", "core");
    let map = map(r#"{ "id": "a" }"#);
    let files: [(&str, &[u8]); 2] =
        [("pallet.dh", about.as_bytes()), ("assets/m.dh-map", map.as_bytes())];
    let told = build_bundled(Bundled(&files)).unwrap_err().to_string();
    assert_eq!(told, "pallet.dh:1:9: \"core\" is the id of the built-in pallet; choose another");
    build_bundled(core_sources()).unwrap();
}

#[test]
fn a_byte_order_mark_in_front_of_authored_files_is_skipped() {
    let about = format!("\u{feff}{ABOUT}");
    let map = format!("\u{feff}{}", map(r#"{ "id": "a" }"#));
    let files: [(&str, &[u8]); 2] =
        [("pallet.dh", about.as_bytes()), ("assets/m.dh-map", map.as_bytes())];
    let pallet = build_bundled(Bundled(&files)).unwrap();
    assert_eq!(entry(&pallet, "assets/m.dh-map"), b"{\"objects\":[{\"id\":\"a\"}]}\n");
}

#[test]
fn entries_that_are_one_on_some_disks_are_told_by_their_sources() {
    let model = square_gltf();
    let refused =
        built(&[("assets/A.gltf", model.as_bytes()), ("assets/a.gltf", model.as_bytes())]);
    let refused = refused.unwrap_err();
    one(&refused, "assets/a.gltf: \"assets/A.gltf\" and \"assets/a.gltf\" are one", "rename one");
}

#[test]
fn what_is_called_glb_and_is_none_is_told_so() {
    one(&told("assets/a.glb", b"\0\x01junk"), "assets/a.glb: is no GLB", "letters glTF; export");
    one(&told("assets/a.glb", b""), "assets/a.glb: is no GLB", "");
}

#[test]
fn a_missing_buffer_is_not_looked_for_among_maps_and_pictures() {
    let model = gltf("", "square.dat");
    let files: [(&str, &[u8]); 4] = [
        ("assets/a.gltf", model.as_bytes()),
        ("assets/far.bin", b""),
        ("assets/square.dae", b""),
        ("assets/square.png", &png(1)),
    ];
    let refused = built(&files).unwrap_err();
    one(&refused, "assets/a.gltf:17:", "no buffer \"square.dat\"; known here: far.bin");
}

#[test]
fn a_picture_or_model_of_another_kind_is_told_apart_from_one_that_is_not_there() {
    let text = r#"{ "materials": { "m": { "texture": "assets/check.tga" } }, "objects": [
{ "id": "a", "components": { "dh.model": { "model": "assets/tree.obj" } } },
{ "id": "b", "components": { "dh.model": { "model": "tree.gltf" } } } ] }"#;
    let refused = built(&[
        ("assets/m.dh-map", text.as_bytes()),
        ("assets/check.tga", b""),
        ("assets/tree.obj", b""),
        ("tree.gltf", square_gltf().as_bytes()),
    ]);
    let refused = refused.unwrap_err();
    assert_eq!(refused.len(), 3, "{refused:#?}");
    assert!(refused[0].contains("\"assets/check.tga\" is no PNG or JPEG, and no other picture is"));
    assert!(refused[1].contains("\"assets/tree.obj\" is no .gltf or .glb, and no other model is"));
    assert!(refused[2].contains("\"tree.gltf\" lies outside of assets/"), "{refused:#?}");
}

#[test]
fn very_many_mistakes_of_a_model_are_told_up_to_the_limit() {
    let wrong = |count: usize| format!("\"meshes\": [ {} ],", vec![BAD_MESH; count].join(",\n"));
    for (count, lines) in [(PROBLEMS_MAX, PROBLEMS_MAX), (40_000, PROBLEMS_MAX + 1)] {
        let model = square_gltf();
        let start = model.find("\"meshes\"").unwrap();
        let end = model.find("\"accessors\"").unwrap();
        let model = format!("{}{}{}", &model[..start], wrong(count), &model[end..]);
        let refused = told_of_model(&model);
        assert_eq!(refused.len(), lines, "{:?}", &refused[..3]);
        assert_eq!(
            refused.iter().filter(|line| line.contains("more problems")).count(),
            lines / 101
        );
    }
    let materials = vec![r#"{ "normalTexture": { "index": 7 } }"#; 40_000].join(",");
    let refused = told_of_model(&gltf(&format!("\"materials\": [{materials}],"), &data(&square())));
    assert_eq!(refused.len(), PROBLEMS_MAX + 1);
    let buffers = vec![r#"{ "byteLength": 66, "uri": "x.bin" }"#; 40_000].join(",");
    let refused = told_of_model(
        &square_gltf().replace("\"buffers\": [", &format!("\"buffers\": [{buffers},")),
    );
    assert_eq!(refused.len(), PROBLEMS_MAX + 1);
}

const BAD_MESH: &str = r#"{ "primitives": [ { "attributes": { "POSITION": 9 } } ] }"#;

#[test]
fn what_content_says_of_itself_never_reaches_a_terminal_as_it_is() {
    let about =
        ABOUT.replace("}", ", \"files\": [ \"\\u001b[2J\\u202e\" ], \"\\n\\u2028key\": 1 }");
    let wild = "\\u001b]0;x\\u0007\\n";
    let needs = format!(
        "\"extensionsRequired\": [ \"{wild}\" ], \"images\": [ {{ \"uri\": \"{wild}\" }} ],"
    );
    let model = gltf(&needs, wild);
    let long = "k".repeat(3_000_000);
    let text = format!("{{ \"objects\": [], \"{long}\": 1 }}");
    let files: [(&str, &[u8]); 4] = [
        ("pallet.dh", about.as_bytes()),
        ("assets/a.gltf", model.as_bytes()),
        ("assets/b.dh-map", text.as_bytes()),
        ("assets/\u{1b}[31m\u{202e}.png", b"no picture"),
    ];
    let Err(BuildError::Content(problems)) = build_bundled(Bundled(&files)) else {
        panic!("it was built");
    };
    assert!(problems.len() > 5, "{problems:?}");
    for line in problems.iter().map(ToString::to_string) {
        assert!(line.chars().count() < 2100, "{}", line.len());
        let wild = |letter: char| letter.is_control() || "\u{202e}\u{2028}".contains(letter);
        assert!(!line.chars().any(wild), "{line:?}");
    }
}
