//! JSON Schemas: an editor that checks with them says what the build says.

use super::samples::built;
use crate::about::about_schema;
use crate::{Bundled, build_bundled};
use dh_map::Map;
use serde_json::{Value, json};

/// Whether a document is one of a schema, of whose keywords these are all.
fn fits(schema: &Value, document: &Value) -> bool {
    let Value::Object(keywords) = schema else { panic!("{schema}") };
    keywords.iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "title" | "description" | "default" => true,
        "allOf" => wanted.as_array().unwrap().iter().all(|each| fits(each, document)),
        "anyOf" => wanted.as_array().unwrap().iter().any(|each| fits(each, document)),
        "not" => !fits(wanted, document),
        "const" => wanted == document,
        "enum" => wanted.as_array().unwrap().contains(document),
        "type" => match wanted.as_str().unwrap() {
            "object" => document.is_object(),
            "array" => document.is_array(),
            "string" => document.is_string(),
            "number" => document.is_number(),
            "boolean" => document.is_boolean(),
            other => panic!("{other}"),
        },
        "minimum" => document.as_f64().is_none_or(|it| it >= wanted.as_f64().unwrap()),
        "maximum" => document.as_f64().is_none_or(|it| it <= wanted.as_f64().unwrap()),
        "minItems" => document.as_array().is_none_or(|it| it.len() >= count(wanted)),
        "maxItems" => document.as_array().is_none_or(|it| it.len() <= count(wanted)),
        "minLength" => document.as_str().is_none_or(|it| it.chars().count() >= count(wanted)),
        "maxLength" => document.as_str().is_none_or(|it| it.chars().count() <= count(wanted)),
        "pattern" => document.as_str().is_none_or(|it| matches(wanted.as_str().unwrap(), it)),
        "items" => {
            document.as_array().is_none_or(|items| items.iter().all(|item| fits(wanted, item)))
        }
        "required" => {
            let keys = wanted.as_array().unwrap();
            document
                .as_object()
                .is_none_or(|it| keys.iter().all(|key| it.contains_key(key.as_str().unwrap())))
        }
        "propertyNames" => document
            .as_object()
            .is_none_or(|it| it.keys().all(|key| fits(wanted, &Value::from(key.as_str())))),
        "properties" => document.as_object().is_none_or(|it| {
            it.iter().all(|(key, value)| wanted.get(key).is_none_or(|each| fits(each, value)))
        }),
        "additionalProperties" => document.as_object().is_none_or(|it| {
            let known = |key: &str| schema["properties"].get(key).is_some();
            let other = it.iter().filter(|(key, _)| !known(key));
            other.into_iter().all(|(_, value)| *wanted != json!(false) && fits(wanted, value))
        }),
        other => panic!("{other}"),
    })
}

fn count(number: &Value) -> usize {
    usize::try_from(number.as_u64().unwrap()).unwrap()
}

/// The patterns that are emitted, by what they mean.
fn matches(pattern: &str, text: &str) -> bool {
    let word = |text: &str, more: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || more.contains(letter))
    };
    let low = |text: &str| text.chars().all(|letter| !letter.is_ascii_uppercase());
    match pattern {
        "^#[0-9a-fA-F]{6}$" => {
            let digits = text.strip_prefix('#').unwrap_or_default();
            digits.len() == 6 && digits.chars().all(|digit| digit.is_ascii_hexdigit())
        }
        "^[A-Za-z0-9_.-]{1,64}$" => (1..=64).contains(&text.len()) && word(text, "_.-"),
        "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" => !text.chars().any(char::is_control),
        "^([a-z0-9_.-]+:)?[^/:\\\\][^:\\\\]*$" => {
            let (pallet, path) = text.split_once(':').unwrap_or(("x", text));
            let named = !pallet.is_empty() && word(pallet, "_.-") && low(pallet);
            named && !path.is_empty() && !path.starts_with('/') && !path.contains(['\\', ':'])
        }
        "^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$" => {
            let edge = |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphanumeric());
            let edges = edge(text.chars().next()) && edge(text.chars().last());
            text.len() <= 64 && word(text, "_.-") && low(text) && edges
        }
        "^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?$" => {
            let stem = text.split('.').next().unwrap_or_default();
            let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
            let port = port.is_some_and(|it| it.len() == 1 && it.parse::<u8>().is_ok());
            port || ["con", "prn", "aux", "nul"].contains(&stem)
        }
        other => panic!("{other}"),
    }
}

