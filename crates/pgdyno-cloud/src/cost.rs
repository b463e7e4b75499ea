//! Money: what a lab may cost at most.

use std::fmt;

/// An amount in a currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Money {
    /// The amount.
    pub amount: f64,
    /// The currency, as USD.
    pub currency: String,
}

impl Money {
    /// Parses `60USD` or `60 EUR`; without a currency it is USD.
    ///
    /// # Errors
    /// A message, when it is no amount.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
        let (amount, currency) = text.split_at(end);
        let amount: f64 = amount.trim().parse().map_err(|_| format!("'{text}' is no amount; write 60USD"))?;
        if !amount.is_finite() || amount < 0.0 {
            return Err(format!("'{text}' is no amount; write 60USD"));
        }
        let currency = if currency.is_empty() { "USD" } else { currency };
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(format!("'{currency}' is no currency; write three capitals, as in 60USD"));
        }
        Ok(Self { amount, currency: currency.to_owned() })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} {}", self.amount, self.currency)
    }
}

/// Returns what resources cost that each live for `ttl_s`: the sum of their prices of an hour, for that time.
pub(crate) fn bound(prices_per_hour: impl IntoIterator<Item = f64>, ttl_s: f64) -> f64 {
    prices_per_hour.into_iter().sum::<f64>() * ttl_s / 3600.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_a_currency() {
        assert_eq!(Money::parse("60USD").unwrap(), Money { amount: 60.0, currency: "USD".to_owned() });
        assert_eq!(Money::parse(" 1.5 EUR").unwrap().to_string(), "1.50 EUR");
        assert_eq!(Money::parse("7").unwrap().currency, "USD");
        for wrong in ["", "USD", "-1USD", "1e999USD", "NaN", "6 dollars", "6usd", "inf"] {
            assert!(Money::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_bound_is_the_sum_of_prices_for_the_time_to_live() {
        assert!((bound([3.2, 4.8], 6.0 * 3600.0) - 48.0).abs() < 1e-9);
        assert!((bound([], 3600.0)).abs() < 1e-9);
    }
}
