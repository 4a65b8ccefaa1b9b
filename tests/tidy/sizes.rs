//! Sizes: what one reader can hold at once.

use crate::scan;
use crate::tree::{Source, holds, passes, sees};
use std::collections::BTreeMap;

/// Lines of a file, its inline tests left out.
const FILE_LINES_MAX: usize = 500;
/// Lines of tests inside a file; more move to `tests.rs` in a folder of the file's name.
const INLINE_TEST_LINES_MAX: usize = 150;
/// Lines of a function, signature and braces included.
const FUNCTION_LINES_MAX: usize = 70;
/// Characters of a line.
const COLUMNS_MAX: usize = 100;
/// Rust files of a folder, tests left out.
const FOLDER_FILES_MAX: usize = 30;
/// Lines of a crate's table of contents.
const LIB_LINES_MAX: usize = 80;
/// Lines of a program's entry.
const MAIN_LINES_MAX: usize = 60;

#[test]
fn a_file_has_at_most_500_lines_without_its_tests() {
    sees(long_files, &[("a/src/x.rs", &"\n".repeat(FILE_LINES_MAX + 1))]);
    sees(long_files, &[("a/src/x/tests.rs", &"\n".repeat(FILE_LINES_MAX + 1))]);
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n\n}}\n", "\n".repeat(FILE_LINES_MAX - 2));
    passes(long_files, &[("a/src/x.rs", &tested)]);
    holds(long_files);
}

#[test]
fn tests_inside_a_file_have_at_most_150_lines() {
    let tests = "\n".repeat(INLINE_TEST_LINES_MAX);
    sees(long_inline_tests, &[("x.rs", &format!("#[cfg(test)]\nmod tests {{\n{tests}}}\n"))]);
    holds(long_inline_tests);
}

#[test]
fn a_function_has_at_most_70_lines() {
    let body = "\n".repeat(FUNCTION_LINES_MAX);
    sees(long_functions, &[("x.rs", &format!("fn x() {{{body}}}\n"))]);
    holds(long_functions);
}

#[test]
fn a_line_has_at_most_100_columns() {
    sees(long_lines, &[("x.rs", &"x".repeat(COLUMNS_MAX + 1))]);
    passes(long_lines, &[("x.rs", &"x".repeat(COLUMNS_MAX))]);
    holds(long_lines);
}

#[test]
fn a_folder_has_at_most_30_files_without_its_tests() {
    let paths: Vec<String> = (0..=FOLDER_FILES_MAX).map(|n| format!("a/src/x{n}.rs")).collect();
    let sample: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    sees(large_folders, &sample);
    passes(large_folders, &sample[1..]);
    holds(large_folders);
}

#[test]
fn a_crates_table_of_contents_has_at_most_80_lines() {
    sees(long_libs, &[("a/src/lib.rs", &"\n".repeat(LIB_LINES_MAX + 1))]);
    holds(long_libs);
}

#[test]
fn a_programs_entry_has_at_most_60_lines() {
    sees(long_mains, &[("a/src/main.rs", &"\n".repeat(MAIN_LINES_MAX + 1))]);
    holds(long_mains);
}

fn long_files(sources: &[Source]) -> Vec<String> {
    over(sources, FILE_LINES_MAX, Source::is_rust)
}

fn long_libs(sources: &[Source]) -> Vec<String> {
    over(sources, LIB_LINES_MAX, |source| source.name() == "lib.rs")
}

fn long_mains(sources: &[Source]) -> Vec<String> {
    over(sources, MAIN_LINES_MAX, |source| source.name() == "main.rs")
}

/// The chosen files with more lines than `max`, inline tests not counted.
fn over(sources: &[Source], max: usize, chosen: fn(&Source) -> bool) -> Vec<String> {
    let lines = |source: &Source| scan::without_tests(&source.code).lines().count();
    let long = sources.iter().filter(|source| chosen(source) && lines(source) > max);
    long.map(|source| format!("{}: {} lines, at most {max}", source.path, lines(source))).collect()
}

fn long_inline_tests(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
        let Some((start, end)) = scan::test_module(&source.code) else { continue };
        let lines = source.code[start..end].lines().count();
        if lines > INLINE_TEST_LINES_MAX {
            faults.push(format!("{}: {lines} lines of tests belong in tests.rs", source.path));
        }
    }
    faults
}

fn long_functions(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        for function in scan::functions(&source.code) {
            let lines = source.code[function.start..function.end].lines().count();
            if lines > FUNCTION_LINES_MAX {
                let line = scan::line_of(&source.code, function.start);
                let name = function.name;
                faults.push(format!("{}:{line}: {name} has {lines} lines", source.path));
            }
        }
    }
    faults
}

fn long_lines(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    let measured = [".rs", ".wgsl", ".sh", ".ci/run"];
    for source in sources.iter().filter(|s| measured.iter().any(|end| s.path.ends_with(end))) {
        for (index, line) in source.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                faults.push(format!("{}:{}: {columns} columns", source.path, index + 1));
            }
        }
    }
    faults
}

fn large_folders(sources: &[Source]) -> Vec<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
        if let Some((folder, _)) = source.path.rsplit_once('/') {
            *files.entry(folder).or_default() += 1;
        }
    }
    let large = files.into_iter().filter(|(_, count)| *count > FOLDER_FILES_MAX);
    let told = |(name, count)| format!("{name}: {count} files, at most {FOLDER_FILES_MAX}");
    large.map(told).collect()
}
