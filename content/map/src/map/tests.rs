//! Maps: what is read, what is refused and where, canonical text, places in the world.

use super::{Draft, Map, Named, OBJECTS_MAX};
use crate::components::Collision;
use crate::jsonc::{PROBLEMS_MAX, Report};
use crate::value::Color;
use proptest::prelude::*;

const WHOLE: &str = r##"{
  // A yard.
  "$schema": "dh-map.schema.json",
  "materials": { "stone": { "color": "#a09080", "texture": "assets/stone.png", "tile": 2 } },
  "objects": [
    { "id": "floor", "components": { "dh.box": { "size": [20, 0.5, 20], "material": "stone" } } },
    { "id": "tree", "name": "Old \"tree\"", "parent": "floor",
      "transform": { "position": [1, 0.25, -3], "rotation": [0, 90, 0], "scale": [2, 2, 2] },
      "components": { "dh.model": { "model": "assets/tree.glb" },
                      "dh.collider": { "shape": "none" } } },
    { "id": "start", "components": { "dh.spawn": { "radius": 1.5 } } },
    { "id": "sun", "transform": { "rotation": [-30, 20, 0] }, "components": { "dh.sun": {} } },
    { "id": "sky", "components": { "dh.sky": { "haze": 200 } } },
    { "id": "view", "components": { "dh.camera": { "fov": 50 } }, },
  ],
}"##;

fn told(text: &str) -> Vec<String> {
    let problems = Map::parse(text, "assets/a.dh-map").unwrap_err();
    problems.iter().map(|p| p.to_string().replace("assets/a.dh-map:", "")).collect()
}

fn with_objects(objects: &str) -> String {
    format!("{{ \"objects\": [\n{objects}\n] }}")
}

#[test]
fn every_component_is_read() {
    let map = Map::parse(WHOLE, "a").unwrap();
    let floor = map.objects[0].components.solid.as_ref().unwrap();
    assert_eq!(map.material_of(floor).color, Color([0xa0, 0x90, 0x80]));
    let tree = &map.objects[1].components;
    assert_eq!(tree.model.as_ref().unwrap().model.path(), "assets/tree.glb");
    assert_eq!(tree.collider.as_ref().unwrap().shape, Collision::None);
    assert_eq!(map.objects[2].components.spawn.as_ref().map(|s| s.radius), Some(1.5));
    assert!(map.objects[3].components.sun.as_ref().unwrap().shadows);
    assert_eq!(map.objects[4].components.sky.as_ref().unwrap().haze, Some(200.0));
    assert_eq!(map.objects[5].components.camera.as_ref().map(|c| c.fov), Some(50.0));
}

#[test]
fn canonical_text_is_strict_json_that_reads_back_to_the_same_map() {
    let map = Map::parse(WHOLE, "a").unwrap();
    let text = map.text();
    assert_eq!(text.lines().count(), 1);
    let again = Map::parse(&text, "a").unwrap();
    assert_eq!(again.text(), text);
    assert_eq!((&again.objects, &again.materials), (&map.objects, &map.materials));
    assert!(!text.contains("schema") && !text.contains("\"position\":[0,0,0]"), "{text}");
}

#[test]
fn all_mistakes_of_a_file_are_told_in_one_run_each_at_its_place() {
    let text = with_objects(concat!(
        "{ \"id\": \"a\", \"colour\": 1, \"components\": { \"dh.bx\": {} } },\n",
        "{ \"id\": \"a b\" },\n",
        "{ \"id\": \"c\", \"components\": { \"dh.box\": { \"size\": [1, 2] } } },\n",
        "{ \"id\": \"d\", \"components\": { \"dh.sky\": { \"zenith\": \"blue\" } } },\n",
        "{ \"id\": \"e\", \"transform\": { \"position\": [0, 1e9, 1e99] } },\n",
        "{ \"id\": \"f\", \"components\": { \"dh.box\": {}, ",
        "\"dh.collider\": { \"shape\": \"mash\" } } },\n",
        "{ \"name\": 7 },\n",
        "{ \"id\": \"h\", \"components\": { \"dh.model\": { \"model\": \"../x.glb\" } } }",
    ));
    let told = told(&text);
    let starts = [
        "2:14: unknown key \"colour\"",
        "2:43: unknown key \"dh.bx\"; did you mean \"dh.box\"?",
        "3:9: \"a b\" is no valid id",
        "4:50: expected 3 numbers, found 2",
        "5:52: \"blue\" is no colour",
        "6:45: 1e9 is out of range; position lies within -100000 and 100000",
        "6:50: 1e99 is out of range",
        "7:70: unknown shape \"mash\"; did you mean \"mesh\"?",
        "8:1: the key \"id\" is missing",
        "8:11: expected a string, found a number",
        "9:53: \"../x.glb\" cannot be named; \"..\" leaves the folder",
    ];
    assert_eq!(told.len(), starts.len(), "{told:#?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}\n{start}");
    }
}

