//! Manual: completions, manual pages and the README's help, all from the command line's own table.
//!
//! Used by `completions` and `man`; the README is compared by a test, which writes it instead where
//! `DH_DOCS=write` is set.

use crate::command::Command;
use crate::exit::{Exit, Failure};
use crate::output;
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::fs;
use std::path::Path;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Command::command(), "dh", &mut text);
    output::bytes(&text)
}

/// Writes one page a verb into a folder, or the first page to stdout.
pub(crate) fn pages(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(Command::command()).render(&mut page);
        rendered.map_err(|error| Failure::new(Exit::Internal, error))?;
        return output::bytes(&page);
    };
    let made = fs::create_dir_all(folder);
    let made = made.and_then(|()| clap_mangen::generate_to(Command::command(), folder));
    made.map_err(|error| {
        let cause = format!("cannot write manual pages to {}: {error}", folder.display());
        Failure::new(Exit::CannotCreate, cause).remedy("dh man --out DIR")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::COLUMNS;
    use std::fmt::Write as _;

    const BEGIN: &str = "<!-- Written by DH_DOCS=write cargo test -p dh -->\n```text\n";
    const END: &str = "```\n<!-- End of what is written -->";

    /// `dh --help`, and how each verb is used.
    fn help() -> String {
        let mut parser = Command::command().term_width(COLUMNS);
        parser.build();
        let mut text = format!("$ dh --help\n{}", parser.render_help());
        text.push_str("\nVerbs in full:\n");
        let shared = globals(&parser);
        for verb in parser.get_subcommands_mut() {
            usage(verb, &shared, &mut text);
        }
        let lines = text.lines().map(str::trim_end);
        lines.fold(String::new(), |text, line| text + line + "\n")
    }

    /// How a verb is used, and those below it; flags that are told `above` already are left out.
    fn usage(verb: &mut clap::Command, above: &[String], text: &mut String) {
        let is_new = |flag: &&clap::Arg| {
            let name = flag.get_long().filter(|name| *name != "help");
            name.is_some_and(|name| !flag.is_global_set() || !above.iter().any(|it| it == name))
        };
        let flags: Vec<clap::Arg> = verb.get_arguments().filter(is_new).cloned().collect();
        if !verb.has_subcommands() || !flags.is_empty() {
            let told = verb.render_usage().to_string();
            writeln!(text, "  {}", told.trim_start_matches("Usage: ")).unwrap();
        }
        for flag in &flags {
            let name = flag.get_long().unwrap_or_default();
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(text, "      --{name:<10} {help}").unwrap();
        }
        let above = [above, &globals(verb)].concat();
        verb.get_subcommands_mut().for_each(|inner| usage(inner, &above, text));
    }

    /// The flags that everything below a verb takes too.
    fn globals(verb: &clap::Command) -> Vec<String> {
        let global = verb.get_arguments().filter(|flag| flag.is_global_set());
        global.filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn the_readme_says_what_help_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let readme = fs::read_to_string(&path).unwrap();
        let (before, rest) = readme.split_once(BEGIN).expect("README.md has the mark of its help");
        let (written, after) = rest.split_once(END).expect("README.md has the mark of its end");
        if std::env::var_os("DH_DOCS").is_some_and(|value| value == "write") {
            fs::write(path, [before, BEGIN, &help(), END, after].concat()).unwrap();
            return;
        }
        assert_eq!(written, help(), "write it anew: DH_DOCS=write cargo test -p dh");
    }

    #[test]
    fn every_verb_has_a_manual_page() {
        let folder = tempfile::tempdir().unwrap();
        pages(Some(folder.path())).unwrap();
        for verb in Command::command().get_subcommands() {
            let page = folder.path().join(format!("dh-{}.1", verb.get_name()));
            assert!(page.exists(), "{}", page.display());
        }
    }
}
