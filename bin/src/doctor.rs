//! Doctor: what this machine can do, and what to install where it cannot.
//!
//! Looks and tells; changes nothing but making the data folder, as any other verb would. A fault it
//! finds is data, so it succeeds either way.

use crate::command::Shared;
use crate::data::{DataFolder, Origin};
use crate::exit::Failure;
use crate::output;
use crate::version::VERSION;
use dh_prefs::DEFAULT_PORT;
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;

/// Free space below which a cache of content will not last.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// One thing looked at.
#[derive(Debug, PartialEq, Eq)]
struct Check {
    name: &'static str,
    found: String,
    /// What to do about it; nothing where all is well.
    remedy: Option<String>,
}

/// Looks at everything and tells it.
pub(crate) fn run(shared: &Shared) -> Result<(), Failure> {
    let mut checks = vec![
        fine("program", format!("dh {VERSION}, commit {}", env!("DH_COMMIT"))),
        adapter(),
        display(|name| std::env::var_os(name)),
    ];
    checks.extend(data(shared.data.as_deref()));
    checks.push(port(DEFAULT_PORT));
    if shared.json {
        let told = |check: &Check| {
            let (name, found, remedy) = (check.name, &check.found, &check.remedy);
            json!({ "name": name, "ok": remedy.is_none(), "found": found, "remedy": remedy })
        };
        return output::json(&json!({ "checks": checks.iter().map(told).collect::<Vec<_>>() }));
    }
    for check in &checks {
        let mark = if check.remedy.is_none() { "ok  " } else { "MISS" };
        output::line(&format!("{mark} {:<12} {}", check.name, check.found))?;
        if let Some(remedy) = &check.remedy {
            output::line(&format!("     {:<12} try: {remedy}", ""))?;
        }
    }
    Ok(())
}

fn adapter() -> Check {
    match dh_render::find_adapter() {
        Ok(adapter) => fine("adapter", adapter.to_string()),
        Err(none) => {
            let remedy = format!("apt-get install {}", dh_render::NoAdapter::PACKAGE);
            faulty("adapter", none.to_string(), remedy)
        }
    }
}

/// Where a window would open.
fn display(variable: impl Fn(&str) -> Option<OsString>) -> Check {
    let named = ["WAYLAND_DISPLAY", "DISPLAY"].into_iter().find_map(|name| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some(format!("{name}={}", value.to_string_lossy()))
    });
    match named {
        Some(display) => fine("display", display),
        None => faulty(
            "display",
            "none; everything but a window works".to_owned(),
            "dh play --headless --picture FILE".to_owned(),
        ),
    }
}

/// The data folder and the space beside it.
fn data(flag: Option<&Path>) -> Vec<Check> {
    let folder = match DataFolder::open(flag) {
        Ok(folder) => folder,
        Err(failure) => {
            let remedy = failure.remedy.unwrap_or_default();
            return vec![faulty("data folder", failure.cause, remedy)];
        }
    };
    let path = folder.path();
    let reason = match folder.origin() {
        Origin::Flag => "--data",
        Origin::Environment => "DH_DATA",
        Origin::Platform => "the platform's",
        Origin::Temporary => "temporary",
    };
    let found = format!("{} ({reason})", path.display());
    let probe = folder.file(".doctor");
    let written = fs::write(&probe, "").and_then(|()| fs::remove_file(&probe));
    let check = match (written, folder.origin()) {
        (Ok(()), Origin::Temporary) => faulty("data folder", found, "dh --data DIR".to_owned()),
        (Ok(()), _) => fine("data folder", found),
        (Err(error), _) => {
            let remedy = "dh --data DIR, with a folder you may write to".to_owned();
            faulty("data folder", format!("{found}: {error}"), remedy)
        }
    };
    vec![check, space(path, FREE_BYTES_MIN)]
}

fn space(path: &Path, least: u64) -> Check {
    let free = rustix::fs::statvfs(path).map(|it| it.f_bavail.saturating_mul(it.f_frsize));
    let remedy = || "free some space, or dh --data DIR on another disk".to_owned();
    match free {
        Ok(free) if free >= least => fine("free space", format!("{} MiB", free >> 20)),
        Ok(free) => faulty("free space", format!("{} MiB", free >> 20), remedy()),
        Err(error) => faulty("free space", format!("unknown: {error}"), remedy()),
    }
}

/// Whether a server could listen.
fn port(port: u16) -> Check {
    match UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)) {
        Ok(_) => fine("port", format!("UDP {port} is free")),
        Err(error) => faulty(
            "port",
            format!("UDP {port}: {error}"),
            "dh server --listen 0.0.0.0:27016, or another that is free".to_owned(),
        ),
    }
}

fn fine(name: &'static str, found: String) -> Check {
    Check { name, found, remedy: None }
}

fn faulty(name: &'static str, found: String, remedy: String) -> Check {
    Check { name, found, remedy: Some(remedy) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_the_one_the_environment_names() {
        let wayland = |name: &str| (name == "WAYLAND_DISPLAY").then(|| OsString::from("w-0"));
        assert_eq!(display(wayland).found, "WAYLAND_DISPLAY=w-0");
        assert!(display(|_| Some(OsString::new())).remedy.is_some());
    }

    #[test]
    fn a_port_in_use_is_told_with_what_to_do() {
        let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let number = taken.local_addr().unwrap().port();
        assert!(port(number).remedy.unwrap().contains("--listen"));
        drop(taken);
        assert_eq!(port(number).remedy, None);
    }

    #[test]
    fn space_below_the_least_is_a_fault() {
        let here = tempfile::tempdir().unwrap();
        assert_eq!(space(here.path(), 0).remedy, None);
        assert!(space(here.path(), u64::MAX).remedy.is_some());
    }

    #[test]
    fn a_data_folder_is_told_with_the_space_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let names: Vec<_> = data(Some(home.path())).iter().map(|check| check.name).collect();
        assert_eq!(names, ["data folder", "free space"]);
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(data(Some(&file))[0].remedy.is_some());
    }
}
