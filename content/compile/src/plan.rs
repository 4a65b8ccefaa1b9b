//! What becomes of each file of a folder.
//!
//! Used before anything is compiled. Under `assets/` every map, model and picture is compiled; what
//! `pallet.dh` lists travels as it is; all else stays behind.

use crate::tree::Found;
use dh_map::Problem;
use dh_pallet::check_path;
use std::collections::BTreeMap;

/// What a file is, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Map,
    Model,
    Image,
    /// Read by models, never stored.
    Buffer,
    Other,
}

impl Kind {
    pub(crate) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            _ if !path.starts_with("assets/") => Self::Other,
            Some("dh-map") => Self::Map,
            Some("gltf" | "glb") => Self::Model,
            Some("png" | "jpg" | "jpeg") => Self::Image,
            Some("bin") => Self::Buffer,
            _ => Self::Other,
        }
    }

    /// Whether it is compiled into an entry.
    pub(crate) fn is_compiled(self) -> bool {
        matches!(self, Self::Map | Self::Model | Self::Image)
    }
}

/// The files of a folder by what becomes of them, each kind in order of path.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) maps: Vec<Found>,
    pub(crate) images: Vec<Found>,
    pub(crate) models: Vec<Found>,
}

impl Plan {
    pub(crate) fn of(found: &[Found], problems: &mut Vec<Problem>) -> Self {
        let mut plan = Self::default();
        for file in found {
            let list = match Kind::of(&file.path) {
                Kind::Map => &mut plan.maps,
                Kind::Image => &mut plan.images,
                Kind::Model => &mut plan.models,
                Kind::Buffer | Kind::Other => continue,
            };
            if let Err(error) = check_path(&file.path) {
                let text = format!("cannot be in a pallet: {error}");
                problems.push(Problem::of_file(&file.path, text, "rename it"));
            }
            list.push(file.clone());
        }
        plan.refuse_two_models_of_one_name(problems);
        plan
    }

    /// The file that an entry is made of.
    pub(crate) fn source_of<'a>(&'a self, entry: &'a str) -> &'a str {
        let model = self.models.iter().find(|model| mesh_path(&model.path) == entry);
        model.map_or(entry, |model| &model.path)
    }

    fn refuse_two_models_of_one_name(&self, problems: &mut Vec<Problem>) {
        let mut meshes: BTreeMap<String, &str> = BTreeMap::new();
        for model in &self.models {
            if let Some(first) = meshes.insert(mesh_path(&model.path), &model.path) {
                let text = format!("becomes the same entry as {first}");
                problems.push(Problem::of_file(&model.path, text, "rename one of them"));
            }
        }
    }
}

/// The entry a model becomes.
pub(crate) fn mesh_path(model: &str) -> String {
    let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
    format!("{stem}.dh-mesh")
}
