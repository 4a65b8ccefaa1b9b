//! Doctor: what this machine can do, and what to install where it cannot.
//!
//! Looks and tells; makes and changes nothing. A fault it finds is data, so it succeeds either way.

use crate::command::Shared;
use crate::data::{DataFolder, Origin, REMEDY};
use crate::exit::Failure;
use crate::version::VERSION;
use crate::{identity, output, settings};
use dh_host::disk::free_space;
use dh_host::net::{Identity, KnownHosts};
use dh_prefs::{DEFAULT_PORT, Source, TABLE};
use rustix::fs::{Access, access};
use serde_json::json;
use std::ffi::OsString;
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
    checks.extend(data(shared));
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

/// The data folder as a role would find or make it, the space beside it, and its preferences.
fn data(shared: &Shared) -> Vec<Check> {
    let Some((path, origin)) = DataFolder::look(shared.data.as_deref()) else {
        let found = "this user has no home folder".to_owned();
        return vec![faulty("data folder", found, REMEDY.to_owned())];
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let reason = match origin {
        Origin::Flag => "--data",
        Origin::Environment => "DH_DATA",
        Origin::Platform | Origin::Temporary => "the platform's",
    };
    // What is not there yet is made in the nearest folder that is.
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(&path);
    let yet = if there == path { "" } else { ", not made yet" };
    let found = format!("{} ({reason}){yet}", path.display());
    let writable = match there.is_dir() {
        true => {
            access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| error.to_string())
        }
        false => Err(format!("{} is no folder", there.display())),
    };
    let mut checks = match writable {
        Ok(()) => vec![fine("data folder", found), space(there, FREE_BYTES_MIN)],
        Err(why) => {
            let remedy = REMEDY.to_owned();
            vec![faulty("data folder", format!("{found}: {why}"), remedy)]
        }
    };
    if there.is_dir() {
        checks.push(preferences(&path.join(settings::FILE), shared));
        checks.push(own_key(&path.join(identity::KEY_FILE)));
        checks.push(known_hosts(&path.join(identity::HOSTS_FILE)));
    }
    checks
}

/// What a role would read as its preferences.
fn preferences(path: &Path, shared: &Shared) -> Check {
    match settings::load_from(path, shared) {
        Ok(prefs) => {
            let set = TABLE.iter().filter(|row| prefs.source(row) != Source::Default).count();
            fine("preferences", format!("{set} differ from their defaults"))
        }
        Err(failure) => failed("preferences", failure),
    }
}

/// Whom a role would play or serve as.
fn own_key(path: &Path) -> Check {
    match Identity::load(path) {
        Ok(Some(own)) => fine("identity", own.key().fingerprint().to_string()),
        Ok(None) => fine("identity", "not made yet".to_owned()),
        Err(error) => failed("identity", identity::key_failure(&error)),
    }
}

/// The servers that a client would know again.
fn known_hosts(path: &Path) -> Check {
    match KnownHosts::load(path).map(|known| known.iter().count()) {
        Ok(1) => fine("known hosts", "1 server".to_owned()),
        Ok(count) => fine("known hosts", format!("{count} servers")),
        Err(error) => failed("known hosts", identity::hosts_failure(&error)),
    }
}

fn space(path: &Path, least: u64) -> Check {
    let remedy = || "free some space, or dh --data DIR on another disk".to_owned();
    match free_space(path) {
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

/// What would stop a role.
fn failed(name: &'static str, failure: Failure) -> Check {
    faulty(name, failure.cause.replace('\n', "; "), failure.remedy.unwrap_or_default())
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
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

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

    fn looked(path: &Path) -> Vec<Check> {
        let words = ["dh", "--data", path.to_str().unwrap()].map(OsString::from);
        data(&crate::command::parse(words).unwrap().shared)
    }

    #[test]
    fn a_data_folder_is_told_with_its_space_and_preferences_and_is_not_made() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        let checks = looked(&folder);
        let names: Vec<_> = checks.iter().map(|check| check.name).collect();
        let wanted = ["data folder", "free space", "preferences", "identity", "known hosts"];
        assert_eq!(names, wanted);
        assert!(checks[0].found.ends_with("(--data), not made yet"), "{checks:?}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        looked(home.path());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn preferences_are_told_by_how_many_were_set() {
        let home = tempfile::tempdir().unwrap();
        for (text, found) in [("", "0 differ"), ("server.maxPlayers = 5", "1 differ")] {
            fs::write(home.path().join("config.toml"), text).unwrap();
            let checks = looked(home.path());
            let told = checks.iter().find(|check| check.name == "preferences").unwrap();
            assert!(told.found.starts_with(found), "{told:?}");
        }
    }

    #[test]
    fn a_data_folder_that_cannot_be_used_is_one_fault() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let faults: Vec<_> = looked(&file).into_iter().filter(|it| it.remedy.is_some()).collect();
        assert_eq!(faults.iter().map(|it| it.name).collect::<Vec<_>>(), ["data folder"]);
    }

    #[test]
    fn an_identity_and_known_hosts_that_stop_a_role_are_faults_and_good_ones_are_told() {
        let home = tempfile::tempdir().unwrap();
        let [key, hosts] =
            [identity::KEY_FILE, identity::HOSTS_FILE].map(|it| home.path().join(it));
        let own = Identity::load_or_make(&key).unwrap().key();
        KnownHosts::pin(&hosts, "a.example", own).unwrap();
        let told = |name: &str| {
            let check = looked(home.path()).into_iter().find(|check| check.name == name).unwrap();
            (check.found, check.remedy)
        };
        assert_eq!(told("identity"), (own.fingerprint().to_string(), None));
        assert_eq!(told("known hosts"), ("1 server".to_owned(), None));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(told("identity").1.unwrap().starts_with("chmod 600 "));
        fs::write(&key, "").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&hosts, "half\n").unwrap();
        for name in ["identity", "known hosts"] {
            assert!(told(name).1.unwrap().contains("mv "), "{name}");
        }
    }

    #[test]
    fn preferences_that_no_role_would_start_with_are_a_fault() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("config.toml"), "server.maxPlayer = 5").unwrap();
        let checks = looked(home.path());
        let fault = checks.iter().find(|check| check.name == "preferences").unwrap();
        assert!(fault.found.contains("server.maxPlayers"), "{fault:?}");
        assert!(fault.remedy.as_ref().unwrap().starts_with("edit "), "{fault:?}");
    }
}
