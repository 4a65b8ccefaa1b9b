// Makes the museum's assets/ from models/: every model on a plinth, six to a room, and the map.
//
//   node content/museum/generate.mjs [--limit N] [--out DIR]
//
// With --out the whole folder of content is made in DIR, which must not be there yet. The same models
// always give the same map. Nothing outside assets/, or DIR, is written.

import fs from "node:fs";
import path from "node:path";

const home = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const asked = { "--limit": "Infinity", "--out": home };
const args = process.argv.slice(2);
for (let at = 0; at < args.length; at += 2) {
  if (args[at] in asked && args[at + 1]) asked[args[at]] = args[at + 1];
  else asked["--limit"] = "none";
}
const [limit, out] = [Number(asked["--limit"]), asked["--out"]];
if (!(limit >= 1)) {
  console.error("usage: generate.mjs [--limit N] [--out DIR]");
  process.exit(2);
}
if (out !== home && fs.existsSync(out)) {
  console.error(`${out} is there already`);
  process.exit(73);
}
const names = fs.existsSync(path.join(home, "models"))
  ? fs.readdirSync(path.join(home, "models")).filter((name) => name.endsWith(".glb")).sort()
  : [];
if (names.length === 0) {
  console.error("models/ is empty: run fetch.sh first");
  process.exit(66);
}
names.length = Math.min(names.length, limit);

const [ROOM, HIGH, WALL, DOOR] = [9, 3.6, 0.3, 2.6];
const [PLINTH, TOP, SHOWN, EACH] = [0.8, 1.0, 0.9, 6];
const rooms = Math.ceil(names.length / EACH);
const columns = Math.ceil(Math.sqrt(rooms));
const objects = [];
const counts = new Map();

const rounded = (numbers) => numbers.map((number) => Number(number.toFixed(4)) + 0);

function put(kind, position, components, rotation) {
  const count = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, count);
  const transform = { position: rounded(position) };
  if (rotation) transform.rotation = rounded(rotation);
  objects.push({ id: `${kind}-${count}`, transform, components });
  return objects.at(-1);
}

function box(kind, position, size, material) {
  put(kind, position, { "dh.box": { size: rounded(size), material } });
}

// The corner-to-corner box of a model as the compiler will place its triangles.
function bounds(file) {
  const bytes = fs.readFileSync(file);
  const gltf = JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)).toString("utf8"));
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const visit = (index, above) => {
    const node = gltf.nodes[index];
    const placed = times(above, local(node));
    const here = node.skin === undefined ? placed : IDENTITY;
    for (const { attributes } of gltf.meshes?.[node.mesh]?.primitives ?? []) {
      const { min, max } = gltf.accessors[attributes.POSITION];
      for (let corner = 0; corner < 8; corner++) {
        const point = [0, 1, 2].map((axis) => (corner & (1 << axis) ? max[axis] : min[axis]));
        for (const axis of [0, 1, 2]) {
          const part = (sum, k) => sum + here[k * 4 + axis] * point[k];
          const at = [0, 1, 2].reduce(part, here[12 + axis]);
          low[axis] = Math.min(low[axis], at);
          high[axis] = Math.max(high[axis], at);
        }
      }
    }
    for (const child of node.children ?? []) visit(child, placed);
  };
  for (const root of gltf.scenes[gltf.scene ?? 0].nodes) visit(root, IDENTITY);
  return { low, high };
}

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// Matrices by columns, as glTF writes them.
function times(a, b) {
  const product = [];
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      product.push([0, 1, 2, 3].reduce((sum, k) => sum + a[k * 4 + row] * b[column * 4 + k], 0));
    }
  }
  return product;
}

function local(node) {
  if (node.matrix) return node.matrix;
  const [x, y, z, w] = node.rotation ?? [0, 0, 0, 1];
  const [a, b, c] = node.scale ?? [1, 1, 1];
  const [p, q, r] = node.translation ?? [0, 0, 0];
  return [
    a * (1 - 2 * (y * y + z * z)), a * 2 * (x * y + z * w), a * 2 * (x * z - y * w), 0,
    b * 2 * (x * y - z * w), b * (1 - 2 * (x * x + z * z)), b * 2 * (y * z + x * w), 0,
    c * 2 * (x * z + y * w), c * 2 * (y * z - x * w), c * (1 - 2 * (x * x + y * y)), 0,
    p, q, r, 1,
  ];
}

