// Light: what every pass shares. The sun with its shadow, light from all sides, haze, and how an
// amount of light becomes a pixel. Prepended to the other shaders by shaders.rs.

// How finely shadows are smoothed, in how many rings and steps the sky is looked for, and how fine
// its clouds are.
override SUN_REACH: i32 = 1;
override SKY_RINGS: i32 = 4;
override SKY_STEPS: i32 = 9;
override CLOUD_OCTAVES: i32 = 5;

struct Globals {
    clip_from_world: mat4x4f,
    sun_from_world: mat4x4f,
    top_from_world: mat4x4f,
    eye: vec4f,         // w: 1 / haze
    right: vec4f,       // half the picture's width at one metre; w: pixels across
    up: vec4f,          // half its height at one metre; w: pixels down
    forward: vec4f,
    toward: vec4f,      // towards the sun; w: its strength
    sun: vec4f,         // w: 1 where it casts shadows
    zenith: vec4f,      // w: how much light comes from all sides
    horizon: vec4f,
    ground: vec4f,
    maps: vec4f,        // metres of a sun texel, 1 / its depth, the same two of the map from above
}

@group(0) @binding(0) var<uniform> g: Globals;
@group(0) @binding(1) var sun_map: texture_depth_2d;
@group(0) @binding(2) var top_map: texture_depth_2d;
@group(0) @binding(3) var nearer: sampler_comparison;
// The map from above once more, to read what is in it: GLSL cannot read a map that is compared.
@group(0) @binding(5) var top_depth: texture_2d<f32>;

// The sky in a direction, without the sun's disc.
fn air(way: vec3f) -> vec3f {
    let high = clamp(way.y, 0.0, 1.0);
    let rise = 1.0 - pow(1.0 - high, 2.6);
    let above = mix(g.horizon.rgb, g.zenith.rgb, rise);
    let below = mix(g.horizon.rgb, g.ground.rgb, smoothstep(0.0, 0.35, -way.y));
    let side = clamp(dot(way, g.toward.xyz), 0.0, 1.0);
    let glow = g.sun.rgb * (0.16 * pow(side, 6.0) + 0.22 * pow(side, 48.0));
    return select(below, above, way.y > 0.0) + glow;
}

// A pattern over the picture, 0 to 1, that differs between neighbours as far as it can: the
// interleaved gradient noise of Jimenez. Set by each fragment shader before it asks for light.
var<private> speck: f32;

fn specks(at: vec4f) -> f32 {
    return fract(52.9829189 * fract(dot(floor(at.xy), vec2f(0.06711056, 0.00583715))));
}

// How much of the sun reaches a point, 0 to 1.
fn sunlit(world: vec3f, normal: vec3f) -> f32 {
    let lift = normal * (g.maps.x * 1.6);
    let at = g.sun_from_world * vec4f(world + lift, 1.0);
    let uv = vec2f(at.x * 0.5 + 0.5, 0.5 - at.y * 0.5);
    let texel = 1.0 / vec2f(textureDimensions(sun_map));
    let depth = at.z - 0.02 * g.maps.y;
    var light = 0.0;
    var whole = 0.0;
    for (var y = -SUN_REACH; y <= SUN_REACH; y++) {
        for (var x = -SUN_REACH; x <= SUN_REACH; x++) {
            let tap = uv + vec2f(f32(x), f32(y)) * texel * 1.15;
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            light += weight * textureSampleCompareLevel(sun_map, nearer, tap, depth);
            whole += weight;
        }
    }
    light /= whole;
    let edge = max(abs(at.x), abs(at.y));
    return mix(1.0, mix(light, 1.0, smoothstep(0.96, 1.0, edge)), g.sun.w);
}

