//! Keys: what each of them is for. By their place on the keyboard, whatever letter they carry.

use winit::keyboard::KeyCode;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Ahead,
    Back,
    Left,
    Right,
    Jump,
    Crouch,
    Sprint,
    Detail,
    LetGo,
}

/// What this key is for, if it is for anything.
pub(super) const fn deed(key: KeyCode) -> Option<Deed> {
    Some(match key {
        KeyCode::KeyW | KeyCode::ArrowUp => Deed::Ahead,
        KeyCode::KeyS | KeyCode::ArrowDown => Deed::Back,
        KeyCode::KeyA | KeyCode::ArrowLeft => Deed::Left,
        KeyCode::KeyD | KeyCode::ArrowRight => Deed::Right,
        KeyCode::Space => Deed::Jump,
        KeyCode::ControlLeft | KeyCode::KeyC => Deed::Crouch,
        KeyCode::ShiftLeft => Deed::Sprint,
        KeyCode::F3 => Deed::Detail,
        KeyCode::Escape => Deed::LetGo,
        _ => return None,
    })
}
