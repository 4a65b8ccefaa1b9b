// The sky behind everything: one triangle over the whole picture at the far end of the depth.

struct SkyOut {
    @builtin(position) clip: vec4f,
    @location(0) way: vec3f,
}

@vertex fn sky_vertex(@builtin(vertex_index) index: u32) -> SkyOut {
    let corner = vec2f(f32((index << 1u) & 2u), f32(index & 2u)) * 2.0 - 1.0;
    var out: SkyOut;
    out.clip = vec4f(corner, 0.0, 1.0);
    out.way = g.forward.xyz + g.right.xyz * corner.x + g.up.xyz * corner.y;
    return out;
}

fn lattice(cell: vec2f) -> f32 {
    let p = fract(cell * vec2f(0.1031, 0.1030) + vec2f(0.71, 0.113));
    let q = p + dot(p, p.yx + 33.33);
    return fract((q.x + q.y) * q.x * 7.13);
}

fn noise(at: vec2f) -> f32 {
    let cell = floor(at);
    let part = fract(at);
    let ease = part * part * (3.0 - 2.0 * part);
    let low = mix(lattice(cell), lattice(cell + vec2f(1.0, 0.0)), ease.x);
    let high = mix(lattice(cell + vec2f(0.0, 1.0)), lattice(cell + vec2f(1.0, 1.0)), ease.x);
    return mix(low, high, ease.y);
}

// Thin high clouds, 0 to 1, on a flat layer that nobody reaches.
fn cloud(way: vec3f) -> f32 {
    var at = way.xz / (way.y + 0.12) * vec2f(1.1, 1.9) + vec2f(3.7, 1.3);
    var sum = 0.0;
    var part = 0.5;
    for (var octave = 0; octave < CLOUD_OCTAVES; octave++) {
        sum += part * noise(at);
        at = vec2f(at.x * 1.6 - at.y * 1.2, at.x * 1.2 + at.y * 1.6) + vec2f(5.1, 2.7);
        part *= 0.5;
    }
    return smoothstep(0.46, 0.86, sum) * smoothstep(0.01, 0.22, way.y);
}

@fragment fn sky_fragment(in: SkyOut) -> @location(0) vec4f {
    let way = normalize(in.way);
    let side = dot(way, g.toward.xyz);
    let lit = g.sun.rgb * (0.62 + 0.55 * pow(clamp(side, 0.0, 1.0), 8.0)) + g.horizon.rgb * 0.25;
    let behind = mix(air(way), lit, cloud(way) * 0.62);
    let disc = smoothstep(0.99955, 0.99975, side) * 6.0;
    return pixel(behind + g.sun.rgb * disc, in.clip);
}
