//! Finds what someone who mistyped a name most likely meant.

/// Gives the known name nearest to `written`, unless none is near.
pub(super) fn nearest<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    // A policy's names have at most 25 characters: what is much longer is no slip of the finger,
    // and measuring it would only take time.
    if written.len() > 40 {
        return None;
    }
    let written = written.to_lowercase().replace('_', "-");
    let near = known
        .iter()
        .map(|name| (distance(&written, name), *name))
        .filter(|(distance, name)| *distance <= 1.max(name.len() / 3))
        .min()
        .map(|(_, name)| name);
    near.or_else(|| known.iter().copied().find(|name| resembles(&written, name)))
}

/// Tells whether one name begins the other, or both have the same words in another order.
fn resembles(written: &str, name: &str) -> bool {
    const PREFIX_MIN: usize = 4;
    let words = |text: &str| {
        let mut words: Vec<String> = text.split('-').map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    let begins = written.len().min(name.len()) >= PREFIX_MIN
        && (name.starts_with(written) || written.starts_with(name));
    begins || words(written) == words(name)
}

/// Counts the characters to insert, delete, replace or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, a) in from.chars().enumerate() {
        let mut line = vec![row + 1];
        for (column, b) in to.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&above, column) + usize::from(a != *b);
            let deleted = at(&above, column + 1) + 1;
            let inserted = at(&line, column) + 1;
            let mut best = replaced.min(deleted).min(inserted);
            let left = column.checked_sub(1).and_then(|left| to.get(left));
            if previous == Some(*b) && left == Some(&a) {
                best = best.min(at(&before, column - 1).saturating_add(1));
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
        previous = Some(a);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn slips_of_the_finger_are_near() {
        assert_eq!(distance("permit", "permit"), 0);
        assert_eq!(distance("permti", "permit"), 1);
        assert_eq!(distance("prmit", "permit"), 1);
        assert_eq!(distance("permitt", "permit"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }

    #[test]
    fn another_spelling_is_near_and_another_word_is_not() {
        let known = ["google-derived", "oauth-derived", "public"];
        assert_eq!(nearest("Google_Derived", &known), Some("google-derived"));
        assert_eq!(nearest("oauthderived", &known), Some("oauth-derived"));
        assert_eq!(nearest("oauth", &known), Some("oauth-derived"));
        assert_eq!(nearest("derived-google", &known), Some("google-derived"));
        assert_eq!(nearest("secret", &known), None);
        assert_eq!(nearest("", &known), None);
        assert_eq!(nearest(&"p".repeat(10_000), &known), None);
    }
}
