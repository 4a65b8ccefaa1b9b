//! Places: the modules that log, by which it is chosen what is logged.

/// Every module of ours that logs.
const MODULES: [&str; 35] = [
    "dh::exit",
    "dh::inspect::shown",
    "dh_client::connection",
    "dh_client::downloader",
    "dh_client::map_loader",
    "dh_client::presenter",
    "dh_host::driver",
    "dh_host::driver::thread",
    "dh_host::inspect",
    "dh_host::inspect::http::routes",
    "dh_host::inspect::order",
    "dh_host::limits",
    "dh_host::port::core",
    "dh_host::runtime",
    "dh_host::scope",
    "dh_host::shell",
    "dh_host::shell::life",
    "dh_host::watchdog",
    "dh_host::watchdog::thread",
    "dh_render::gpu::screen",
    "dh_render::gpu::surfaces",
    "dh_render::renderer",
    "dh_render::scene::book",
    "dh_render::stage",
    "dh_render::studio",
    "dh_render::window",
    "dh_server::blob_transfer",
    "dh_server::chat",
    "dh_server::directory",
    "dh_server::listener",
    "dh_server::map_switch",
    "dh_server::map_switch::prepare",
    "dh_server::roster",
    "dh_server::session",
    "dh_server::tick",
];
/// Modules that are told to whoever named none.
const NEAR_MAX: usize = 3;
/// Libraries whose log is worth reading.
const LIBRARIES: [&str; 8] =
    ["actix", "axum", "hyper", "naga", "quinn", "quinn_proto", "rustls", "wgpu_core"];

/// The module that is meant by its path, by one above it, or by the kind of an actor.
pub(super) fn module(path: &str) -> Result<String, String> {
    let is_below = |module: &str| {
        module.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let library = path.split("::").next().unwrap_or_default();
    let is_word = |it: char| it.is_ascii_alphanumeric() || "_:".contains(it);
    let is_of_library = LIBRARIES.contains(&library) && path.chars().all(is_word);
    if is_of_library || MODULES.iter().any(|module| is_below(module)) {
        return Ok(path.to_owned());
    }
    let kind = format!("::{}", path.replace('-', "_"));
    let found = MODULES.iter().find(|module| module.ends_with(&kind));
    found.map(|module| (*module).to_owned()).ok_or_else(|| {
        let near = near(path).join(", ");
        format!(
            "path: expected a module that logs, one above it, or an actor whose kind is one, as \
             in {near}; found {path:?}; dh inspect log alone lists all"
        )
    })
}

/// The modules whose names, or whose last names, are least unlike this.
fn near(path: &str) -> Vec<&'static str> {
    let unlike = |module: &&str| {
        let last = module.rsplit("::").next().unwrap_or_default();
        strsim::osa_distance(path, module).min(strsim::osa_distance(path, last))
    };
    let mut modules = MODULES.to_vec();
    modules.sort_by_key(unlike);
    modules.truncate(NEAR_MAX);
    modules
}

/// Every module and library that is a place.
pub(super) fn all() -> String {
    format!("modules: {}; libraries: {}", MODULES.join(", "), LIBRARIES.join(", "))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, all),
                false => all.push(path),
            }
        }
    }

    #[test]
    fn the_modules_are_those_that_log() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = Vec::new();
        for (folder, crate_name) in [
            ("actors/client", "dh_client"),
            ("actors/host", "dh_host"),
            ("actors/server", "dh_server"),
            ("bin", "dh"),
            ("render", "dh_render"),
        ] {
            let (folder, mut files) = (root.join(folder).join("src"), Vec::new());
            sources(&folder, &mut files);
            for file in files {
                let text = fs::read_to_string(&file).unwrap_or_default();
                let levels = ["error!", "warn!", "info!", "debug!", "trace!"];
                if !levels.iter().any(|level| text.contains(&format!("tracing::{level}"))) {
                    continue;
                }
                let path = file.strip_prefix(&folder).unwrap().with_extension("");
                let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
                found.push(format!("{crate_name}::{}", parts.join("::")));
            }
        }
        found.sort();
        assert_eq!(found, MODULES);
    }

    #[test]
    fn a_module_one_above_a_library_or_a_kind_of_actor_is_a_place() {
        for own in ["dh", "dh_host", "dh_server::map_switch", "quinn", "quinn::connection"] {
            assert_eq!(module(own), Ok(own.to_owned()));
        }
        assert_eq!(module("roster").unwrap(), "dh_server::roster");
        assert_eq!(module("map-loader").unwrap(), "dh_client::map_loader");
        for none in ["dh_", "dh_hos", "dh_host::wat", "oster", "quinn x", "serde"] {
            let told = module(none).unwrap_err();
            assert!(told.contains("dh inspect log alone") && told.len() < 300, "{told}");
        }
        let told = module("rostr").unwrap_err();
        assert!(told.contains("as in dh_server::roster, "), "{told}");
    }
}
