//! Residency: what of a scene lies on the device, and what is still on its way there.
//!
//! Owned by the gpu. A scene's images and meshes are sent a few bytes a frame, so that a new map
//! does not stop the picture; what two scenes share is sent once. Never: draws.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dh_view::{Image, Material, Mesh, Part, Scene};
use wgpu::{BindGroup, Buffer, Device, Queue};

use super::surfaces::{Surfaces, Texture};
use super::upload::MeshUpload;
use crate::scene::book::{Book, MATERIALS_MAX, name};

/// What is sent next. The images that a mesh needs are sent before it.
#[derive(Debug)]
enum Upload {
    Image(Arc<Image>),
    Mesh(MeshUpload),
    Boxes,
}

/// A mesh on the device.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) corners: Buffer,
    pub(super) indices: Buffer,
    /// One a material of the mesh, and a plain one after the last.
    pub(super) surfaces: Vec<BindGroup>,
}

impl Resident {
    /// What a part of this mesh is drawn with, and its material where it names one that is there.
    pub(super) fn surface<'a>(
        &'a self,
        mesh: &'a Mesh,
        part: &Part,
    ) -> (&'a BindGroup, Option<&'a Material>) {
        let plain = mesh.materials.len();
        let at = usize::try_from(part.material).map_or(plain, |at| at.min(plain));
        (&self.surfaces[at], mesh.materials.get(at))
    }
}

/// What of the newest scene lies on the device.
#[derive(Debug)]
pub(super) struct Residency {
    /// Keeps the places in memory that the maps below are named by.
    scene: Option<Arc<Scene>>,
    surfaces: Surfaces,
    meshes: BTreeMap<usize, Resident>,
    images: BTreeMap<usize, Option<Texture>>,
    boxes: Vec<BindGroup>,
    waiting: VecDeque<Upload>,
    /// Changes whenever something more, or something else, can be drawn.
    revision: u64,
}

impl Residency {
    pub(super) fn new(surfaces: Surfaces) -> Self {
        Self {
            scene: None,
            surfaces,
            meshes: BTreeMap::new(),
            images: BTreeMap::new(),
            boxes: Vec::new(),
            waiting: VecDeque::new(),
            revision: 0,
        }
    }

    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// The mesh, once all of it is there.
    pub(super) fn mesh(&self, mesh: &Arc<Mesh>) -> Option<&Resident> {
        self.meshes.get(&name(mesh))
    }

    /// What boxes of this material of the scene are drawn with, once it is there.
    pub(super) fn boxes(&self, material: u32) -> Option<&BindGroup> {
        self.boxes.get(usize::try_from(material).ok()?)
    }

    /// Uploads that are not finished.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of textures that were sent.
    #[cfg(test)]
    pub(super) fn texture_bytes(&self) -> u64 {
        self.images.values().flatten().map(|texture| texture.bytes).sum()
    }

    /// Turn to this scene: let go of what it does not have, and queue what it has beside.
    pub(super) fn turn_to(&mut self, scene: &Arc<Scene>, book: &Book) {
        if self.scene.as_ref().is_some_and(|it| Arc::ptr_eq(it, scene)) {
            return;
        }
        self.revision += 1;
        self.waiting.clear();
        self.boxes.clear();
        let mut named = BTreeSet::new();
        let drawn = scene.models.iter().filter(|model| book.sound(model).is_some());
        let meshes: Vec<&Arc<Mesh>> =
            drawn.map(|model| &model.mesh).filter(|mesh| named.insert(name(mesh))).collect();
        let of_meshes = meshes.iter().flat_map(|mesh| &mesh.materials);
        let materials = scene.materials.iter().take(MATERIALS_MAX).chain(of_meshes);
        let mut images = BTreeSet::new();
        let mut listed: Vec<&Arc<Image>> = materials
            .filter_map(|material| material.image.as_ref())
            .filter(|image| images.insert(name(image)))
            .collect();
        let plain: Vec<&Image> = listed.iter().map(|image| &***image).collect();
        let (count, resized) = self.surfaces.make_room(&plain);
        for image in listed.drain(count..) {
            images.remove(&name(image));
        }
        if resized {
            self.meshes.clear();
            self.images.clear();
        }
        self.meshes.retain(|key, _| named.contains(key));
        self.images.retain(|key, _| images.contains(key));
        let mut wanted = images;
        wanted.retain(|key| !self.images.contains_key(key));
        self.want(&scene.materials, &mut wanted);
        if !scene.materials.is_empty() {
            self.waiting.push_back(Upload::Boxes);
        }
        for mesh in meshes {
            if self.meshes.contains_key(&name(mesh)) {
                continue;
            }
            self.want(&mesh.materials, &mut wanted);
            self.waiting.push_back(Upload::Mesh(MeshUpload::new(Arc::clone(mesh))));
        }
        self.scene = Some(Arc::clone(scene));
    }

    /// Queue those images of these materials that are wanted still.
    fn want(&mut self, materials: &[Material], wanted: &mut BTreeSet<usize>) {
        for image in materials.iter().filter_map(|material| material.image.as_ref()) {
            if wanted.remove(&name(image)) {
                self.waiting.push_back(Upload::Image(Arc::clone(image)));
            }
        }
    }

    /// Send about so many bytes, and at least something.
    pub(super) fn advance(&mut self, device: &Device, queue: &Queue, budget: u64) {
        let mut left = budget;
        while left > 0 {
            let Some(upload) = self.waiting.front_mut() else { return };
            match upload {
                Upload::Image(image) => {
                    let texture = self.surfaces.texture(device, queue, image);
                    left = left.saturating_sub(texture.as_ref().map_or(0, |it| it.bytes));
                    self.images.insert(name(image), texture);
                }
                Upload::Mesh(mesh) => {
                    let (sent, done) = mesh.advance(device, queue, left);
                    left = left.saturating_sub(sent);
                    let Some((corners, indices)) = done else { continue };
                    let key = name(&mesh.mesh);
                    let plain = Material::default();
                    let surfaces = mesh.mesh.materials.iter().chain([&plain]);
                    let surfaces =
                        surfaces.map(|it| self.surfaces.bind(device, it, &self.images)).collect();
                    self.meshes.insert(key, Resident { corners, indices, surfaces });
                }
                Upload::Boxes => {
                    let materials = self.scene.iter().flat_map(|it| &it.materials);
                    let materials = materials.take(MATERIALS_MAX);
                    self.boxes =
                        materials.map(|it| self.surfaces.bind(device, it, &self.images)).collect();
                }
            }
            self.revision += 1;
            self.waiting.pop_front();
        }
    }
}
