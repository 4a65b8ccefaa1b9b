//! Pipelines: the shaders and the fixed state they run with. Made once a device.

use wgpu::{
    BindGroupLayout, BindGroupLayoutEntry, BindingType, CompareFunction, DepthBiasState,
    DepthStencilState, Device, Face, FragmentState, MultisampleState, PipelineLayout,
    PrimitiveState, RenderPipeline, ShaderModule, ShaderStages, TextureFormat, VertexAttribute,
    VertexBufferLayout, VertexFormat, VertexStepMode,
};

use super::DEPTH_FORMAT;
use super::upload::MeshCorner;
use crate::scene::PlayerInstance;
use crate::scene::boxes::BoxInstance;
use crate::scene::capsule::Corner;
use crate::scene::models::ModelInstance;

const SHADERS: &str = concat!(
    include_str!("light.wgsl"),
    include_str!("surface.wgsl"),
    include_str!("sky.wgsl"),
    include_str!("boxes.wgsl"),
    include_str!("players.wgsl"),
    include_str!("meshes.wgsl"),
    include_str!("depth.wgsl"),
);

/// Where the depth passes find their one matrix.
pub(super) const MAP_BINDING: u32 = 4;

/// How much work goes into each pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// As good as it gets: pictures, and windows of graphics cards.
    Fine,
    /// Windows where a processor does the drawing.
    Quick,
}

impl Finish {
    /// Samples a pixel, where the adapter has so many.
    pub(super) const fn samples(self) -> u32 {
        match self {
            Self::Fine => 4,
            Self::Quick => 1,
        }
    }

    /// What the constants of light.wgsl are.
    fn constants(self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Fine => Vec::new(),
            Self::Quick => vec![
                ("SUN_REACH", 0.0),
                ("SKY_RINGS", 1.0),
                ("SKY_STEPS", 4.0),
                ("CLOUD_OCTAVES", 3.0),
            ],
        }
    }
}

/// Everything that is bound to draw.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) sky: RenderPipeline,
    pub(super) boxes: RenderPipeline,
    /// Boxes of a material.
    pub(super) brushes: RenderPipeline,
    pub(super) players: RenderPipeline,
    pub(super) meshes: ByFinish,
    pub(super) box_depth: RenderPipeline,
    pub(super) player_depth: RenderPipeline,
    pub(super) mesh_depth: RenderPipeline,
    pub(super) cutout_depth: RenderPipeline,
    /// Globals, both depth maps and their sampler.
    pub(super) lit: BindGroupLayout,
    /// The matrix of one depth map.
    pub(super) map: BindGroupLayout,
    /// A material with its image.
    pub(super) material: BindGroupLayout,
}

/// One pipeline a way in which a mesh's material may be drawn.
#[derive(Debug)]
pub(super) struct ByFinish {
    solid: RenderPipeline,
    solid_both: RenderPipeline,
    cutout: RenderPipeline,
    cutout_both: RenderPipeline,
}

impl ByFinish {
    /// The pipeline for surfaces with holes or without, seen from one side or from both.
    pub(super) const fn get(&self, cutout: bool, both: bool) -> &RenderPipeline {
        match (cutout, both) {
            (false, false) => &self.solid,
            (false, true) => &self.solid_both,
            (true, false) => &self.cutout,
            (true, true) => &self.cutout_both,
        }
    }
}

