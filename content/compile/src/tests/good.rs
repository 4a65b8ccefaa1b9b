//! Sound sources: what is in the pallet, and that its bytes follow from its content alone.

use super::samples::{built, entry, gltf, map, paths, png, square, square_gltf};
use crate::{BuildError, Progress, Stage, Tree, build, build_bundled, core_sources, schema};
use dh_map::{Components, Map, Mesh};
use dh_pallet::{verify, xxh128};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const YARD: &str = r#"{ // The yard.
  "materials": { "stone": { "texture": "assets/b.png" } },
  "objects": [
    { "id": "floor", "components": { "dh.box": { "material": "stone" } } },
    { "id": "square", "components": { "dh.model": { "model": "yard:assets/deep/square.gltf" } } },
  ],
}"#;

/// Writes a folder with a map, a model with parts beside it, two equal pictures and a plain file.
fn write_folder(folder: &Path) {
    fs::create_dir_all(folder.join("assets/deep")).unwrap();
    let about = r#"{ "id": "yard", "displayName": "Yard", "version": "1", "files": ["read.me"] }"#;
    fs::write(folder.join("pallet.dh"), about).unwrap();
    fs::write(folder.join("read.me"), "hello").unwrap();
    fs::write(folder.join(".hidden"), "no").unwrap();
    fs::write(folder.join("assets/yard.dh-map"), YARD).unwrap();
    fs::write(folder.join("assets/a.png"), png(9)).unwrap();
    fs::write(folder.join("assets/b.png"), png(9)).unwrap();
    fs::write(folder.join("assets/deep/square.bin"), square()).unwrap();
    fs::write(folder.join("assets/deep/square.gltf"), gltf("", "square.bin")).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// MR-21, MR-25, MR-30
#[test]
fn two_folders_of_equal_sources_give_equal_bytes_on_any_number_of_threads() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (home.path().join("one"), home.path().join("two/deeper"));
    write_folder(&one);
    write_folder(&two);
    let out = home.path().join("out");
    fs::create_dir(&out).unwrap();
    let first = build(&one, &out.join("a.pallet"), &|_| {}).unwrap();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let second = threads.install(|| build(&two, &out.join("b.pallet"), &|_| {})).unwrap();
    assert_eq!(first.content, second.content);
    let (a, b) = (fs::read(&first.path).unwrap(), fs::read(&second.path).unwrap());
    assert!(a == b && first.bytes == u64::try_from(a.len()).unwrap());
    assert_eq!(names(&out), ["a.pallet", "b.pallet"]);
    verify(a.as_slice(), Some(&first.content), xxh128, &mut |_, _| {}).unwrap();
}

#[test]
fn everything_under_assets_is_compiled_and_each_picture_is_stored_once() {
    let home = tempfile::tempdir().unwrap();
    write_folder(home.path());
    let built = build(home.path(), &home.path().join("out.pallet"), &|_| {}).unwrap();
    let bytes = fs::read(built.path).unwrap();
    let expected = ["assets/a.png", "assets/deep/square.dh-mesh", "assets/yard.dh-map", "read.me"];
    assert_eq!(paths(&bytes), expected);
    assert_eq!((built.id.as_str(), built.entries), ("yard", 4));
    let text = String::from_utf8(entry(&bytes, "assets/yard.dh-map")).unwrap();
    let map = Map::parse(&text, "yard").unwrap();
    let model = map.objects[1].components.model.as_ref().unwrap();
    assert_eq!(model.model.as_str(), "assets/deep/square.dh-mesh");
    assert!(text.contains("\"texture\":\"assets/a.png\""), "{text}");
    assert_eq!(entry(&bytes, "read.me"), b"hello");
    let notes: Vec<String> = built.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "assets/deep/square.gltf: 1 degenerate triangle dropped",
            "assets/yard.dh-map: no object has a dh.spawn, so that players arrive at [0, 0, 0]; \
             give one object a \"dh.spawn\"",
        ]
    );
}

#[test]
fn the_result_lands_in_a_folder_under_the_pallets_id() {
    let home = tempfile::tempdir().unwrap();
    write_folder(&home.path().join("src"));
    let built = build(&home.path().join("src"), home.path(), &|_| {}).unwrap();
    assert_eq!(built.path, home.path().join("yard.pallet"));
}

