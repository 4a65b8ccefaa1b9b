// Surfaces: materials in the terms of glTF, on meshes and on boxes.

struct Material {
    base: vec4f,
    emissive: vec4f,    // w: what is less opaque is left out
    finish: vec4f,      // metallic, roughness, 1 / metres that an image covers
}

@group(1) @binding(0) var<uniform> m: Material;
@group(1) @binding(1) var image: texture_2d<f32>;
@group(1) @binding(2) var smooth_image: sampler;

// The sky and ground as a surface of this roughness mirrors them.
fn mirrored(way: vec3f, roughness: f32) -> vec3f {
    let above = mix(g.horizon.rgb, g.zenith.rgb, 0.35);
    let below = g.ground.rgb * g.sun.rgb * 0.75;
    let blurred = mix(below, above, smoothstep(-0.6, 0.6, way.y));
    // Without its ground, what a smooth thing mirrors below the horizon is a floor in half light.
    let sharp = mix(air(way), below * 0.6, smoothstep(0.02, -0.12, way.y));
    return mix(sharp, blurred, clamp(roughness * 1.6, 0.0, 1.0));
}

// How much of it, by angle: the fit of the split sum after Lazarov.
fn mirrors(f0: vec3f, roughness: f32, facing: f32) -> vec3f {
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * facing)) * r.x + r.y;
    let ab = vec2f(-1.04, 1.04) * a + r.zw;
    return f0 * ab.x + ab.y;
}

// Light that leaves a surface towards the eye.
fn surface(base: vec3f, glow: vec3f, finish: vec2f, world: vec3f, normal: vec3f) -> vec3f {
    let metallic = clamp(finish.x, 0.0, 1.0);
    let roughness = clamp(finish.y, 0.06, 1.0);
    let sun = sunlit(world, normal);
    let open = open_sky(world, normal);
    var light = matt(base * (1.0 - metallic), world, normal, sun, open);

    let toward_eye = normalize(g.eye.xyz - world);
    let facing = clamp(dot(normal, toward_eye), 0.02, 1.0);
    let f0 = mix(vec3f(0.04), base, metallic);
    let mirror = mirrored(reflect(-toward_eye, normal), roughness);
    light += mirror * mirrors(f0, roughness, facing) * mix(0.25, 1.0, open * open);

    let lit = max(dot(normal, g.toward.xyz), 0.0) * sun;
    let half = normalize(toward_eye + g.toward.xyz);
    let gleam = clamp(dot(normal, half), 0.0, 1.0);
    let a2 = pow(roughness, 4.0);
    let d = gleam * gleam * (a2 - 1.0) + 1.0;
    let k = (roughness + 1.0) * (roughness + 1.0) * 0.125;
    let view = 1.0 / ((facing * (1.0 - k) + k) * (max(lit, 0.02) * (1.0 - k) + k));
    let fresnel = f0 + (1.0 - f0) * pow(1.0 - clamp(dot(half, toward_eye), 0.0, 1.0), 5.0);
    let spot = min(a2 / (d * d) * view * 0.25, 60.0);
    light += g.sun.rgb * fresnel * (g.toward.w * lit * spot);
    return light + glow;
}
