//! The nearest name to one that nobody knows.

/// The candidate that `word` was most likely meant to be, where one is near enough: the same
/// letters in another case, the end of a dotted name, or a few slips away.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let slips_max = (word.len() / 3).clamp(1, 3);
    let rank = |candidate: &'a str| {
        let name = candidate.to_ascii_lowercase();
        if name == word {
            return Some((0, candidate));
        }
        if name.strip_suffix(word.as_str()).is_some_and(|head| head.ends_with('.')) {
            return Some((1, candidate));
        }
        let slips = strsim::osa_distance(&name, &word);
        (slips <= slips_max).then_some((1 + slips, candidate))
    };
    candidates.into_iter().filter_map(rank).min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_finger_letter_case_and_short_forms_find_their_name() {
        let names = ["server.maxPlayers", "server.name", "client.name", "kick", "say"];
        for (typed, meant) in [
            ("server.maxPlayer", Some("server.maxPlayers")),
            ("SERVER.MAXPLAYERS", Some("server.maxPlayers")),
            ("maxplayers", Some("server.maxPlayers")),
            ("server.nmae", Some("server.name")),
            ("kcik", Some("kick")),
            ("sya", Some("say")),
            ("teleport", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }
}