// One side of a room: closed, or with a door in the middle. `along` is 0 for x and 2 for z.
function wall(middle, along, open) {
  const piece = (offset, length, bottom, top) => {
    const position = [...middle];
    position[along] += offset;
    position[1] = (bottom + top) / 2;
    const size = [WALL, top - bottom, WALL];
    size[along] = length;
    box("wall", position, size, "plaster");
  };
  if (!open) return piece(0, ROOM + WALL, 0, HIGH);
  const side = (ROOM + WALL - DOOR) / 2;
  for (const sign of [-1, 1]) piece((sign * (DOOR + side)) / 2, side, 0, HIGH);
  piece(0, DOOR, 2.6, HIGH);
}

function room(index) {
  const [column, row] = [index % columns, Math.floor(index / columns)];
  const [x, z] = [column * ROOM, row * ROOM];
  const is = (c, r) => c >= 0 && c < columns && r >= 0 && r * columns + c < rooms;
  box("floor", [x, -0.1, z], [ROOM, 0.2, ROOM], (column + row) % 2 ? "oak" : "walnut");
  wall([x + ROOM / 2, 0, z], 2, is(column + 1, row));
  wall([x, 0, z + ROOM / 2], 0, is(column, row + 1));
  if (!is(column - 1, row)) wall([x - ROOM / 2, 0, z], 2, false);
  if (!is(column, row - 1)) wall([x, 0, z - ROOM / 2], 0, false);
  names.slice(index * EACH, (index + 1) * EACH).forEach((name, place) => {
    const [px, pz] = [x + (place % 2 ? 2.9 : -2.9), z + (Math.floor(place / 2) - 1) * 2.7];
    box("plinth", [px, TOP / 2, pz], [PLINTH, TOP, PLINTH], "marble");
    const { low, high } = bounds(path.join(home, "models", name));
    const extent = Math.max(...[0, 1, 2].map((axis) => high[axis] - low[axis]));
    const scale = Number(Math.min(Math.max(SHOWN / extent, 0.001), 1000).toPrecision(6));
    const position = [
      px - (scale * (low[0] + high[0])) / 2,
      TOP - scale * low[1],
      pz - (scale * (low[2] + high[2])) / 2,
    ];
    const shown = put("exhibit", position, { "dh.model": { model: `assets/${name}` } });
    shown.name = name.replace(".glb", "");
    shown.transform.scale = [scale, scale, scale];
  });
}

for (let index = 0; index < rooms; index++) room(index);
for (let index = 0; index < 8; index++) {
  const position = [((index % 4) - 1.5) * 0.9, 0.02, 3.4 + Math.floor(index / 4) * 0.7 - 0.9];
  put("spawn", position, { "dh.spawn": {} });
}
put("view", [3.6, 2.7, 3.9], { "dh.camera": { fov: 65 } }, [-18, 42, 0]);
put("sun", [0, 30, 0], { "dh.sun": { color: "#fff0d8", intensity: 1.2 } }, [-58, 35, 0]);
put("sky", [0, 0, 0], { "dh.sky": { zenith: "#6a9ad0", horizon: "#e4ecf2", intensity: 0.8 } });

const materials = {
  marble: { color: "#e8e4dc", roughness: 0.4 },
  oak: { color: "#a8845a", roughness: 0.7 },
  plaster: { color: "#d8d2c6" },
  walnut: { color: "#8a6644", roughness: 0.7 },
};
const assets = path.join(out, "assets");
fs.rmSync(assets, { recursive: true, force: true });
fs.mkdirSync(assets, { recursive: true });
if (out !== home) {
  fs.mkdirSync(path.join(out, "models"));
  for (const name of ["pallet.dh", "models/LICENSE.txt"]) {
    fs.copyFileSync(path.join(home, name), path.join(out, name));
  }
}
for (const name of names) {
  fs.copyFileSync(path.join(home, "models", name), path.join(assets, name));
}
const lines = objects.map((object) => `    ${JSON.stringify(object)}`).join(",\n");
const text = `{\n  "materials": ${JSON.stringify(materials)},\n  "objects": [\n${lines}\n  ]\n}\n`;
fs.writeFileSync(path.join(assets, "museum.dh-map"), text);
console.log(`${path.relative(".", assets)}/ holds ${names.length} models in ${rooms} rooms`);