#[test]
fn two_objects_with_one_id_are_refused() {
    let text = with_objects("{ \"id\": \"a\", \"name\": \"First\" },\n{ \"id\": \"a\" }");
    assert_eq!(
        told(&text),
        ["3:9: two objects have the id \"a\"; the first is in line 2; give one of them another id"]
    );
}

#[test]
fn a_parent_must_exist_and_no_object_may_ride_on_itself() {
    let text = with_objects("{ \"id\": \"table\" },\n{ \"id\": \"cup\", \"parent\": \"tabel\" }");
    assert_eq!(told(&text), ["3:26: unknown parent \"tabel\"; did you mean \"table\"?"]);
    let text =
        with_objects("{ \"id\": \"a\", \"parent\": \"b\" },\n{ \"id\": \"b\", \"parent\": \"a\" }");
    let circle = "2:24: \"a\" rides on itself: a -> b -> a; break the circle of parents";
    assert_eq!(told(&text), [circle]);
    let own = with_objects("{ \"id\": \"a\", \"parent\": \"a\" }");
    assert_eq!(told(&own), ["2:24: \"a\" rides on itself; break the circle of parents"]);
}

/// Objects with these ids and parents.
fn riding(objects: impl Iterator<Item = (String, String)>) -> String {
    let object = |(id, parent)| format!("{{ \"id\": \"{id}\", \"parent\": \"{parent}\" }}");
    with_objects(&objects.map(object).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn a_circle_is_told_once_with_its_path_and_what_hangs_below_it_is_not() {
    let below = (0..50).map(|at| (format!("leaf-{at}"), "c".to_owned()));
    let circle = [("b", "c"), ("c", "d"), ("d", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let text = riding(below.chain(circle));
    assert_eq!(
        told(&text),
        ["52:24: \"b\" rides on itself: b -> c -> d -> b; break the circle of parents"]
    );
    let large = (0..1000).map(|at| (format!("o{at}"), format!("o{}", (at + 1) % 1000)));
    let told = told(&riding(large));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("o0 -> o1 -> o2 -> o3 -> o4 -> o5 -> o6 -> o7 -> o8 -> ... -> o0;"));
}

#[test]
fn very_many_parents_that_do_not_exist_end_in_a_few_problems_after_a_second_not_after_hours() {
    let long = |at: usize| format!("{at:0>60}");
    let objects = (0..OBJECTS_MAX).map(|at| (long(at), format!("{}x", long(at))));
    let text = riding(objects);
    let told = told(&text);
    assert_eq!(told.len(), PROBLEMS_MAX + 1);
    assert!(told[PROBLEMS_MAX].contains("more problems than the 100"), "{told:?}");
}

#[test]
fn a_required_key_that_is_mistyped_is_one_problem() {
    assert_eq!(
        told(&with_objects("{ \"ID\": \"a\" }")),
        ["2:3: unknown key \"ID\"; did you mean \"id\"?"]
    );
    assert_eq!(
        told("{ \"object\": [] }"),
        ["1:3: unknown key \"object\"; did you mean \"objects\"?"]
    );
    let bare = with_objects("{ \"id\": \"a\", \"components\": { \"box\": {} } }");
    assert_eq!(told(&bare), ["2:30: unknown key \"box\"; did you mean \"dh.box\"?"]);
}

#[test]
fn a_material_or_list_that_stands_twice_or_is_wrong_has_no_further_problems() {
    let solid = "{ \"id\": \"a\", \"components\": { \"dh.box\": { \"material\": \"stone\" } } }";
    for materials in [
        "\"materials\": { \"stone\": {}, \"stone\": {} }",
        "\"materials\": { \"stone\": 5 }",
        "\"materials\": {}, \"materials\": { \"stone\": {} }",
    ] {
        let told = told(&format!("{{ {materials}, \"objects\": [ {solid} ] }}"));
        assert_eq!(told.len(), 1, "{materials}: {told:?}");
    }
    let child = "{ \"id\": \"b\", \"parent\": \"a\" }";
    let twice = told(&format!("{{ \"objects\": [ {child} ], \"objects\": [ {solid} ] }}"));
    assert_eq!(twice.len(), 1, "{twice:?}");
}

#[test]
fn one_number_scales_all_axes_and_is_written_as_a_list() {
    let map =
        Map::parse(&with_objects("{ \"id\": \"a\", \"transform\": { \"scale\": 2.5 } }"), "a");
    let text = map.unwrap().text();
    assert!(text.contains("\"scale\":[2.5,2.5,2.5]"), "{text}");
    let bad = |value: &str, key: &str| {
        told(&with_objects(&format!(
            "{{ \"id\": \"a\", \"transform\": {{ \"{key}\": {value} }} }}"
        )))
    };
    assert!(bad("0", "scale")[0].contains("0 is out of range"), "{:?}", bad("0", "scale"));
    assert!(bad("\"2\"", "scale")[0].contains("expected a list of 3 numbers, or one number"));
    assert!(bad("2", "position")[0].contains("expected a list of 3 numbers, found"));
}

#[test]
fn a_texture_is_seen_as_it_is_unless_a_colour_is_said() {
    let color = |material: &str| {
        let text = format!("{{ \"materials\": {{ \"m\": {material} }}, \"objects\": [] }}");
        let map = Map::parse(&text, "a").unwrap();
        assert_eq!(Map::parse(&map.text(), "a").unwrap().text(), map.text());
        map.materials.values().next().unwrap().color
    };
    assert_eq!(color("{}"), Color::hex(0xb0_b0_b0));
    assert_eq!(color("{ \"texture\": \"assets/a.png\" }"), Color::hex(0xff_ff_ff));
    for said in ["b0b0b0", "ffffff", "123456"] {
        for texture in ["", ", \"texture\": \"assets/a.png\""] {
            let told = color(&format!("{{ \"color\": \"#{said}\"{texture} }}"));
            assert_eq!(told, Color::hex(u32::from_str_radix(said, 16).unwrap()));
        }
    }
}

#[test]
fn parents_are_few_and_evenly_scaled() {
    let chain = |length: usize| {
        let object = |at: usize| match at {
            0 => "{ \"id\": \"o0\" }".to_owned(),
            _ => format!("{{ \"id\": \"o{at}\", \"parent\": \"o{}\" }}", at - 1),
        };
        with_objects(&(0..length).map(object).collect::<Vec<_>>().join(",\n"))
    };
    assert!(Map::parse(&chain(65), "a").is_ok());
    assert!(told(&chain(66))[0].contains("more than 64 parents above \"o65\""));
    let uneven = with_objects(
        "{ \"id\": \"a\", \"transform\": { \"scale\": [1, 2, 1] } },\n\
         { \"id\": \"b\", \"parent\": \"a\" }",
    );
    assert!(told(&uneven)[0].starts_with("3:24: the parent \"a\" is not scaled evenly"));
}

#[test]
fn scales_that_multiply_out_of_the_world_are_refused() {
    let big = "\"transform\": { \"position\": [9, 0, 0], \"scale\": [1000, 1000, 1000] }";
    let text = with_objects(&format!(
        "{{ \"id\": \"a\", {big} }},\n\
         {{ \"id\": \"b\", \"parent\": \"a\", {big} }},\n\
         {{ \"id\": \"c\", \"parent\": \"b\", {big} }}"
    ));
    assert!(told(&text)[0].starts_with("4:"), "{:?}", told(&text));
}

#[test]
fn a_box_names_a_material_that_exists_and_a_collider_has_something_to_be() {
    let text = "{ \"materials\": { \"stone\": {} }, \"objects\": [\n\
        { \"id\": \"a\", \"components\": { \"dh.box\": { \"material\": \"stoen\" } } },\n\
        { \"id\": \"b\", \"components\": { \"dh.collider\": {} } } ] }";
    let told = told(text);
    assert!(told[0].contains("unknown material \"stoen\"; did you mean \"stone\"?"), "{told:?}");
    assert!(told[1].contains("neither box nor model"), "{told:?}");
}

#[test]
fn a_map_has_one_sun_and_one_sky() {
    let sun = |id: &str| format!("{{ \"id\": \"{id}\", \"components\": {{ \"dh.sun\": {{}} }} }}");
    let text = with_objects(&format!("{},\n{}", sun("a"), sun("b")));
    assert_eq!(told(&text), ["3:40: a second dh.sun; a map has one"]);
}

#[test]
fn what_a_map_refers_to_is_told_with_its_place_and_can_be_rewritten() {
    let draft = Draft::read(WHOLE, "a");
    let named: Vec<_> =
        draft.references().iter().map(|(k, r, _)| (*k, r.path().to_owned())).collect();
    let expected = [
        (Named::Texture, "assets/stone.png".to_owned()),
        (Named::Model, "assets/tree.glb".to_owned()),
    ];
    assert_eq!(named, expected);
    assert!(draft.references().iter().all(|(_, r, at)| WHOLE[*at..].contains(r.path())));
    let mut map = draft.finish().unwrap();
    assert_eq!(map.references_mut().count(), 2);
}

#[test]
fn absolute_and_foreign_paths_are_refused() {
    use crate::reference::Reference;
    for bad in
        ["", "/a", "a//b", "../a", "a/../b", "./a", "D:\\a", "a\\b", "D:/a:b", "a/", "\u{1f600}"]
    {
        assert!(Reference::new(bad).is_err(), "{bad}");
    }
    let other = Reference::new("forest:assets/tree.glb").unwrap();
    assert_eq!((other.pallet(), other.path()), (Some("forest"), "assets/tree.glb"));
}

#[test]
fn children_ride_on_their_parents() {
    let text = with_objects(concat!(
        "{ \"id\": \"c\", \"parent\": \"b\", \"transform\": { \"position\": [0, 0, -1] } },\n",
        "{ \"id\": \"b\", \"parent\": \"a\", \"transform\": { \"scale\": [2, 2, 2] } },\n",
        "{ \"id\": \"a\", \"transform\": { \"position\": [10, 0, 0], \"rotation\": [0, 90, 0] } }",
    ));
    let worlds = Map::parse(&text, "a").unwrap().worlds();
    let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    // A turn of +90 degrees about +y looks along -x.
    assert!(near(worlds[2].forward(), [-1.0, 0.0, 0.0]), "{worlds:?}");
    assert!(near(worlds[0].position, [8.0, 0.0, 0.0]), "{worlds:?}");
    assert!(
        near(worlds[0].scale, [2.0; 3]) && near(worlds[0].point([0.0, 0.0, -1.0]), [6.0, 0.0, 0.0])
    );
    assert!((worlds[0].yaw().to_degrees() - 90.0).abs() < 1e-3);
}

#[test]
fn roll_turns_first_then_pitch_then_yaw() {
    let text = with_objects("{ \"id\": \"a\", \"transform\": { \"rotation\": [90, 90, 90] } }");
    let world = Map::parse(&text, "a").unwrap().worlds()[0];
    // Its +x: rolled to +y, pitched to +z, yawed to +x.
    let [x, y, z] = world.point([1.0, 0.0, 0.0]);
    assert!((x - 1.0).abs() < 1e-5 && y.abs() < 1e-5 && z.abs() < 1e-5, "{x} {y} {z}");
}

#[test]
fn the_schema_knows_every_key_that_the_reader_knows() {
    let schema = Map::schema();
    let root = Report::new("schema", &schema).parse().map(|_| ());
    assert_eq!(root, Some(()));
    for key in ["objects", "materials", "dh.box", "dh.camera", "fov", "position", "$schema"] {
        assert!(schema.contains(&format!("\"{key}\":{{")), "{key}");
    }
    assert!(schema.contains("\"enum\":[\"mesh\",\"none\",\"box\"]"));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\{\\}\\[\\],:\"a-z0-9/*.\\\\ \n-]{0,200}") {
        let _ = Map::parse(&text, "a");
    }

    #[test]
    fn a_damaged_map_is_refused_or_read(at in 0..WHOLE.len(), byte in 32_u8..127) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(map) = Map::parse(std::str::from_utf8(&bytes).unwrap(), "a") {
            prop_assert_eq!(Map::parse(&map.text(), "a").unwrap().text(), map.text());
        }
    }

    #[test]
    fn numbers_survive_canonical_text(
        bits in prop::array::uniform3(981_668_463_u32..1_176_256_512),
    ) {
        let size = bits.map(f32::from_bits);
        let mut map = Map::parse(WHOLE, "a").unwrap();
        map.objects[0].components.solid.as_mut().unwrap().size = size;
        let again = Map::parse(&map.text(), "a").unwrap();
        prop_assert_eq!(again.objects, map.objects);
    }
}
