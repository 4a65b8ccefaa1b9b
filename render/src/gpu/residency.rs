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
use crate::scene::book::{Book, name};

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

    /// Turn to this scene: let go of what it does not have, and queue what it has beside.
    pub(super) fn turn_to(&mut self, scene: &Arc<Scene>, book: &Book) {
        if self.scene.as_ref().is_some_and(|it| Arc::ptr_eq(it, scene)) {
            return;
        }
        self.revision += 1;
        self.waiting.clear();
        let (mut meshes, mut images) = (BTreeSet::new(), BTreeSet::new());
        self.want_images(&scene.materials, &mut images);
        self.boxes.clear();
        if !scene.materials.is_empty() {
            self.waiting.push_back(Upload::Boxes);
        }
        for model in scene.models.iter().filter(|model| book.is_sound(model)) {
            let mesh = &model.mesh;
            if meshes.insert(name(mesh)) {
                self.want_images(&mesh.materials, &mut images);
                if !self.meshes.contains_key(&name(mesh)) {
                    self.waiting.push_back(Upload::Mesh(MeshUpload::new(Arc::clone(mesh))));
                }
            }
        }
        self.meshes.retain(|key, _| meshes.contains(key));
        self.images.retain(|key, _| images.contains(key));
        self.scene = Some(Arc::clone(scene));
    }

    fn want_images(&mut self, materials: &[Material], wanted: &mut BTreeSet<usize>) {
        for image in materials.iter().filter_map(|material| material.image.as_ref()) {
            if wanted.insert(name(image)) && !self.images.contains_key(&name(image)) {
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
                    let materials = self.scene.iter().flat_map(|scene| &scene.materials);
                    self.boxes =
                        materials.map(|it| self.surfaces.bind(device, it, &self.images)).collect();
                }
            }
            self.revision += 1;
            self.waiting.pop_front();
        }
    }
}
