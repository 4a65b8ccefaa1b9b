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
