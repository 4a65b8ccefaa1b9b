//! Typed arrays out of a model's buffers; every offset is checked before it is read.
//!
//! Used by primitives.

use super::Wrong;
use super::buffers::Buffers;
use dh_map::mesh::VERTICES_MAX;
use gltf::Accessor;
use gltf::accessor::DataType;

/// Numbers of an accessor, `N` an element; integers are scaled to -1..1 where it says so.
pub(super) fn floats<const N: usize>(
    accessor: &Accessor<'_>,
    buffers: &Buffers,
) -> Result<Vec<[f32; N]>, Wrong> {
    let parts = accessor.dimensions().multiplicity();
    if parts != N {
        return Err(wrong(accessor, format!("has {parts} numbers an element, {N} are needed")));
    }
    let (kind, scaled) = (accessor.data_type(), accessor.normalized());
    let read = |raw: &[u8]| {
        let width = kind.size();
        std::array::from_fn(|at| float(&raw[at * width..(at + 1) * width], kind, scaled))
    };
    elements(accessor, buffers, [0.0; N], read)
}

/// Unsigned integers of an accessor with one number an element.
pub(super) fn integers(accessor: &Accessor<'_>, buffers: &Buffers) -> Result<Vec<u32>, Wrong> {
    let kind = accessor.data_type();
    let unsigned = matches!(kind, DataType::U8 | DataType::U16 | DataType::U32);
    if accessor.dimensions().multiplicity() != 1 || !unsigned {
        return Err(wrong(accessor, "is no list of unsigned integers"));
    }
    elements(accessor, buffers, 0, integer)
}

fn elements<T: Copy>(
    accessor: &Accessor<'_>,
    buffers: &Buffers,
    zero: T,
    read: impl Fn(&[u8]) -> T,
) -> Result<Vec<T>, Wrong> {
    if accessor.count() > VERTICES_MAX {
        return Err(wrong(accessor, format!("has over {VERTICES_MAX} elements")));
    }
    let size = accessor.size();
    let mut values = match accessor.view() {
        None => vec![zero; accessor.count()],
        Some(view) => {
            let stride = view.stride().unwrap_or(size);
            let raw = buffers.view(&view)?;
            let raw = strided(raw, accessor.offset(), stride, size, accessor.count());
            raw.ok_or_else(|| wrong(accessor, "reaches beyond its buffer view"))?
                .map(&read)
                .collect()
        }
    };
    let Some(sparse) = accessor.sparse() else { return Ok(values) };
    let beyond = || wrong(accessor, "its sparse part reaches beyond its buffer view");
    let (places, changes) = (sparse.indices(), sparse.values());
    let count = sparse.count();
    let (at, view) = (places.offset(), places.view());
    let width = match places.index_type() {
        gltf::accessor::sparse::IndexType::U8 => 1,
        gltf::accessor::sparse::IndexType::U16 => 2,
        gltf::accessor::sparse::IndexType::U32 => 4,
    };
    let raw = buffers.view(&view)?;
    let places = strided(raw, at, width, width, count).ok_or_else(beyond)?;
    let (at, view) = (changes.offset(), changes.view());
    let raw = buffers.view(&view)?;
    let changes = strided(raw, at, size, size, count).ok_or_else(beyond)?;
    for (place, change) in places.zip(changes) {
        let place = usize::try_from(integer(place)).unwrap_or(usize::MAX);
        let value = values.get_mut(place);
        *value.ok_or_else(|| wrong(accessor, "its sparse part names an element out of range"))? =
            read(change);
    }
    Ok(values)
}

/// `count` elements of `size` bytes, each `stride` behind the one before; none if they do not fit.
fn strided(
    raw: &[u8],
    offset: usize,
    stride: usize,
    size: usize,
    count: usize,
) -> Option<impl Iterator<Item = &[u8]>> {
    let rest = raw.get(offset..)?;
    let needed =
        count.checked_sub(1).map_or(Some(0), |gaps| gaps.checked_mul(stride)?.checked_add(size));
    let fits = stride >= size && size > 0 && needed.is_some_and(|needed| needed <= rest.len());
    fits.then(|| (0..count).map(move |at| &rest[at * stride..at * stride + size]))
}

fn integer(raw: &[u8]) -> u32 {
    raw.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn float(raw: &[u8], kind: DataType, scaled: bool) -> f32 {
    let (value, most) = match (kind, raw) {
        (DataType::F32, &[a, b, c, d]) => return f32::from_le_bytes([a, b, c, d]),
        (DataType::I8, &[a]) => (f32::from(i8::from_le_bytes([a])), 127.0),
        (DataType::U8, &[a]) => (f32::from(a), 255.0),
        (DataType::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])), 32_767.0),
        (DataType::U16, &[a, b]) => (f32::from(u16::from_le_bytes([a, b])), 65_535.0),
        // No attribute may be made of these; a value that no rule lets pass.
        _ => return f32::NAN,
    };
    if scaled { (value / most).max(-1.0) } else { value }
}

fn wrong(accessor: &Accessor<'_>, text: impl Into<String>) -> Wrong {
    Wrong::new(format!("accessors[{}]", accessor.index()), text).with("export it again")
}
