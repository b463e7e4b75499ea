//! Nations and regions: the key of a nation is the ASCII code of the character that its customers' states begin with.

/// The regions, in the order of their keys from 1.
pub(super) const REGIONS: [&str; 5] = ["Africa", "America", "Asia", "Australia", "Europe"];

/// Character, name, and key of the region, in the order of keys. All implementations have these.
pub(super) const NATIONS: [(u8, &str, u8); 62] = [
    (b'0', "Australia", 4),
    (b'1', "Belgium", 5),
    (b'2', "Cameroon", 1),
    (b'3', "Denmark", 5),
    (b'4', "Ecuador", 2),
    (b'5', "France", 5),
    (b'6', "Germany", 5),
    (b'7', "Hungary", 5),
    (b'8', "Italy", 5),
    (b'9', "Japan", 3),
    (b'A', "Kenya", 1),
    (b'B', "Lithuania", 5),
    (b'C', "Mexico", 2),
    (b'D', "Netherlands", 5),
    (b'E', "Oman", 1),
    (b'F', "Portugal", 5),
    (b'G', "Qatar", 1),
    (b'H', "Rwanda", 1),
    (b'I', "Serbia", 5),
    (b'J', "Togo", 1),
    (b'K', "United States", 2),
    (b'L', "Vietnam", 3),
    (b'M', "Singapore", 3),
    (b'N', "Cambodia", 3),
    (b'O', "Yemen", 1),
    (b'P', "Zimbabwe", 1),
    (b'Q', "Argentina", 2),
    (b'R', "Bolivia", 2),
    (b'S', "Canada", 2),
    (b'T', "Dominican Republic", 2),
    (b'U', "Egypt", 1),
    (b'V', "Finland", 5),
    (b'W', "Ghana", 1),
    (b'X', "Haiti", 2),
    (b'Y', "India", 3),
    (b'Z', "Jamaica", 4),
    (b'a', "Kazakhstan", 3),
    (b'b', "Luxembourg", 5),
    (b'c', "Morocco", 1),
    (b'd', "Norway", 5),
    (b'e', "Poland", 5),
    (b'f', "Peru", 2),
    (b'g', "Nicaragua", 2),
    (b'h', "Romania", 5),
    (b'i', "South Africa", 1),
    (b'j', "Thailand", 3),
    (b'k', "United Kingdom", 5),
    (b'l', "Venezuela", 2),
    (b'm', "Liechtenstein", 5),
    (b'n', "Austria", 5),
    (b'o', "Laos", 3),
    (b'p', "Zambia", 1),
    (b'q', "Switzerland", 5),
    (b'r', "China", 3),
    (b's', "Papua New Guinea", 4),
    (b't', "East Timor", 4),
    (b'u', "Bulgaria", 5),
    (b'v', "Brazil", 2),
    (b'w', "Albania", 5),
    (b'x', "Andorra", 5),
    (b'y', "Belize", 2),
    (b'z', "Botswana", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_of_a_state_is_a_nation_of_a_known_region() {
        let characters = (b'0'..=b'9').chain(b'A'..=b'Z').chain(b'a'..=b'z');
        assert!(NATIONS.iter().map(|(character, ..)| *character).eq(characters));
        let by_region = (1..=5).map(|region| NATIONS.iter().filter(|(_, _, of)| *of == region).count());
        assert_eq!(by_region.collect::<Vec<_>>(), [14, 13, 9, 4, 22]);
        assert!(NATIONS.iter().all(|(_, name, _)| name.len() <= 25));
    }
}
