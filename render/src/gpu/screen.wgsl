// A finished picture, pixel for pixel, into a window.

@group(0) @binding(0) var picture: texture_2d<f32>;

@vertex fn screen_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32((index << 1u) & 2u), f32(index & 2u)) * 2.0 - 1.0;
    return vec4f(corner, 0.0, 1.0);
}

@fragment fn plain_fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return vec4f(textureLoad(picture, vec2i(at.xy), 0).rgb, 1.0);
}

// For a window that encodes what it is given: as light.
@fragment fn light_fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let c = textureLoad(picture, vec2i(at.xy), 0).rgb;
    let curved = pow((c + 0.055) / 1.055, vec3f(2.4));
    return vec4f(select(curved, c / 12.92, c <= vec3f(0.04045)), 1.0);
}
