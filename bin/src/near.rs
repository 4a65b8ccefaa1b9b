//! Near: what was meant by a mistyped name of several parts, as `server/roster`.
//!
//! Used by the verbs that name actors, and messages. A name is near if a third of the typed
//! letters at most are slips.

/// The name that is least unlike what was typed: the whole of it, or what follows the last
/// `separator`.
pub(crate) fn near<'n>(
    typed: &str,
    separator: char,
    names: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let slips_max = (typed.chars().count() / 3).max(1);
    let slips = |name: &str| {
        let last = name.rsplit(separator).next().unwrap_or_default();
        strsim::osa_distance(typed, name).min(strsim::osa_distance(typed, last))
    };
    let all = names.map(|name| (slips(name), name));
    all.filter(|(slips, _)| *slips <= slips_max).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_leads_to_the_one_that_was_meant() {
        let near = |typed| near(typed, '/', ["server/roster", "server/tick", "a"].into_iter());
        assert_eq!(near("server/rostr"), Some("server/roster"));
        assert_eq!(near("roster"), Some("server/roster"));
        assert_eq!(near("no/where"), None);
    }
}
