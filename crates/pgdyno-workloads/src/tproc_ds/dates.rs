//! Days of the calendar as numbers.
//!
//! Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil` and `civil_from_days`.

/// Returns the days from 1970-01-01 to a date such as `2000-02-29`, if it is one.
pub(super) fn day_of(date: &str) -> Option<i64> {
    let numbers: Vec<i64> = date.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [year, month, day] = numbers.try_into().ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(year.div_euclid(400) * 146_097 + day_of_era - 719_468)
}

/// Returns the date so many days after 1970-01-01.
pub(super) fn text_of_day(days: i64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", day_of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_its_date() {
        assert_eq!(
            [day_of("1970-01-01"), day_of("2000-03-01"), day_of("1900-01-02")],
            [Some(0), Some(11_017), Some(-25_566)]
        );
        for days in -40_000..60_000 {
            assert_eq!(day_of(&text_of_day(days)), Some(days));
        }
        assert_eq!(["2000-13-01", "2000-01", "x"].map(day_of), [None; 3]);
    }
}
