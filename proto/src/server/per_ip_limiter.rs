use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// So many places, of which one client's address has at most half: nobody takes them all.
#[derive(Debug)]
pub struct Shares {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: HashMap<IpAddr, usize>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Share {
    of: Arc<Shares>,
    by: IpAddr,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Full {
    /// Somebody must leave first.
    #[error("all {0} places are taken")]
    All(usize),
    /// Others still find one.
    #[error("its address has {0} places, no more for one")]
    OfOne(usize),
}

/// Those who can take any address of a network are one: the last 64 bits of IPv6 are everybody's own choice.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl Shares {
    /// So many.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            taken: Mutex::default(),
        })
    }

    /// How many.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }

    /// A place for who comes from an address.
    ///
    /// # Errors
    /// If there is none for it.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Result<Share, Full> {
        let (by, each) = (network(address), self.most.div_ceil(2));
        let mut taken = self.lock();
        if taken.all >= self.most {
            return Err(Full::All(self.most));
        }
        if taken.by.get(&by).is_some_and(|held| *held >= each) {
            return Err(Full::OfOne(each));
        }
        taken.all += 1;
        *taken.by.entry(by).or_default() += 1;
        Ok(Share {
            of: Arc::clone(self),
            by,
        })
    }

    /// Numbers that are whole between calls.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.lock();
        taken.all -= 1;
        if let Some(held) = taken.by.get_mut(&self.by) {
            *held -= 1;
            if *held == 0 {
                taken.by.remove(&self.by);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> IpAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn one_has_at_most_half_and_all_have_no_more_than_there_are() {
        let shares = Shares::new(5);
        let take = |address| shares.take(at(address));
        let mut held: Vec<Share> = (0..3).map(|_| take("192.0.2.1").expect("free")).collect();
        assert_eq!(
            take("192.0.2.1").expect_err("more than half"),
            Full::OfOne(3)
        );
        assert_eq!(
            take("::ffff:192.0.2.1").expect_err("the same"),
            Full::OfOne(3)
        );
        held.push(take("192.0.2.2").expect("another"));
        held.push(take("192.0.2.3").expect("a third"));
        assert_eq!(take("192.0.2.4").expect_err("all"), Full::All(5));
        held.remove(0);
        held.push(take("192.0.2.1").expect("one has left"));
        held.clear();
        let taken = shares.lock();
        assert!(
            taken.all == 0 && taken.by.is_empty(),
            "who has left is not remembered"
        );
    }

    #[test]
    fn a_network_of_addresses_is_one() {
        let shares = Shares::new(4);
        let near =
            ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(|address| shares.take(at(address)));
        assert_eq!(near.map(|share| share.is_ok()), [true, true, false]);
        let _near = ["2001:db8::1", "2001:db8::2"]
            .map(|address| shares.take(at(address)).expect("they have left"));
        assert!(
            shares.take(at("2001:db8:0:1::1")).is_ok(),
            "another network"
        );
    }
}
