#!/usr/bin/env python3
"""Makes the pictures and models of the demo world: assets/demo/*.png, *.gltf and *.bin.

    python3 content/core/generate.py

It needs nothing but Python. The same program always makes the same files. Maps are written by hand.
"""

import json
import math
import random
import struct
import zlib
from pathlib import Path

OUT = Path(__file__).parent / "assets" / "demo"
SIDE = 128
SHADES = 16


# Pictures: seamless, in so many shades between two colours.


def save_picture(name, shades, dark, light):
    """Brightness 0 to 1 of each pixel, row by row, as an indexed PNG."""
    steps = [step / (SHADES - 1) for step in range(SHADES)]
    palette = [round(a + (b - a) * step) for step in steps for a, b in zip(dark, light)]
    pixels = [max(0, min(SHADES - 1, int(shade * (SHADES - 0.01)))) for shade in shades]
    packed = bytes(a << 4 | b for a, b in zip(pixels[::2], pixels[1::2]))
    rows = [packed[at : at + SIDE // 2] for at in range(0, len(packed), SIDE // 2)]
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 4, 3, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = [(b"IHDR", header), (b"PLTE", bytes(palette)), (b"IDAT", data), (b"IEND", b"")]
    file = b"\x89PNG\r\n\x1a\n"
    for kind, body in chunks:
        crc = zlib.crc32(kind + body)
        file += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)
    (OUT / f"{name}.png").write_bytes(file)


def noise(cells, seed):
    """Smooth noise with so many cells across."""
    dice = random.Random(seed)
    grid = [[dice.random() for _ in range(cells)] for _ in range(cells)]
    ease = lambda t: t * t * (3 - 2 * t)
    found = []
    for y in range(SIDE):
        row, v = divmod(y * cells / SIDE, 1)
        upper, lower = grid[int(row)], grid[(int(row) + 1) % cells]
        for x in range(SIDE):
            column, u = divmod(x * cells / SIDE, 1)
            left, right = int(column), (int(column) + 1) % cells
            u_, v_ = ease(u), ease(v)
            high = upper[left] * (1 - u_) + upper[right] * u_
            low = lower[left] * (1 - u_) + lower[right] * u_
            found.append(high * (1 - v_) + low * v_)
    return found


def clouds(seed, cells, octaves):
    """Noise of noises, 0 to 1, with 0.5 as its mean."""
    layers = [(0.55**octave, noise(cells << octave, seed + octave)) for octave in range(octaves)]
    whole = sum(weight for weight, _ in layers)
    columns = zip(*(layer for _, layer in layers))
    return [sum(w * n for (w, _), n in zip(layers, column)) / whole for column in columns]


def bricks(seed, across, down, rough, seam, spread):
    """Stones in rows, each second row shifted by half a stone."""
    dice, grain, stones = random.Random(seed), clouds(seed, 6, 4), {}
    wide, high = SIDE // across, SIDE // down
    shades = []
    for y in range(SIDE):
        row = y // high
        for x in range(SIDE):
            shifted = (x + wide // 2 * (row % 2)) % SIDE
            stone = stones.setdefault((row, shifted // wide), dice.uniform(*spread))
            at = [shifted % wide, y % high]
            edge = min(at[0], wide - 1 - at[0], at[1], high - 1 - at[1])
            shade = stone + (grain[y * SIDE + x] - 0.5) * rough
            if edge < 1:
                shade = seam + grain[y * SIDE + x] * 0.12
            elif edge < 2:
                shade -= 0.06
            shades.append(shade)
    return shades


def boards(seed):
    """Four boards side by side, their grain along the picture."""
    grain, fine = clouds(seed, 4, 4), clouds(seed + 9, 16, 2)
    shades = []
    for y in range(SIDE):
        for x in range(SIDE):
            board, at = divmod(x, SIDE // 4)
            streak = fine[(y // 8 * 8) * SIDE + x] + grain[(y // 4 * 4) * SIDE + x]
            tone = [0.5, 0.62, 0.44, 0.56][board] + (streak - 1) * 0.7
            shades.append(0.06 if min(at, SIDE // 4 - 1 - at) < 1 else tone)
    return shades


def speckled(seed, cells, octaves, contrast, middle, grain):
    """Ground: clouds with grains."""
    dice = random.Random(seed)
    around = clouds(seed, cells, octaves)
    return [(it - 0.5) * contrast + middle + dice.uniform(-grain, grain) for it in around]


def pictures():
    save_picture("tiles", bricks(3, 4, 4, 0.4, 0.2, (0.5, 0.82)), (96, 84, 76), (228, 212, 188))
    save_picture("stone", bricks(5, 4, 8, 0.5, 0.3, (0.48, 0.8)), (104, 92, 82), (220, 204, 182))
    save_picture("wood", boards(31), (52, 34, 22), (156, 112, 72))
    save_picture("grass", speckled(41, 6, 4, 1.3, 0.5, 0.16), (52, 80, 34), (126, 150, 66))
    save_picture("sand", speckled(51, 5, 4, 1.1, 0.55, 0.12), (164, 136, 98), (234, 210, 166))
    ridges = [abs((it - 0.5) * 2.6) + 0.15 for it in clouds(61, 4, 5)]
    save_picture("rock", ridges, (70, 62, 58), (160, 146, 132))
    save_picture("water", speckled(71, 4, 4, 1.2, 0.45, 0), (18, 62, 84), (44, 108, 126))


# Shapes: lists of triangles, counterclockwise from outside; a corner is (x, y, z) in metres.


def lathe(profile, around, phase=0.0):
    """A profile of (radius, height), from below, turned about the y axis."""

    def point(radius, height, step):
        turn = 2 * math.pi * step / around + phase
        return (radius * math.cos(turn), height, -radius * math.sin(turn))

    triangles = []
    for (low, bottom), (high, top) in zip(profile, profile[1:]):
        for step in range(around):
            a, b = point(low, bottom, step), point(low, bottom, step + 1)
            c, d = point(high, top, step + 1), point(high, top, step)
            if low > 1e-6:
                triangles.append((a, b, c if high > 1e-6 else d))
            if high > 1e-6:
                triangles.append((a, c, d))
    return triangles


def box(centre, size):
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    corners = [tuple(c + s * e / 2 for c, s, e in zip(centre, sign, size)) for sign in signs]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    quads = [[corners[at] for at in face] for face in faces]
    return [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]


def unit(point):
    length = math.sqrt(sum(part * part for part in point))
    return tuple(part / length for part in point)


def boulder(centre, radius, seed, flat=1.0, rounds=1, rough=(0.84, 1.12)):
    """A ball of triangles whose corners were pushed about."""
    t = (1 + 5**0.5) / 2
    ball = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t)]
    ball += [(0, -1, -t), (0, 1, -t), (t, 0, -1), (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]
    faces = "0b5 051 017 07a 0ab 159 5b4 ba2 a76 718 394 342 326 368 389 495 24b 62a 867 981"
    triangles = [[unit(ball[int(at, 16)]) for at in face] for face in faces.split()]
    for _ in range(rounds):
        halves = []
        for a, b, c in triangles:
            middle = lambda p, q: unit([x + y for x, y in zip(p, q)])
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            halves += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        triangles = halves
    dice, pushed = random.Random(seed), {}

    def push(point):
        key = tuple(round(part, 3) for part in point)
        reach = radius * pushed.setdefault(key, dice.uniform(*rough))
        scale = (reach, reach * flat, reach)
        return tuple(c + p * s for c, p, s in zip(centre, point, scale))

    return [tuple(push(point) for point in triangle) for triangle in triangles]


def half_ring(inner, outer, half, steps):
    """Half a ring that stands on its ends, as thick as twice `half` along z."""
    triangles = []
    for step in range(steps):
        ends = [math.pi * (step + more) / steps for more in (0, 1)]
        place = lambda radius, end, z: (radius * math.cos(end), radius * math.sin(end), z)
        edges = ((inner, ends[0]), (outer, ends[0]), (outer, ends[1]), (inner, ends[1]))
        a, b, c, d = [[place(*edge, z) for z in (half, -half)] for edge in edges]
        quads = [(a[0], b[0], c[0], d[0]), (b[1], a[1], d[1], c[1])]
        quads += [(b[0], b[1], c[1], c[0]), (a[1], a[0], d[0], d[1])]
        triangles += [t for p, q, r, s in quads for t in ((p, q, r), (p, r, s))]
    return triangles


def both_sides(triangles):
    return triangles + [triangle[::-1] for triangle in triangles]


# Models: glTF as text with a buffer beside it.


def light(colour):
    """The amounts of light of "#rrggbb"."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [round(p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4, 4) for p in parts]


def material(name, colour, roughness=0.9, metallic=0.0, glow=None, picture=None):
    base = {"baseColorFactor": light(colour) + [1]}
    if picture:
        base["baseColorTexture"] = {"index": 0, "picture": picture}
    made = {"name": name}
    made["pbrMetallicRoughness"] = base | {
        "metallicFactor": metallic,
        "roughnessFactor": roughness,
    }
    return made | ({"emissiveFactor": light(glow)} if glow else {})


def save_model(name, *parts):
    """Parts are (material, triangles). Corners are shared; faces stay flat, having no normals.

    The picture of a material lies on the ground plane, five metres wide.
    """
    data = b""
    views, accessors, meshes, nodes, images = [], [], [], [], []
    for number, (made, triangles) in enumerate(parts):
        texture = made["pbrMetallicRoughness"].get("baseColorTexture")
        numbers = {}
        for triangle in triangles:
            for corner in triangle:
                numbers.setdefault(tuple(round(part, 3) + 0.0 for part in corner), len(numbers))
        faces = [[numbers[tuple(round(p, 3) + 0.0 for p in c)] for c in t] for t in triangles]
        # Where two corners of a triangle meet there is nothing to be seen.
        indices = [corner for face in faces if len(set(face)) == 3 for corner in face]
        corners = [struct.pack("<3f", *corner) for corner in numbers]
        places = [struct.unpack("<3f", corner) for corner in corners]
        bodies = [(b"".join(corners), 34962), (struct.pack(f"<{len(indices)}H", *indices), 34963)]
        if texture:
            flat = b"".join(struct.pack("<2f", x / 5, z / 5) for x, _, z in places)
            bodies.append((flat, 34962))
        for body, target in bodies:
            view = {"buffer": 0, "byteOffset": len(data), "byteLength": len(body)}
            views.append(view | {"target": target})
            data += body + b"\0" * (-len(body) % 4)
        axes = list(zip(*places))
        bounds = {"min": [min(axis) for axis in axes], "max": [max(axis) for axis in axes]}
        at = len(accessors)
        accessors.append(
            {"bufferView": at, "componentType": 5126, "count": len(places), "type": "VEC3"} | bounds
        )
        accessors.append(
            {"bufferView": at + 1, "componentType": 5123, "count": len(indices), "type": "SCALAR"}
        )
        primitive = {"attributes": {"POSITION": at}, "indices": at + 1, "material": number}
        if texture:
            accessors.append(
                {"bufferView": at + 2, "componentType": 5126, "count": len(places), "type": "VEC2"}
            )
            primitive["attributes"]["TEXCOORD_0"] = at + 2
            texture["index"] = len(images)
            images.append({"uri": texture.pop("picture") + ".png"})
        meshes.append({"name": made["name"], "primitives": [primitive]})
        nodes.append({"name": made["name"], "mesh": number})
    document = {
        "asset": {"version": "2.0", "generator": "Driftholm"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [made for made, _ in parts],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": f"{name}.bin"}],
    }
    if images:
        document["images"] = images
        document["textures"] = [{"source": at} for at in range(len(images))]
    lines = []
    for key, value in document.items():
        many = isinstance(value, list) and isinstance(value[0], dict)
        each = ",\n    ".join(json.dumps(item) for item in value) if many else json.dumps(value)
        lines.append(f'  "{key}": [\n    {each}\n  ]' if many else f'  "{key}": {each}')
    (OUT / f"{name}.gltf").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    (OUT / f"{name}.bin").write_bytes(data)
    print(f"{name}: {sum(len(triangles) for _, triangles in parts)} triangles")


STONE = material("limestone", "#d8c8ac")
BARK = material("bark", "#6a4a34")
WATER = material("water", "#3f8a94", 0.08)


def plants():
    crown = lathe([(0.3, 0.6), (0.8, 1.4), (0.95, 2.5), (0.72, 4.1), (0.38, 5.6), (0, 6.8)], 10)
    trunk = lathe([(0.24, -0.3), (0.16, 1.1)], 7)
    save_model("cypress", (BARK, trunk), (material("needles", "#47632f"), crown))

    trunk = lathe([(0.36, -0.3), (0.22, 0.5), (0.17, 2.0), (0.1, 2.9)], 8)
    leaves = boulder((0, 3.4, 0), 1.45, 3, 0.85, 2, (0.88, 1.1))
    leaves += boulder((0.95, 2.9, 0.35), 0.95, 5, 0.8, 2, (0.88, 1.1))
    lit = boulder((-0.75, 3.8, -0.3), 1.0, 8, 0.85, 2, (0.88, 1.1))
    lit += boulder((0.25, 4.25, 0.45), 0.8, 9, 0.8, 1, (0.88, 1.1))
    green, gold = material("leaves", "#6f8434"), material("leaves in the sun", "#93943a")
    save_model("tree", (BARK, trunk), (green, leaves), (gold, lit))

    leaves = [ball for x, z, r, seed in ((0, 0, 0.6, 1), (0.6, 0.2, 0.45, 2), (-0.5, 0.3, 0.5, 4))
              for ball in boulder((x, r * 0.5, z), r, seed, 0.8, 1, (0.85, 1.1))]
    dice, blossoms = random.Random(31), []
    for _ in range(14):
        turn, up = dice.uniform(0, 2 * math.pi), dice.uniform(0.35, 0.8)
        reach = dice.uniform(0.25, 0.62)
        at = (reach * math.cos(turn) + 0.05, up, reach * math.sin(turn) + 0.15)
        blossoms += boulder(at, 0.13, dice.randrange(99), 1, 0)
    green, pink = material("leaves", "#5c7a38"), material("blossoms", "#d4587e")
    save_model("bush", (green, leaves), (pink, blossoms))


def buildings():
    shaft = [(0.46, 0.3), (0.46, 0.38), (0.40, 0.42), (0.40, 0.48), (0.335, 0.56), (0.33, 1.6)]
    shaft += [(0.285, 3.08), (0.34, 3.14), (0.34, 3.2), (0.44, 3.36), (0.44, 3.42)]
    column = box((0, 0.15, 0), (1.0, 0.3, 1.0)) + lathe(shaft, 16)
    save_model("column", (STONE, column + box((0, 3.51, 0), (1.0, 0.18, 1.0))))

    ring = half_ring(1.5, 2.0, 0.42, 18) + half_ring(1.86, 2.06, 0.5, 18)
    keystone = box((0, 1.8, 0), (0.44, 0.66, 1.1))
    save_model("arch", (material("limestone", "#d2c0a2"), ring), (STONE, keystone))

    courses, eaves = [], [(3.3, 0.0), (2.55, 1.1), (1.85, 2.2), (1.2, 3.3), (0.6, 4.4), (0.12, 5.3)]
    for (low, bottom), (high, top) in zip(eaves, eaves[1:]):
        courses += [(low, bottom), (low, bottom + 0.1), (high + 0.12, top)]
    roof = lathe([(0, 0), *courses, (0, 5.4)], 4, math.pi / 4)
    ball = lathe([(0.05, 5.2), (0.06, 5.5), (0.2, 5.6), (0.24, 5.75), (0.2, 5.9), (0.04, 6)], 8)
    gilded = material("gilded", "#e2b04a", 0.3, 0.9)
    spike = lathe([(0.04, 6), (0, 6.6)], 6)
    save_model("roof", (material("roof", "#b5573a", 0.8), roof), (gilded, ball + spike))

    iron = lathe([(0.24, 0), (0.24, 0.1), (0.12, 0.22), (0.07, 0.3), (0.055, 2.5)], 8)
    iron += lathe([(0.055, 2.5), (0.16, 2.62), (0.16, 2.68)], 8)
    iron += lathe([(0.26, 3.1), (0.2, 3.2), (0.05, 3.38), (0.03, 3.5), (0, 3.55)], 8)
    glass = lathe([(0.13, 2.68), (0.2, 2.9), (0.18, 3.12)], 8)
    lit = material("glass", "#ffd890", 0.4, 0, "#ffb347")
    save_model("lamp", (material("iron", "#2e2c30", 0.5, 0.6), iron), (lit, glass))

    basin = lathe([(2.15, 0), (2.15, 0.12), (2.0, 0.18), (2.02, 0.5), (2.2, 0.56), (2.2, 0.66),
                   (1.85, 0.66), (1.8, 0.3)], 24)
    basin += lathe([(0.42, 0.2), (0.24, 0.5), (0.2, 1.2), (0.4, 1.35), (0.95, 1.5), (1.0, 1.62),
                    (0.88, 1.62), (0.7, 1.52)], 16)
    basin += lathe([(0.12, 1.5), (0.1, 2.1), (0.42, 2.25), (0.45, 2.33), (0.36, 2.32)], 12)
    basin += lathe([(0.08, 2.28), (0.06, 2.5), (0.14, 2.62), (0, 2.8)], 8)
    pools = lathe([(1.83, 0.5), (0, 0.5)], 24) + lathe([(0.86, 1.58), (0, 1.58)], 16)
    save_model("fountain", (STONE, basin), (WATER, pools))


def land(rings, around, wander):
    """Rings of (part of the shore's radius, height) from the middle outwards, as one surface."""
    dice = random.Random(23)
    waves = [(count, dice.uniform(0, 7), 0.11 / count**0.7) for count in (2, 3, 5, 7, 11)]

    def point(ring, step):
        turn = 2 * math.pi * step / around
        part, height = rings[ring]
        shore = 1 + sum(size * math.sin(count * turn + at) for count, at, size in waves)
        shore = 1 + (shore - 1) * min(1, part * 1.2)
        push = wander * part * math.sin(turn * 17 + ring * 2.4)
        reach = part * shore + push
        return (26 * reach * math.cos(turn), height, -25 * reach * math.sin(turn))

    triangles = []
    for ring in range(len(rings) - 1):
        for step in range(around):
            a, b = point(ring, step), point(ring, step + 1)
            c, d = point(ring + 1, step + 1), point(ring + 1, step)
            triangles += [(a, c, b)] * (rings[ring][0] > 0) + [(a, d, c)]
    return triangles


def shore():
    beach = [(0, -0.2), (0.5, -0.2), (0.74, -0.16), (0.84, -0.34), (0.93, -0.62), (1.02, -1.1)]
    beach.append((1.2, -2))
    lawn = [(0, -0.02), (0.45, -0.02), (0.66, -0.02), (0.725, -0.05), (0.74, -0.25)]
    sand = material("sand", "#ffffff", 1.0, picture="sand")
    grass = material("grass", "#ffffff", 1.0, picture="grass")
    save_model("island", (sand, land(beach, 64, 0.006)), (grass, land(lawn, 64, 0.02)))

    rock = boulder((0, 0.2, 0), 1.2, 11, 0.7, 2, (0.9, 1.1))
    save_model("rock", (material("rock", "#8a7d72"), rock))

    # A hill with a broken ridge, one metre high and two across, to be scaled.
    hill = boulder((0, 0, 0), 1.0, 17, 1.0, 3, (0.9, 1.12))
    hill = [tuple((x, y * abs(y), z) for x, y, z in triangle) for triangle in hill]
    hill = [triangle for triangle in hill if max(y for _, y, _ in triangle) > -0.05]
    save_model("hill", (material("rock", "#8f8078"), hill))

    length, steps, hull = 2.6, 10, []
    for step in range(steps):
        ends = [-1 + 2 * (step + more) / steps for more in (0, 1)]
        for side in (1, -1):
            wide = [(side * 0.9 * (1 - abs(t) ** 2.2), side * 0.6 * (1 - t * t)) for t in ends]
            upper = [(t * length, 0.5 + 0.42 * t * t, w) for t, (w, _) in zip(ends, wide)]
            bilge = [(t * length * 0.95, 0.05 + 0.2 * t * t, w) for t, (_, w) in zip(ends, wide)]
            keel = [(t * length * 0.9, -0.3, 0) for t in ends]
            for (a, b), (d, c) in ((upper, bilge), (bilge, keel)):
                hull += [(a, b, c), (a, c, d)]
    mast = lathe([(0.07, 0), (0.05, 4.4)], 6)
    rows, main, jib = 6, [], []
    edge = lambda t, out: (0.12 + (1 - t) * 2.0 * out, 0.9 + t * 3.3, 0.55 * out * (1 - t))
    for row in range(rows):
        low, high = row / rows, (row + 1) / rows
        strip = [edge(low, 0), edge(low, 1), edge(high, 1), edge(high, 0)]
        main += [(strip[0], strip[1], strip[2]), (strip[0], strip[2], strip[3])]
    jib.append(((-0.12, 0.9, 0.05), (-0.1, 3.7, 0.05), (-2.2, 0.95, 0.25)))
    sail = material("sail", "#f2e6cc")
    planks = material("planks", "#7d4f33")
    save_model("boat", (planks, both_sides(hull) + mast), (sail, both_sides(main + jib)))


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    pictures()
    plants()
    buildings()
    shore()
