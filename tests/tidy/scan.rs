//! Reading Rust without a compiler: code apart from comments and strings, functions, test modules.
//!
//! Used by every rule that looks into a file. Knows only as much of the language as the rules
//! need, and never fails on what it does not know.

/// `text` with every comment and every string blanked by spaces; lines and offsets stay.
pub(crate) fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = opaque_end(bytes, at);
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The bodies of all functions in `code`: name, offset of `fn`, offset behind the closing brace.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let boundary = at == 0 || !is_word(code.as_bytes()[at - 1]);
        let name = word_at(code, at + 3);
        if !boundary || name.is_empty() {
            continue;
        }
        if let Some(open) = body_start(code, at) {
            found.push(Function { name, start: at, end: block_end(code, open) });
        }
    }
    found
}

/// One function of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Offset of its `fn`.
    pub(crate) start: usize,
    /// Offset behind its closing brace.
    pub(crate) end: usize,
}

/// The span of the inline `#[cfg(test)] mod ... { }` of `code`, if it has one.
pub(crate) fn test_module(code: &str) -> Option<(usize, usize)> {
    let start = code.find("#[cfg(test)]")?;
    let rest = &code[start..];
    let module = rest.find("mod ")?;
    let open = rest[module..].find(['{', ';'])? + module;
    let inline = rest[open..].starts_with('{');
    inline.then(|| (start, block_end(code, start + open)))
}

/// `code` without its inline test module.
pub(crate) fn without_tests(code: &str) -> String {
    test_module(code)
        .map_or_else(|| code.to_owned(), |(start, end)| [&code[..start], &code[end..]].concat())
}

/// Whether `code` has `word`, and not as the end of a longer one.
pub(crate) fn names(code: &str, word: &str) -> bool {
    let mut found = code.match_indices(word);
    found.any(|(at, _)| at == 0 || !is_word(code.as_bytes()[at - 1]))
}

/// The 1-based line of an offset.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Offset behind the brace that closes the one at `open`.
fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// Offset of the brace that opens the body of the function at `at`; none for a declaration.
fn body_start(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return Some(offset),
            b';' if depth == 0 => return None,
            _ => (),
        }
    }
    None
}

/// Where the comment or literal that starts at `at` ends; `at` itself if none starts there.
fn opaque_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let after_word = at > 0 && is_word(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + comment_length(rest),
        [b'"', ..] => at + string_length(rest),
        [b'r', ..] if !after_word => at + raw_length(&rest[1..]).map_or(0, |n| n + 1),
        [b'b' | b'c', b'r', ..] if !after_word => at + raw_length(&rest[2..]).map_or(0, |n| n + 2),
        [b'\'', b'\\', ..] => {
            at + 2 + rest.iter().skip(3).position(|b| *b == b'\'').map_or(0, |n| n + 2)
        }
        [b'\'', _, b'\'', ..] => at + 3,
        _ => at,
    }
}

/// Length of a block comment; they nest.
fn comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a string that starts with its quote.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a raw string behind its `r`; none if this is no raw string.
fn raw_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest.iter().take_while(|b| **b == b'#').count();
    if rest.get(hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let body = &rest[hashes + 1..];
    let length = body.windows(close.len()).position(|window| window == close)?;
    Some(hashes + 1 + length + close.len())
}

/// The identifier that starts at `at`, or nothing.
fn word_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    let length = rest.bytes().take_while(|b| is_word(*b)).count();
    &rest[..length]
}

/// Whether a byte may stand in an identifier.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[test]
fn comments_and_strings_are_blanked_and_code_is_kept() {
    let text = "let a = \"fn x\"; // fn y\nlet b = r#\"\"{\"#; /* { /* { */ */ 'c'; '\\''; &'a ()";
    let code = code_of(text);
    assert_eq!(code.len(), text.len());
    assert!(!code.contains(['"', '{', '/', 'c']), "{code}");
    assert!(code.contains("let b =") && code.contains("&'a ()"), "{code}");
}

#[test]
fn functions_are_found_with_their_ends() {
    let code = "trait T { fn a(x: [u8; 2]); }\nfn b() -> fn(u8) {\n  if x { } \n}\n";
    let found = functions(code);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name, line_of(code, found[0].start)), ("b", 2));
    assert_eq!(line_of(code, found[0].end), 4);
}

#[test]
fn an_inline_test_module_is_cut_out_and_a_declared_one_is_not() {
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests { fn x() {} }\n"), "a\n\n");
    let declared = "#[cfg(test)]\nmod tests;\nfn x() {}";
    assert_eq!(without_tests(declared), declared);
}
