// Meshes: triangles from content, many places a call.

struct MeshIn {
    @location(0) position: vec3f,
    @location(1) normal: vec4f,
    @location(2) uv: vec2f,
    @location(3) tint: vec4f,
    @location(4) x: vec4f,       // rows of mesh to world
    @location(5) y: vec4f,
    @location(6) z: vec4f,
}

struct MeshOut {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) tint: vec4f,
}

fn stood(in: MeshIn) -> vec3f {
    let at = vec4f(in.position, 1.0);
    return vec3f(dot(in.x, at), dot(in.y, at), dot(in.z, at));
}

@vertex fn mesh_vertex(in: MeshIn) -> MeshOut {
    var out: MeshOut;
    out.world = stood(in);
    out.clip = g.clip_from_world * vec4f(out.world, 1.0);
    // Normals turn with the cofactors, so that stretching does not tilt them.
    let turned = vec3f(
        dot(cross(in.y.xyz, in.z.xyz), in.normal.xyz),
        dot(cross(in.z.xyz, in.x.xyz), in.normal.xyz),
        dot(cross(in.x.xyz, in.y.xyz), in.normal.xyz),
    );
    let mirrored = dot(cross(in.x.xyz, in.y.xyz), in.z.xyz) < 0.0;
    out.normal = select(turned, -turned, mirrored);
    out.uv = in.uv;
    out.tint = in.tint;
    return out;
}

// The normal that looks to the eye: as given, or across the triangle where none was.
fn looking(in: MeshOut) -> vec3f {
    let flat_normal = cross(dpdx(in.world), dpdy(in.world));
    let given = dot(in.normal, in.normal);
    let normal = normalize(select(flat_normal, in.normal, given > 1e-12));
    let flip = dot(flat_normal, g.eye.xyz - in.world) * dot(flat_normal, normal);
    return select(normal, -normal, flip < 0.0);
}

@fragment fn mesh_fragment(in: MeshOut) -> @location(0) vec4f {
    speck = specks(in.clip);
    let base = textureSample(image, smooth_image, in.uv) * m.base * in.tint;
    let light = surface(base.rgb, m.emissive.rgb, m.finish.xy, in.world, looking(in));
    return pixel(hazed(light, in.world), in.clip);
}

// The same with holes. Apart, because a shader that may discard costs every pixel its early test.
@fragment fn cutout_fragment(in: MeshOut) -> @location(0) vec4f {
    speck = specks(in.clip);
    let base = textureSample(image, smooth_image, in.uv) * m.base * in.tint;
    let normal = looking(in);
    if base.a < m.emissive.w {
        discard;
    }
    let light = surface(base.rgb, m.emissive.rgb, m.finish.xy, in.world, normal);
    return pixel(hazed(light, in.world), in.clip);
}
