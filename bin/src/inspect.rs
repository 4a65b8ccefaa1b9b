//! Inspect: how a role of this program lets itself be looked at.

mod shown;

pub(crate) use self::shown::Shown;
