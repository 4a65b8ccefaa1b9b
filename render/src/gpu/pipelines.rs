//! Pipelines: the shaders and the fixed state they run with. Made once a device.

use wgpu::{
    BindGroupLayout, BindGroupLayoutEntry, BindingType, CompareFunction, DepthBiasState,
    DepthStencilState, Device, Face, FragmentState, MultisampleState, PipelineLayout,
    PrimitiveState, RenderPipeline, ShaderModule, ShaderStages, TextureFormat, VertexAttribute,
    VertexBufferLayout, VertexFormat, VertexStepMode,
};

use super::DEPTH_FORMAT;
use crate::scene::capsule::Corner;
use crate::scene::{BoxInstance, PlayerInstance};

const SHADERS: &str = concat!(
    include_str!("light.wgsl"),
    include_str!("sky.wgsl"),
    include_str!("boxes.wgsl"),
    include_str!("players.wgsl"),
    include_str!("depth.wgsl"),
);

/// Where the depth passes find their one matrix.
pub(super) const MAP_BINDING: u32 = 4;

/// Everything that is bound to draw.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) sky: RenderPipeline,
    pub(super) boxes: RenderPipeline,
    pub(super) players: RenderPipeline,
    pub(super) box_depth: RenderPipeline,
    pub(super) player_depth: RenderPipeline,
    /// Globals, both depth maps and their sampler.
    pub(super) lit: BindGroupLayout,
    /// The matrix of one depth map.
    pub(super) map: BindGroupLayout,
}

impl Pipelines {
    pub(super) fn new(device: &Device, format: TextureFormat, samples: u32) -> Self {
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("shaders"),
            source: wgpu::ShaderSource::Wgsl(SHADERS.into()),
        });
        let compared = wgpu::TextureSampleType::Depth;
        let read = wgpu::TextureSampleType::Float { filterable: false };
        let lit = layout(
            device,
            &[
                uniform(0),
                depth_map(1, compared),
                depth_map(2, compared),
                comparison(3),
                depth_map(5, read),
            ],
        );
        let map = layout(device, &[uniform(MAP_BINDING)]);
        let box_attributes = attributes(&[
            (VertexFormat::Float32x3, 2),
            (VertexFormat::Float32x3, 3),
            (VertexFormat::Float32x4, 4),
            (VertexFormat::Float32x3, 5),
        ]);
        let cube_attributes =
            attributes(&[(VertexFormat::Float32x3, 0), (VertexFormat::Float32x3, 1)]);
        let corner_attributes = attributes(&[
            (VertexFormat::Float32x3, 0),
            (VertexFormat::Float32x3, 1),
            (VertexFormat::Float32x2, 2),
        ]);
        let player_attributes = attributes(&[
            (VertexFormat::Float32x4, 3),
            (VertexFormat::Float32x4, 4),
            (VertexFormat::Float32x3, 5),
        ]);
        let cube = buffer(size_of::<[f32; 6]>(), VertexStepMode::Vertex, &cube_attributes);
        let box_instance =
            buffer(size_of::<BoxInstance>(), VertexStepMode::Instance, &box_attributes);
        let corner = buffer(size_of::<Corner>(), VertexStepMode::Vertex, &corner_attributes);
        let player_instance =
            buffer(size_of::<PlayerInstance>(), VertexStepMode::Instance, &player_attributes);

        let (lit_layout, map_layout) = (bound_to(device, &lit), bound_to(device, &map));
        let maker = Maker { device, shader: &shader, format, samples };
        let boxes = [Some(cube), Some(box_instance)];
        let players = [Some(corner), Some(player_instance)];
        Self {
            sky: maker.colour(&lit_layout, "sky", &[]),
            boxes: maker.colour(&lit_layout, "box", &boxes),
            players: maker.colour(&lit_layout, "player", &players),
            box_depth: maker.depth(&map_layout, "box", &boxes),
            player_depth: maker.depth(&map_layout, "player", &players),
            lit,
            map,
        }
    }
}

struct Maker<'a> {
    device: &'a Device,
    shader: &'a ShaderModule,
    format: TextureFormat,
    samples: u32,
}

impl Maker<'_> {
    /// A pipeline of the picture itself. The sky has no depth of its own: it fills what is empty.
    fn colour(
        &self,
        layout: &PipelineLayout,
        name: &str,
        buffers: &[Option<VertexBufferLayout<'_>>],
    ) -> RenderPipeline {
        let solid = !buffers.is_empty();
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(name),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(&format!("{name}_vertex")),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers,
            },
            primitive: PrimitiveState {
                cull_mode: solid.then_some(Face::Back),
                ..PrimitiveState::default()
            },
            depth_stencil: Some(DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(solid),
                depth_compare: Some(CompareFunction::GreaterEqual),
                stencil: wgpu::StencilState::default(),
                bias: DepthBiasState::default(),
            }),
            multisample: MultisampleState { count: self.samples, ..MultisampleState::default() },
            fragment: Some(FragmentState {
                module: self.shader,
                entry_point: Some(&format!("{name}_fragment")),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
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
        name: &str,
        buffers: &[Option<VertexBufferLayout<'_>>],
    ) -> RenderPipeline {
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(name),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(&format!("{name}_depth")),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers,
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
            fragment: None,
            multiview_mask: None,
            cache: None,
        })
    }
}

fn layout(device: &Device, entries: &[BindGroupLayoutEntry]) -> BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
}

fn bound_to(device: &Device, layout: &BindGroupLayout) -> PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(layout)],
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

const fn depth_map(binding: u32, sample_type: wgpu::TextureSampleType) -> BindGroupLayoutEntry {
    entry(
        binding,
        BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
    )
}

const fn comparison(binding: u32) -> BindGroupLayoutEntry {
    entry(binding, BindingType::Sampler(wgpu::SamplerBindingType::Comparison))
}

/// Fields that follow one another without gaps.
fn attributes(fields: &[(VertexFormat, u32)]) -> Vec<VertexAttribute> {
    let mut offset = 0;
    let place = |(format, shader_location): &(VertexFormat, u32)| {
        let field = VertexAttribute { format: *format, offset, shader_location: *shader_location };
        offset += format.size();
        field
    };
    fields.iter().map(place).collect()
}

const fn buffer(
    stride: usize,
    step_mode: VertexStepMode,
    attributes: &[VertexAttribute],
) -> VertexBufferLayout<'_> {
    VertexBufferLayout { array_stride: stride as u64, step_mode, attributes }
}
