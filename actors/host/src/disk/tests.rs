//! Both disks, on a folder of their own.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dh_machine::{Disk, DiskError, DiskErrorKind, Micros};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{Failure, Faults, FaultyDisk, MemoryDisk, RealDisk, Tally};

fn at(dir: &Path, name: &str) -> String {
    dir.join(name).to_str().expect("a UTF-8 path").to_owned()
}

/// The real disk and the one in memory, which knows the same folder.
fn both(dir: &Path) -> [Arc<dyn Disk>; 2] {
    let memory = MemoryDisk::default();
    memory.make_dir(&at(dir, "")).unwrap();
    [Arc::new(RealDisk), Arc::new(memory)]
}

fn read(disk: &dyn Disk, path: &str) -> Vec<u8> {
    let file = disk.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    assert_eq!(file.read_at(0, &mut bytes), Ok(bytes.len()));
    bytes
}

#[test]
fn a_file_is_written_read_cut_renamed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    both(dir.path()).iter().for_each(|disk| written_read_cut_renamed_and_removed(dir.path(), disk));
}

fn written_read_cut_renamed_and_removed(dir: &Path, disk: &Arc<dyn Disk>) {
    let (one, other) = (at(dir, "one"), at(dir, "other"));
    let mut file = disk.create(&one).unwrap();
    file.write_at(4, b"after a gap").unwrap();
    file.sync().unwrap();
    let mut buf = [9; 20];
    assert_eq!((file.len(), file.read_at(0, &mut buf)), (Ok(15), Ok(15)));
    assert_eq!(&buf[..15], b"\0\0\0\0after a gap");
    assert_eq!(file.read_at(15, &mut buf), Ok(0));
    file.set_len(6).unwrap();
    drop(file);
    assert_eq!(disk.append_to(&one).unwrap().len(), Ok(6), "what is there stays");
    assert_eq!(disk.append_to(&other).unwrap().is_empty(), Ok(true));
    disk.rename(&one, &other).unwrap();
    disk.sync_dir(&at(dir, "")).unwrap();
    assert_eq!(read(&**disk, &other), b"\0\0\0\0af");
    assert!(disk.create(&other).unwrap().is_empty().unwrap(), "made anew");
    disk.remove(&other).unwrap();
    assert!(disk.metadata(&other).unwrap_err().is_not_found());
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = at(dir.path(), "pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for path in [pipe, at(dir.path(), ""), "/dev/zero".to_owned()] {
        let refused = RealDisk.open(&path).unwrap_err();
        assert_eq!(refused, DiskError::new(DiskErrorKind::Io("it is no file".to_owned()), path));
    }
}

#[test]
fn a_folder_lists_its_files_by_name_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let folder = at(dir.path(), "a/b");
    RealDisk.make_dir(&folder).unwrap();
    RealDisk.make_dir(&folder).unwrap();
    for name in ["z", "b.pallet", "B"] {
        fs::write(dir.path().join("a").join(name), name).unwrap();
    }
    let listed = RealDisk.list(&at(dir.path(), "a")).unwrap();
    let told: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.len)).collect();
    assert_eq!(told, [("B", 1), ("b.pallet", 8), ("z", 1)]);
    let known = RealDisk.metadata(&at(dir.path(), "a/z")).unwrap();
    assert_eq!((known.len, known.modified, known.is_dir), (1, listed[2].modified, false));
    assert!(RealDisk.metadata(&folder).unwrap().is_dir);
    assert!(RealDisk.free_space(&folder).unwrap() > 0);
}

#[test]
fn a_touched_file_is_younger() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(dir.path(), "x");
    let file = fs::File::create(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(9)).unwrap();
    assert_eq!(RealDisk.metadata(&path).unwrap().modified, Micros::from_secs(9));
    RealDisk.touch(&path).unwrap();
    assert!(RealDisk.metadata(&path).unwrap().modified > Micros::from_secs(1_000_000_000));
}

#[test]
fn what_is_not_there_is_told_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(dir.path(), "gone");
    let gone = DiskError::new(DiskErrorKind::NotFound, path.as_str());
    assert_eq!(RealDisk.open(&path).err(), Some(gone.clone()));
    assert_eq!(RealDisk.list(&path).err(), Some(gone.clone()));
    assert_eq!(RealDisk.metadata(&path).err(), Some(gone.clone()));
    assert_eq!(RealDisk.rename(&path, &at(dir.path(), "x")).err(), Some(gone.clone()));
    assert_eq!(RealDisk.remove(&path).err(), Some(gone.clone()));
    assert_eq!(RealDisk.touch(&path).err(), Some(gone.clone()));
    assert_eq!(gone.to_string(), format!("{path}: no such file"));
    let below = at(dir.path(), "file/x");
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(RealDisk.open(&below).err().is_some_and(|error| error.is_not_found()));
}

#[test]
fn the_nth_call_fails_whatever_it_is_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(dir.path(), "x");
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    let calls = |disk: &FaultyDisk| -> Result<(), DiskError> {
        let mut file = disk.create(&path)?;
        file.write_at(0, b"abc")?;
        file.read_at(0, &mut [0; 2])?;
        file.sync()?;
        disk.rename(&path, &format!("{path}2"))?;
        disk.remove(&format!("{path}2"))
    };
    for nth in 1..=6 {
        disk.set(Faults { nth: Some(nth), ..Faults::default() });
        let failed = calls(&disk).unwrap_err().to_string();
        assert!(failed.contains(&format!("call {nth} was made to fail")), "{failed}");
        assert_eq!((disk.tally().calls, disk.tally().failed), (nth, 1));
    }
    disk.set(Faults { nth: Some(7), ..Faults::default() });
    calls(&disk).unwrap();
    let told = Tally { calls: 6, opened: 1, read_bytes: 2, read_bytes_max: 2, ..Tally::default() };
    let told = Tally { written_bytes: 3, renames: 1, removes: 1, syncs: 1, ..told };
    assert_eq!(disk.tally(), told);
}

