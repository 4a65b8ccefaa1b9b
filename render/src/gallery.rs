//! A hall of meshes and materials to look at. Only tests use it.

use std::sync::Arc;

use dh_view::{BoxView, Camera, Colour, Image, Material, Mesh, ModelView, Part, Scene, View};
use glam::{Affine3A, Quat, Vec3};

use crate::gray_box::{ball, yard};

const WHITE: Colour = Colour(0x00ff_ffff);

/// Balls of many materials on a tiled floor between walls of plaster, with four players.
pub(crate) fn hall() -> View {
    let camera = Camera::look_at(Vec3::new(5.4, 2.7, 8.6), Vec3::new(-0.5, 0.9, 0.0), 0.95);
    let materials = vec![
        Material { image: Some(tiles()), roughness: 0.35, tiling: 2.0, ..Material::default() },
        Material { base: [0.78, 0.72, 0.62, 1.0], roughness: 0.95, ..Material::default() },
        Material { base: [0.30, 0.17, 0.09, 1.0], roughness: 0.6, ..Material::default() },
    ];
    let scene =
        Scene { boxes: boxes().into(), materials, models: models(), camera, ..Scene::empty() };
    let players = yard().players.into_iter().take(4).zip([
        [2.2, 0.0, 3.6],
        [-3.6, 0.0, 1.2],
        [0.6, 0.0, -4.2],
        [-1.2, 0.0, 3.0],
    ]);
    let players = players.map(|(player, feet)| dh_view::PlayerView { feet: feet.into(), ..player });
    View { players: players.collect(), ..View::of(Arc::new(scene)) }
}

fn boxes() -> Vec<BoxView> {
    let made = |centre: [f32; 3], half: [f32; 3], material| BoxView {
        material: Some(material),
        ..BoxView::upright(Vec3::from(centre), Vec3::from(half), WHITE)
    };
    let mut boxes = vec![
        made([0.0, -0.25, 0.0], [12.0, 0.25, 12.0], 0),
        made([0.0, 2.0, -8.2], [12.0, 2.0, 0.2], 1),
        made([-8.2, 2.0, 0.0], [0.2, 2.0, 8.0], 1),
    ];
    for place in 0..5_u8 {
        boxes.push(made([f32::from(place) * 2.2 - 4.4, 0.25, 0.0], [0.45, 0.25, 0.45], 2));
    }
    boxes
}

fn models() -> Vec<ModelView> {
    let finishes = [(1.0, 0.12), (1.0, 0.45), (0.0, 0.15), (0.0, 0.5), (0.0, 0.95)];
    let paints =
        [[0.95, 0.64, 0.30], [0.75, 0.76, 0.78], [0.55, 0.03, 0.04], [0.03, 0.16, 0.45], [0.7; 3]];
    let mut models = Vec::new();
    for ((metallic, roughness), (paint, place)) in
        finishes.into_iter().zip(paints.into_iter().zip(0_u8..))
    {
        let [red, green, blue] = paint;
        let base = [red, green, blue, 1.0];
        let material = Material { base, metallic, roughness, ..Material::default() };
        let mesh = Arc::new(Mesh { materials: vec![material], ..ball(48) });
        let at = Vec3::new(f32::from(place) * 2.2 - 4.4, 1.05, 0.0);
        let place =
            Affine3A::from_scale_rotation_translation(Vec3::splat(0.55), Quat::IDENTITY, at);
        models.push(ModelView::new(mesh, place));
    }
    let stone = Material { base: [0.62, 0.60, 0.56, 1.0], ..Material::default() };
    let pillar = Arc::new(Mesh { materials: vec![stone], ..ball(24) });
    for place in 0..8_u8 {
        let at = Vec3::new(f32::from(place) * 2.0 - 7.0, 1.6, -6.6);
        let tall = Vec3::new(0.28, 1.9, 0.28);
        let place = Affine3A::from_scale_rotation_translation(tall, Quat::IDENTITY, at);
        models.push(ModelView::new(Arc::clone(&pillar), place));
    }
    let leaf = Material {
        image: Some(grid()),
        alpha_cutoff: 0.5,
        double_sided: true,
        ..Material::default()
    };
    let screen = Arc::new(Mesh { materials: vec![leaf], ..sheet() });
    let turn = Quat::from_rotation_y(0.9);
    let at = Vec3::new(-5.2, 0.0, 3.2);
    let place = Affine3A::from_rotation_translation(turn, at);
    models.push(ModelView::new(Arc::clone(&screen), place));
    let mirrored = Affine3A::from_scale_rotation_translation(
        Vec3::new(-0.6, 0.6, 0.6),
        Quat::from_rotation_y(-0.5),
        Vec3::new(3.9, 0.35, 3.4),
    );
    let red = Material { base: [0.8, 0.35, 0.1, 1.0], roughness: 0.4, ..Material::default() };
    models.push(ModelView::new(Arc::new(Mesh { materials: vec![red], ..ball(24) }), mirrored));
    models
}

/// A square of two metres that stands on its lower edge.
pub(crate) fn sheet() -> Mesh {
    let corners = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [-1.0, 2.0, 0.0_f32]];
    Mesh {
        positions: corners.to_vec(),
        uvs: vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]],
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: vec![Part { first: 0, count: 6, material: 0 }],
        bounds: dh_view::Bounds::around(corners.map(Vec3::from_array)),
        ..Mesh::default()
    }
}

/// An image from the brightness of its pixels and where they are opaque.
fn painted(side: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Arc<Image> {
    let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let rgba = places.flat_map(|(x, y)| pixel(x, y)).collect();
    Arc::new(Image { width: side, height: side, rgba })
}

fn tiles() -> Arc<Image> {
    painted(1024, |x, y| {
        let seam = x % 512 < 8 || y % 512 < 8;
        let grain = u8::try_from((x * 7919 + y * 104_729 + (x * y) % 977) % 17).unwrap_or(0);
        let odd = (x / 512 + y / 512) % 2 == 1;
        let base = if seam {
            70
        } else if odd {
            150
        } else {
            176
        };
        [base + grain, base + grain - 6, base + grain / 2 - 14, 255]
    })
}

fn grid() -> Arc<Image> {
    painted(256, |x, y| {
        let solid = x % 32 < 10 || y % 32 < 10;
        [40, 62, 48, if solid { 255 } else { 0 }]
    })
}