impl Pipelines {
    pub(super) fn new(
        device: &Device,
        format: TextureFormat,
        samples: u32,
        finish: Finish,
    ) -> Self {
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("shaders"),
            source: wgpu::ShaderSource::Wgsl(SHADERS.into()),
        });
        let compared = wgpu::TextureSampleType::Depth;
        let read = wgpu::TextureSampleType::Float { filterable: false };
        let smooth = wgpu::TextureSampleType::Float { filterable: true };
        let lit = layout(
            device,
            &[
                uniform(0),
                texture(1, compared),
                texture(2, compared),
                sampler(3, wgpu::SamplerBindingType::Comparison),
                texture(5, read),
            ],
        );
        let map = layout(device, &[uniform(MAP_BINDING)]);
        let filtering = wgpu::SamplerBindingType::Filtering;
        let material = layout(device, &[uniform(0), texture(1, smooth), sampler(2, filtering)]);
        let made = Made::new(device, [&lit, &map, &material]);
        let constants = finish.constants();
        let maker = Maker { device, shader: &shader, format, samples, constants: &constants };
        let (boxes, players, meshes) = (Shape::boxes(), Shape::players(), Shape::meshes());
        let mesh = |fragment, cull| {
            maker.colour(&made.lit_material, ["mesh_vertex", fragment], Some(&meshes), cull)
        };
        Self {
            sky: maker.colour(&made.lit, ["sky_vertex", "sky_fragment"], None, false),
            boxes: maker.colour(&made.lit, ["box_vertex", "box_fragment"], Some(&boxes), true),
            brushes: maker.colour(
                &made.lit_material,
                ["box_vertex", "brush_fragment"],
                Some(&boxes),
                true,
            ),
            players: maker.colour(
                &made.lit,
                ["player_vertex", "player_fragment"],
                Some(&players),
                true,
            ),
            meshes: ByFinish {
                solid: mesh("mesh_fragment", true),
                solid_both: mesh("mesh_fragment", false),
                cutout: mesh("cutout_fragment", true),
                cutout_both: mesh("cutout_fragment", false),
            },
            box_depth: maker.depth(&made.map, "box_depth", None, &boxes),
            player_depth: maker.depth(&made.map, "player_depth", None, &players),
            mesh_depth: maker.depth(&made.map, "mesh_depth", None, &meshes),
            cutout_depth: maker.depth(
                &made.map_material,
                "cutout_depth",
                Some("cutout_depth_fragment"),
                &meshes,
            ),
            lit,
            map,
            material,
        }
    }
}

/// The layouts that pipelines are made with.
struct Made {
    lit: PipelineLayout,
    lit_material: PipelineLayout,
    map: PipelineLayout,
    map_material: PipelineLayout,
}

impl Made {
    fn new(device: &Device, [lit, map, material]: [&BindGroupLayout; 3]) -> Self {
        Self {
            lit: bound_to(device, &[Some(lit)]),
            lit_material: bound_to(device, &[Some(lit), Some(material)]),
            map: bound_to(device, &[Some(map)]),
            map_material: bound_to(device, &[Some(map), Some(material)]),
        }
    }
}

/// What a shape's corners and instances consist of.
struct Shape {
    corner: (u64, Vec<VertexAttribute>),
    instance: (u64, Vec<VertexAttribute>),
}

impl Shape {
    fn boxes() -> Self {
        use VertexFormat::{Float32x3, Float32x4};
        Self {
            corner: fields(size_of::<[f32; 6]>(), &[(Float32x3, 0), (Float32x3, 1)]),
            instance: fields(
                size_of::<BoxInstance>(),
                &[(Float32x3, 2), (Float32x3, 3), (Float32x4, 4), (Float32x3, 5)],
            ),
        }
    }

    fn players() -> Self {
        use VertexFormat::{Float32x2, Float32x3, Float32x4};
        Self {
            corner: fields(size_of::<Corner>(), &[(Float32x3, 0), (Float32x3, 1), (Float32x2, 2)]),
            instance: fields(
                size_of::<PlayerInstance>(),
                &[(Float32x4, 3), (Float32x4, 4), (Float32x3, 5)],
            ),
        }
    }

    fn meshes() -> Self {
        use VertexFormat::{Float32x2, Float32x3, Float32x4, Snorm16x4, Unorm8x4};
        Self {
            corner: fields(
                size_of::<MeshCorner>(),
                &[(Float32x3, 0), (Snorm16x4, 1), (Float32x2, 2), (Unorm8x4, 3)],
            ),
            instance: fields(
                size_of::<ModelInstance>(),
                &[(Float32x4, 4), (Float32x4, 5), (Float32x4, 6)],
            ),
        }
    }

    fn buffers(&self) -> [Option<VertexBufferLayout<'_>>; 2] {
        [(&self.corner, VertexStepMode::Vertex), (&self.instance, VertexStepMode::Instance)].map(
            |((array_stride, attributes), step_mode)| {
                Some(VertexBufferLayout { array_stride: *array_stride, step_mode, attributes })
            },
        )
    }
}