#[test]
fn a_full_disk_takes_what_fits_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(dir.path(), "x");
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    disk.set(Faults { room: Some(5), ..Faults::default() });
    let mut file = disk.create(&path).unwrap();
    file.write_at(0, b"abc").unwrap();
    assert_eq!(disk.free_space(&at(dir.path(), "")), Ok(2));
    let full = DiskError::new(DiskErrorKind::Full, path.as_str());
    assert_eq!(file.write_at(3, b"def"), Err(full));
    assert_eq!(fs::read(&path).unwrap(), b"abcde");
    disk.set(Faults::default());
    file.write_at(3, b"def").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"abcdef");
}

#[test]
fn a_bit_is_read_wrongly_where_it_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    disk.set(Faults { flip: Some((2, ".pallet")), ..Faults::default() });
    let read = |name: &str, offset| {
        let path = at(dir.path(), name);
        fs::write(&path, b"aaaa").unwrap();
        let mut buf = [0; 4];
        let read = disk.open(&path).unwrap().read_at(offset, &mut buf).unwrap();
        buf[..read].to_vec()
    };
    assert_eq!(read("x.pallet", 0), b"aa`a");
    assert_eq!(read("x.pallet", 2), b"`a");
    assert_eq!(read("x.pallet", 3), b"a");
    assert_eq!(read("x.partial", 0), b"aaaa");
}

#[test]
fn a_call_from_now_fails_as_it_is_told_and_a_full_disk_gets_room_again() {
    let disk = FaultyDisk::over(Arc::new(MemoryDisk::default()));
    let kept = disk.clone();
    let mut file = disk.create("x").unwrap();
    for (name, kind) in [
        ("full", DiskErrorKind::Full),
        ("denied", DiskErrorKind::Denied),
        ("missing", DiskErrorKind::NotFound),
        ("exists", DiskErrorKind::Exists),
    ] {
        kept.fail_nth(2, name.parse().unwrap());
        file.write_at(0, b"abc").unwrap();
        assert_eq!(file.write_at(0, b"abc"), Err(DiskError::new(kind, "x")));
        file.write_at(0, b"abc").unwrap();
    }
    kept.fail_nth(1, Failure::Io);
    let failed = file.sync().unwrap_err().to_string();
    assert_eq!(failed, "x: call 14 was made to fail");
    let number = kept.fail_nth(1, Failure::Io);
    kept.forgive(number + 1);
    file.sync().unwrap_err();
    let number = kept.fail_nth(1, Failure::Io);
    kept.forgive(number);
    file.sync().unwrap();
    kept.fill(0);
    assert_eq!(file.write_at(3, b"d"), Err(DiskError::new(DiskErrorKind::Full, "x")));
    kept.make_room();
    file.write_at(3, b"d").unwrap();
    assert_eq!(read(&disk, "x"), b"abcd");
    let unknown = "fire".parse::<Failure>().unwrap_err().to_string();
    assert!(unknown.ends_with("expected io, full, denied, missing or exists"), "{unknown}");
}

#[test]
fn a_disk_in_memory_outlives_who_wrote_to_it_and_knows_folders() {
    let disk = MemoryDisk::default();
    let gone = |path: &str| Some(DiskError::new(DiskErrorKind::NotFound, path));
    assert_eq!(disk.create("/a/b/x").err(), gone("/a/b/x"), "there is no such folder");
    disk.make_dir("/a/b/").unwrap();
    let mut file = disk.clone().create("/a/b/x").unwrap();
    file.write_at(2, b"kept").unwrap();
    drop(file);
    disk.create("/a/b/w").unwrap().set_len(3).unwrap();
    assert_eq!(read(&disk, "/a/b/x"), b"\0\0kept");
    let listed = disk.list("/a/b").unwrap();
    let told: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.len)).collect();
    assert_eq!(told, [("w", 3), ("x", 6)]);
    assert!(listed[0].modified > listed[1].modified, "written later");
    disk.touch("/a/b/x").unwrap();
    assert!(disk.metadata("/a/b/x").unwrap().modified > listed[0].modified);
    assert_eq!((disk.list("/a").unwrap().len(), disk.metadata("/a").unwrap().is_dir), (0, true));
    let open = disk.open("/a/b/x").unwrap();
    disk.rename("/a/b/w", "/a/b/x").unwrap();
    assert_eq!((open.len(), disk.open("/a/b/x").unwrap().len()), (Ok(6), Ok(3)));
    assert_eq!(disk.used(), 9);
    drop(open);
    assert_eq!(disk.used(), 3, "what has neither name nor handle is gone");
    assert_eq!(disk.remove("/a/b/w").err(), gone("/a/b/w"));
    let refused = disk.open("/a/b/x").unwrap().set_len(1).unwrap_err();
    assert_eq!(refused.kind, DiskErrorKind::Denied, "opened for reading");
    let full = disk.create("/a/b/x").unwrap().set_len(1 << 40).unwrap_err();
    assert_eq!(full.kind, DiskErrorKind::Full);
}
