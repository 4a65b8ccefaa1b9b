// Players: satin capsules with a dark visor that looks where they look.

struct PlayerIn {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) part: vec2f,    // 1 for the upper ball; 1 for the visor
    @location(3) feet: vec4f,    // w: the straight part
    @location(4) turn: vec4f,    // sine and cosine of yaw and nod
    @location(5) colour: vec3f,
}

struct PlayerOut {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) paint: vec3f,
    @location(3) body: vec3f,    // metres above the feet, height, 1 for the visor
}

const RADIUS: f32 = 0.35;

fn about_y(v: vec3f, spin: vec2f) -> vec3f {
    return vec3f(spin.y * v.x + spin.x * v.z, v.y, spin.y * v.z - spin.x * v.x);
}

fn about_x(v: vec3f, spin: vec2f) -> vec3f {
    return vec3f(v.x, spin.y * v.y - spin.x * v.z, spin.x * v.y + spin.y * v.z);
}

// A corner of a player, in metres from the feet.
fn standing(in: PlayerIn) -> vec3f {
    var at = in.position;
    if in.part.y > 0.5 {
        at = about_x(at, in.turn.zw);
    }
    at.y += RADIUS + in.part.x * in.feet.w;
    return about_y(at, in.turn.xy);
}

@vertex fn player_vertex(in: PlayerIn) -> PlayerOut {
    let at = standing(in);
    var normal = in.normal;
    if in.part.y > 0.5 {
        normal = about_x(normal, in.turn.zw);
    }
    var out: PlayerOut;
    out.world = in.feet.xyz + at;
    out.clip = g.clip_from_world * vec4f(out.world, 1.0);
    out.normal = about_y(normal, in.turn.xy);
    out.paint = in.colour;
    out.body = vec3f(at.y, in.feet.w + 2.0 * RADIUS, in.part.y);
    return out;
}

@fragment fn player_fragment(in: PlayerOut) -> @location(0) vec4f {
    speck = specks(in.clip);
    let normal = normalize(in.normal);
    let toward_eye = normalize(g.eye.xyz - in.world);
    let sun = sunlit(in.world, normal);
    let open = open_sky(in.world, normal);
    let half = normalize(toward_eye + g.toward.xyz);
    let gleam = max(dot(normal, half), 0.0);
    let graze = pow(1.0 - clamp(dot(normal, toward_eye), 0.0, 1.0), 4.0);
    let mirror = air(reflect(-toward_eye, normal));
    var light: vec3f;
    if in.body.z > 0.5 {
        // Dark glass.
        light = matt(vec3f(0.012, 0.016, 0.022), in.world, normal, sun, open);
        light += mirror * (0.10 + 0.75 * graze);
        light += g.sun.rgb * (sun * 3.0 * pow(gleam, 220.0));
    } else {
        // Two darker bands make the height readable.
        let high = in.body.x / in.body.y;
        let blur = fwidth(high) + 0.0005;
        let boots = 1.0 - smoothstep(0.13 - blur, 0.13 + blur, high);
        let belt = 1.0 - smoothstep(0.016, 0.016 + blur, abs(high - 0.43));
        let paint = in.paint * (1.0 - 0.45 * boots - 0.35 * belt);
        light = matt(paint, in.world, normal, sun, open);
        light += mirror * (0.02 + 0.28 * graze) * open;
        light += g.sun.rgb * (sun * 0.35 * pow(gleam, 42.0));
    }
    return pixel(hazed(light, in.world), in.clip);
}
