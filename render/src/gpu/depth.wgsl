// Depth maps: what stands nearest to the light. What is above the map's range still casts.

@group(0) @binding(4) var<uniform> map_from_world: mat4x4f;

fn pressed(world: vec3f) -> vec4f {
    let at = map_from_world * vec4f(world, 1.0);
    return vec4f(at.xy, max(at.z, 0.0), at.w);
}

@vertex fn box_depth(in: BoxIn) -> @builtin(position) vec4f {
    return pressed(in.centre + turned(in.rotation, in.position * in.half));
}

@vertex fn player_depth(in: PlayerIn) -> @builtin(position) vec4f {
    return pressed(in.feet.xyz + standing(in));
}

@vertex fn mesh_depth(in: MeshIn) -> @builtin(position) vec4f {
    return pressed(stood(in));
}

struct CutoutOut {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
    @location(1) opacity: f32,
}

@vertex fn cutout_depth(in: MeshIn) -> CutoutOut {
    return CutoutOut(pressed(stood(in)), in.uv, in.tint.a);
}

@fragment fn cutout_depth_fragment(in: CutoutOut) {
    if textureSample(image, smooth_image, in.uv).a * m.base.a * in.opacity < m.emissive.w {
        discard;
    }
}
