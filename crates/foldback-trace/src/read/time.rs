//! Times as sources write them.

use foldback_event::Micros;

/// Reads a time of RFC 3339, such as `2025-06-14T11:00:00.123Z`; anything else is none.
pub(super) fn parse(text: &str) -> Option<Micros> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-');
    let year: i64 = number(date.next()?, 4)?;
    let month: i64 = number(date.next()?, 2)?;
    let day: i64 = number(date.next()?, 2)?;
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at_checked(zone_at)?;
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut whole = whole.splitn(3, ':');
    let hour: i64 = number(whole.next()?, 2)?;
    let minute: i64 = number(whole.next()?, 2)?;
    let second: i64 = number(whole.next()?, 2)?;
    let fits = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && fraction.bytes().all(|b| b.is_ascii_digit());
    if !fits {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Micros((seconds - offset(zone)?) * 1_000_000 + micros))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// Gives the seconds that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    Some(sign * (number(hours, 2)? * 3_600 + number(minutes, 2)? * 60))
}

/// Counts the days from 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_microsecond() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:30:15.5Z", 951_827_415_500_000),
            ("2025-06-14T11:00:00.123456789Z", 1_749_898_800_123_456),
            ("2025-06-14T13:00:00.000+02:00", 1_749_898_800_000_000),
            ("1969-12-31T23:59:59Z", -1_000_000),
        ];
        for (text, micros) in cases {
            assert_eq!(parse(text), Some(Micros(micros)), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2025-13-01T00:00:00Z",
            "2025-01-01",
            "2025-01-01T00:00:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
