//! A small generator of numbers: splitmix64, the same on every machine.

/// Draws numbers from a seed.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
    /// Whether every option is there and every list has two items.
    full: bool,
}

impl Rng {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            state: seed,
            full: false,
        }
    }

    /// Starts from a seed and leaves no option empty, so that a drawn value shows each field.
    pub const fn full(seed: u64) -> Self {
        Self {
            state: seed,
            full: true,
        }
    }

    /// Draws a number.
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number below a bound; 0 where the bound is 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        let number = self.number();
        match number.checked_rem(bound) {
            Some(rest) => rest,
            None => 0,
        }
    }

    /// Decides with a chance of `percent` in a hundred.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Picks one of a list; none of an empty one.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len() as u64);
        from.get(usize::try_from(at).unwrap_or(0))
    }

    /// Tells whether an option that is drawn is there.
    pub(crate) const fn is_there(&mut self) -> bool {
        self.full || self.chance(50)
    }

    /// Draws the length of a list.
    pub(crate) const fn length(&mut self) -> u64 {
        if self.full { 2 } else { self.below(5) }
    }

    /// Puts a list in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let at = self.below(end as u64 + 1);
            list.swap(end, usize::try_from(at).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_everywhere() {
        let mut rng = Rng::new(0);
        assert_eq!(rng.number(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(rng.number(), 0x6e78_9e6a_a1b9_65f4);
    }
}