struct Maker<'a> {
    device: &'a Device,
    shader: &'a ShaderModule,
    format: TextureFormat,
    samples: u32,
    constants: &'a [(&'static str, f64)],
}

impl Maker<'_> {
    /// A pipeline of the picture itself. What has no shape is the sky: it has no depth of its own
    /// and fills what is empty.
    fn colour(
        &self,
        layout: &PipelineLayout,
        [vertex, fragment]: [&str; 2],
        shape: Option<&Shape>,
        cull: bool,
    ) -> RenderPipeline {
        let buffers = shape.map(Shape::buffers);
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(fragment),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: buffers.as_ref().map_or(&[], |it| it.as_slice()),
            },
            primitive: PrimitiveState {
                cull_mode: cull.then_some(Face::Back),
                ..PrimitiveState::default()
            },
            depth_stencil: Some(DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(shape.is_some()),
                depth_compare: Some(CompareFunction::GreaterEqual),
                stencil: wgpu::StencilState::default(),
                bias: DepthBiasState::default(),
            }),
            multisample: MultisampleState { count: self.samples, ..MultisampleState::default() },
            fragment: Some(FragmentState {
                module: self.shader,
                entry_point: Some(fragment),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: self.constants,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                targets: &[Some(self.format.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    /// A pipeline that only writes a depth map.
    fn depth(
        &self,
        layout: &PipelineLayout,
        vertex: &str,
        fragment: Option<&str>,
        shape: &Shape,
    ) -> RenderPipeline {
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(vertex),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &shape.buffers(),
            },
            primitive: PrimitiveState::default(),
            depth_stencil: Some(DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(true),
                depth_compare: Some(CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                bias: DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 },
            }),
            multisample: MultisampleState::default(),
            fragment: fragment.map(|name| FragmentState {
                module: self.shader,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// What copies a picture into a window of this format, and what it binds.
pub(super) fn blit(device: &Device, format: TextureFormat) -> (RenderPipeline, BindGroupLayout) {
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("screen"),
        source: wgpu::ShaderSource::Wgsl(include_str!("screen.wgsl").into()),
    });
    let read = wgpu::TextureSampleType::Float { filterable: false };
    let bound = layout(device, &[texture(0, read)]);
    let fragment = if format.is_srgb() { "light_fragment" } else { "plain_fragment" };
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("screen"),
        layout: Some(&bound_to(device, &[Some(&bound)])),
        vertex: wgpu::VertexState {
            module: &shader,
            entry_point: Some("screen_vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: PrimitiveState::default(),
        depth_stencil: None,
        multisample: MultisampleState::default(),
        fragment: Some(FragmentState {
            module: &shader,
            entry_point: Some(fragment),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    (pipeline, bound)
}

fn layout(device: &Device, entries: &[BindGroupLayoutEntry]) -> BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
}

fn bound_to(device: &Device, layouts: &[Option<&BindGroupLayout>]) -> PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: layouts,
        immediate_size: 0,
    })
}

const fn entry(binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry { binding, visibility: ShaderStages::VERTEX_FRAGMENT, ty, count: None }
}

const fn uniform(binding: u32) -> BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Uniform;
    entry(binding, BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None })
}

const fn texture(binding: u32, sample_type: wgpu::TextureSampleType) -> BindGroupLayoutEntry {
    let view_dimension = wgpu::TextureViewDimension::D2;
    entry(binding, BindingType::Texture { sample_type, view_dimension, multisampled: false })
}

const fn sampler(binding: u32, kind: wgpu::SamplerBindingType) -> BindGroupLayoutEntry {
    entry(binding, BindingType::Sampler(kind))
}

/// Fields that follow one another without gaps, with the bytes from one item to the next.
fn fields(stride: usize, fields: &[(VertexFormat, u32)]) -> (u64, Vec<VertexAttribute>) {
    let mut offset = 0;
    let place = |(format, shader_location): &(VertexFormat, u32)| {
        let field = VertexAttribute { format: *format, offset, shader_location: *shader_location };
        offset += format.size();
        field
    };
    (stride as u64, fields.iter().map(place).collect())
}
