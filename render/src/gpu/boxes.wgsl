// The boxes of the world: a metre grid from each box's corner, and rims where edges catch light.

struct BoxIn {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) centre: vec3f,
    @location(3) half: vec3f,
    @location(4) rotation: vec4f,
    @location(5) colour: vec3f,
}

struct BoxOut {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) paint: vec3f,
    @location(3) along: vec4f,   // metres from the face's corner, then the face's size
}

fn turned(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

@vertex fn box_vertex(in: BoxIn) -> BoxOut {
    let world = in.centre + turned(in.rotation, in.position * in.half);
    let corner = (in.position + 1.0) * in.half;
    let size = in.half * 2.0;
    var out: BoxOut;
    out.clip = g.clip_from_world * vec4f(world, 1.0);
    out.world = world;
    out.normal = turned(in.rotation, in.normal);
    out.paint = in.colour;
    if abs(in.normal.x) > 0.5 {
        out.along = vec4f(corner.zy, size.zy);
    } else if abs(in.normal.y) > 0.5 {
        out.along = vec4f(corner.xz, size.xz);
    } else {
        out.along = vec4f(corner.xy, size.xy);
    }
    return out;
}

// Lines of a width in metres where `at` is whole, smooth at any distance.
fn lines(at: vec2f, width: f32, blur: vec2f) -> f32 {
    let wide = max(vec2f(width), blur);
    let near = abs(fract(at - 0.5) - 0.5);
    let line = 1.0 - smoothstep(wide * 0.5, wide * 0.5 + blur, near);
    let faint = line * clamp(vec2f(width) / wide, vec2f(0.0), vec2f(1.0));
    return max(faint.x, faint.y);
}

// The rim: edges of real things are a little round and catch more light.
fn rim(in: BoxOut, blur: vec2f) -> f32 {
    let rest = min(in.along.xy, in.along.zw - in.along.xy);
    let wide = max(vec2f(0.028), blur * 0.9);
    let edge = 1.0 - smoothstep(wide * 0.35, wide, rest);
    return max(edge.x, edge.y) * clamp(0.03 / max(max(blur.x, blur.y), 0.001), 0.25, 1.0);
}

@fragment fn box_fragment(in: BoxOut) -> @location(0) vec4f {
    speck = specks(in.clip);
    let at = in.along.xy;
    let blur = fwidth(at);
    let fine = max(blur.x, blur.y);
    let metres = lines(at, 0.022, blur);
    let parts = lines(at * 4.0, 0.03, blur * 4.0) * clamp(1.0 - fine * 30.0, 0.0, 1.0);
    let cell = floor(at);
    let check = (cell.x + cell.y) % 2.0;
    let far = clamp(1.0 - fine * 1.5, 0.0, 1.0);
    var paint = in.paint * (1.0 + (check - 0.5) * 0.07 * far);
    paint *= 1.0 - 0.20 * metres - 0.06 * parts;

    let bright = rim(in, blur);
    let normal = normalize(in.normal);
    let sun = sunlit(in.world, normal);
    let open = open_sky(in.world, normal);
    let light = matt(paint, in.world, normal, sun, open) * (1.0 + 0.32 * bright);
    return pixel(hazed(light, in.world), in.clip);
}

// A box of a material of the scene.
@fragment fn brush_fragment(in: BoxOut) -> @location(0) vec4f {
    speck = specks(in.clip);
    let at = in.along.xy;
    let base = textureSample(image, smooth_image, vec2f(at.x, -at.y) * m.finish.z) * m.base;
    let bright = rim(in, fwidth(at));
    let normal = normalize(in.normal);
    let paint = base.rgb * in.paint;
    let light = surface(paint, m.emissive.rgb, m.finish.xy, in.world, normal);
    return pixel(hazed(light * (1.0 + 0.16 * bright), in.world), in.clip);
}