// How much of the sky is open at a point, 0 to 1: the map from above is read around it, and what
// stands higher than a slope takes that part away. Each pixel looks another way and another way
// far, so that what is read only here and there leaves no edges.
fn open_sky(world: vec3f, normal: vec3f) -> f32 {
    let foot = world + normal * (g.maps.z * 1.2);
    var open = 0.0;
    var whole = 0.0;
    let turn = 6.2831853 / f32(SKY_STEPS);
    let ahead = vec2f(cos(turn), sin(turn));
    for (var ring = 0; ring < SKY_RINGS; ring++) {
        // The rings that are left out are the nearest and the farthest.
        let which = ring + (4 - SKY_RINGS) / 2;
        let shift = fract(speck + 0.618034 * f32(which) + 0.5);
        let reach = array(0.2, 0.5, 1.0, 1.8)[which] * (0.75 + 0.5 * shift);
        let slope = array(0.3, 0.5, 0.65, 0.8)[which];
        let first = fract(speck + 0.25 * f32(which)) * turn;
        var way = vec2f(cos(first), sin(first));
        for (var step = 0; step < SKY_STEPS; step++) {
            let weight = clamp(dot(way, normal.xz) + normal.y + 0.15, 0.0, 1.0);
            let tap = foot + vec3f(way.x * reach, reach * slope + 0.04, way.y * reach);
            let at = g.top_from_world * vec4f(tap, 1.0);
            let uv = vec2f(at.x * 0.5 + 0.5, 0.5 - at.y * 0.5);
            let inside = all(abs(at.xy) < vec2f(1.0));
            let free = textureSampleCompareLevel(top_map, nearer, uv, at.z);
            open += weight * select(1.0, free, inside);
            whole += weight;
            way = vec2f(way.x * ahead.x - way.y * ahead.y, way.x * ahead.y + way.y * ahead.x);
        }
    }
    open = select(1.0, open / whole, whole > 0.0);
    return open * foot_of_wall(world + normal * 0.3, normal);
}

// Walls get less light where they stand on something: how far below is what lies in front.
fn foot_of_wall(front: vec3f, normal: vec3f) -> f32 {
    let at = g.top_from_world * vec4f(front, 1.0);
    let size = vec2f(textureDimensions(top_depth));
    let texel = vec2f(at.x * 0.5 + 0.5, 0.5 - at.y * 0.5) * size;
    let last = vec2i(size) - 1;
    let floor_depth = textureLoad(top_depth, clamp(vec2i(texel), vec2i(0), last), 0).r;
    let gap = (floor_depth - at.z) / g.maps.w;
    let dark = 0.55 * exp2(-3.2 * max(gap, 0.0)) * step(-0.05, gap);
    return 1.0 - dark * (1.0 - abs(normal.y));
}

// Light that leaves a matt surface of this paint.
fn matt(paint: vec3f, world: vec3f, normal: vec3f, sun: f32, open: f32) -> vec3f {
    let facing = max(dot(normal, g.toward.xyz), 0.0);
    let direct = g.sun.rgb * (g.toward.w * facing * sun);
    let lift = normal.y * 0.5 + 0.5;
    let above = mix(g.horizon.rgb, g.zenith.rgb, 0.35);
    let sky = mix(vec3f(dot(above, vec3f(0.2126, 0.7152, 0.0722))), above, 0.62);
    let below = g.ground.rgb * g.sun.rgb * 0.75;
    let around = mix(below, sky, lift) * mix(0.18, 1.0, open * open);
    return paint * (direct + around * (0.85 * g.zenith.w));
}

// Far things fade into the air behind them.
fn hazed(light: vec3f, world: vec3f) -> vec3f {
    let way = world - g.eye.xyz;
    let far = length(way);
    let fade = 1.0 - exp2(-far * g.eye.w);
    let level = normalize(vec3f(way.x, max(way.y, 0.02 * far), way.z));
    return mix(light, air(level), fade);
}

// An amount of light as an sRGB encoded pixel. The curve is the Khronos PBR neutral tone mapper: it
// keeps paint as it is and bends only what is brighter than white.
fn pixel(light: vec3f, at: vec4f) -> vec4f {
    let start = 0.8 - 0.04;
    let low = min(light.r, min(light.g, light.b));
    let offset = select(0.04, low - 6.25 * low * low, low < 0.08);
    var c = light - offset;
    let peak = max(c.r, max(c.g, c.b));
    if peak >= start {
        let d = 1.0 - start;
        let bent = 1.0 - d * d / (peak + d - start);
        c *= bent / peak;
        c = mix(c, vec3f(bent), 1.0 - 1.0 / (0.15 * (peak - bent) + 1.0));
    }
    c = clamp(c, vec3f(0.0), vec3f(1.0));
    let straight = c * 12.92;
    let curved = 1.055 * pow(c, vec3f(1.0 / 2.4)) - 0.055;
    // A fixed pattern below one step of brightness, so that the sky shows no bands.
    let grain = fract(52.9829189 * fract(dot(at.xy, vec2f(0.06711056, 0.00583715)))) - 0.5;
    return vec4f(select(curved, straight, c <= vec3f(0.0031308)) + grain / 255.0, 1.0);
}