#[test]
fn progress_goes_through_every_stage_to_its_end() {
    let home = tempfile::tempdir().unwrap();
    write_folder(home.path());
    let told = Mutex::new(Vec::new());
    let out = home.path().join("out.pallet");
    build(home.path(), &out, &|progress: Progress| told.lock().unwrap().push(progress)).unwrap();
    let told = told.into_inner().unwrap();
    for stage in [Stage::Images, Stage::Models, Stage::Maps, Stage::Writing] {
        assert!(told.iter().any(|p| p.stage == stage && p.done == p.total), "{stage:?}: {told:?}");
    }
    assert!(told.iter().all(|p| p.done <= p.total));
}

#[test]
fn a_pallet_without_its_sources_comes_from_files_of_the_program() {
    let pallet = built(&[
        ("assets/m.dh-map", map(r#"{ "id": "a" }"#).as_bytes()),
        ("assets/s.gltf", square_gltf().as_bytes()),
    ]);
    let pallet = pallet.unwrap();
    assert!(Mesh::decode(&entry(&pallet, "assets/s.dh-mesh")).is_ok());
    assert_eq!(entry(&pallet, "assets/m.dh-map"), b"{\"objects\":[{\"id\":\"a\"}]}\n");
}

#[test]
fn a_build_that_cannot_be_written_or_read_says_which_place_is_at_fault() {
    let home = tempfile::tempdir().unwrap();
    write_folder(home.path());
    let nowhere = home.path().join("no/such/out.pallet");
    let refused = build(home.path(), &nowhere, &|_| {}).unwrap_err();
    assert!(
        matches!(refused, BuildError::Output(error) if error.path == nowhere.to_str().unwrap())
    );
    let refused = build(&home.path().join("none"), home.path(), &|_| {}).unwrap_err();
    assert!(matches!(refused, BuildError::Missing(path, _) if path.ends_with("none")));
}

#[test]
fn schemas_are_json_and_name_the_keys() {
    let home = tempfile::tempdir().unwrap();
    schema(&home.path().join("deep")).unwrap();
    for (file, key) in [("pallet.schema.json", "displayName"), ("dh-map.schema.json", "objects")] {
        let text = fs::read_to_string(home.path().join("deep").join(file)).unwrap();
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["additionalProperties"], serde_json::Value::Bool(false));
        assert!(schema["properties"][key]["description"].is_string(), "{file}");
    }
}

/// Every file below a folder, by path.
fn files_of(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let each = entries.flat_map(|entry| {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let is_folder = entry.path().is_dir();
        if is_folder { files_of(&entry.path(), &format!("{path}/")) } else { vec![path] }
    });
    each.collect()
}

#[test]
fn the_core_pallet_is_every_file_of_its_folder_but_its_generator_and_builds_alike_from_both() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core");
    let mut files = files_of(&folder, "");
    files.sort();
    files.retain(|file| file != "generate.py");
    let bundled = core_sources().list().unwrap();
    assert_eq!(bundled.files.iter().map(|found| found.path.clone()).collect::<Vec<_>>(), files);
    let home = tempfile::tempdir().unwrap();
    let built = build(&folder, home.path(), &|_| {}).unwrap();
    let bytes = build_bundled(core_sources()).unwrap();
    assert!(fs::read(built.path).unwrap() == bytes);
    assert!(bytes.len() < 200 << 10, "{} bytes", bytes.len());
    for path in ["assets/demo.dh-map", "assets/gray-box.dh-map"] {
        let text = String::from_utf8(entry(&bytes, path)).unwrap();
        let map = Map::parse(&text, path).unwrap();
        let has = |what: fn(&Components) -> bool| {
            map.objects.iter().filter(|object| what(&object.components)).count()
        };
        assert!(has(|c| c.spawn.is_some()) >= 8, "{path}");
        assert_eq!((has(|c| c.sun.is_some()), has(|c| c.sky.is_some())), (1, 1), "{path}");
        assert!(has(|c| c.camera.is_some()) >= 1, "{path}");
    }
}

#[test]
fn the_demo_world_is_light_enough_for_a_processor_to_draw() {
    let bytes = build_bundled(core_sources()).unwrap();
    let text = String::from_utf8(entry(&bytes, "assets/demo.dh-map")).unwrap();
    let map = Map::parse(&text, "demo").unwrap();
    let triangles = |components: &Components| {
        let boxes = if components.solid.is_some() { 12 } else { 0 };
        let model = components.model.as_ref().map_or(0, |model| {
            Mesh::decode(&entry(&bytes, model.model.path())).unwrap().triangles()
        });
        boxes + model
    };
    let all: usize = map.objects.iter().map(|object| triangles(&object.components)).sum();
    assert!((5_000..60_000).contains(&all), "{all} triangles");
}