/// Texts, and whether a line of at most so many characters may be them.
fn lines(most: usize) -> Vec<(String, bool)> {
    vec![
        (String::new(), true),
        ("\u{e9}".repeat(most), true),
        ("\u{e9}".repeat(most + 1), false),
        ("a\u{9b}b".to_owned(), false),
        ("a\nb".to_owned(), false),
    ]
}

#[test]
fn the_schema_of_pallet_dh_refuses_what_the_build_refuses() {
    let schema: Value = serde_json::from_str(&about_schema()).unwrap();
    let with = |key: &str, value: Value| {
        let mut about = json!({ "id": "yard", "displayName": "Yard", "version": "1" });
        about[key] = value;
        about
    };
    let mut documents: Vec<(Value, bool)> = vec![
        (json!({}), false),
        (json!({ "id": "yard", "displayName": "Yard" }), false),
        (with("files", json!([])), true),
        (with("file", json!([])), false),
        (with("authors", json!("me")), false),
        (with("authors", json!(vec!["a"; 64])), true),
        (with("authors", json!(vec!["a"; 65])), false),
    ];
    let long = "a".repeat(65);
    for id in ["a", "a-b_c.d", &long[..64]] {
        documents.push((with("id", json!(id)), true));
    }
    for id in ["", "A", "core", "-a", "a-", "a b", "con", "com1.x", "a\u{e9}", "a/b", &long] {
        documents.push((with("id", json!(id)), false));
    }
    for (line, good) in lines(256) {
        documents.push((with("displayName", json!(line)), good));
        documents.push((with("version", json!(line)), good));
        documents.push((with("licence", json!(line)), good));
        documents.push((with("authors", json!([line])), good));
    }
    for (document, good) in documents {
        assert_eq!(fits(&schema, &document), good, "the schema: {document}");
        let text = document.to_string();
        let files: [(&str, &[u8]); 2] =
            [("pallet.dh", text.as_bytes()), ("assets/m.dh-map", b"{ \"objects\": [] }")];
        assert_eq!(build_bundled(Bundled(&files)).is_ok(), good, "the build: {document}");
    }
}

#[test]
fn the_schema_of_maps_refuses_what_the_build_refuses() {
    let schema: Value = serde_json::from_str(&Map::schema()).unwrap();
    let object = |key: &str, value: Value| {
        let mut object = json!({ "id": "a" });
        object[key] = value;
        json!({ "objects": [ object ] })
    };
    let part = |part: &str, value: Value| object("components", json!({ part: value }));
    let material =
        |name: &str, value: Value| json!({ "materials": { name: value }, "objects": [] });
    let mut documents = vec![
        (json!({ "objects": [] }), true),
        (json!({}), false),
        (json!({ "objects": [ {} ] }), false),
        (json!({ "objects": [], "layers": [] }), false),
        (object("id", json!("a b")), false),
        (object("id", json!("")), false),
        (object("transform", json!({ "scale": 2 })), true),
        (object("transform", json!({ "scale": [1, 2, 3] })), true),
        (object("transform", json!({ "scale": 0 })), false),
        (object("transform", json!({ "scale": [1, 2] })), false),
        (object("transform", json!({ "position": 2 })), false),
        (object("transform", json!({ "position": [0, 0, 100_001] })), false),
        (part("dh.box", json!({ "color": "#a0B0c0" })), true),
        (part("dh.box", json!({ "color": "red" })), false),
        (part("dh.box", Value::Null), false),
        (part("box", json!({})), false),
        (part("dh.sun", json!({ "shadows": 1 })), false),
        (part("dh.collider", json!({ "shape": "box" })), true),
        (part("dh.collider", json!({ "shape": "ball" })), false),
        (part("dh.model", json!({ "model": "" })), false),
        (part("dh.model", json!({ "model": "/a.glb" })), false),
        (part("dh.model", json!({ "model": "a\\b.glb" })), false),
        (part("dh.model", json!({ "model": "D:/a:b.glb" })), false),
        (material("stone", json!({ "glow": 2 })), true),
        (material("my stone", json!({})), false),
        (material(&"a".repeat(65), json!({})), false),
        (material("stone", json!({ "texture": "" })), false),
        (material("stone", json!([])), false),
    ];
    for (line, good) in lines(1024) {
        documents.push((object("name", json!(line)), good));
    }
    for (document, good) in documents {
        assert_eq!(fits(&schema, &document), good, "the schema: {document}");
        let text = document.to_string();
        let read = built(&[("assets/m.dh-map", text.as_bytes())]);
        assert_eq!(read.is_ok(), good, "the build: {document}: {read:?}");
    }
}
