use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

/// A bound on concurrent uses of something. One client address gets at most half of them, so that
/// no client excludes all others.
#[derive(Debug)]
pub struct PerIpLimiter {
    max: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// One use, which ends when the permit is dropped.
#[derive(Debug)]
pub struct PerIpPermit {
    limiter: Arc<PerIpLimiter>,
    network: IpAddr,
}

/// The bound that is reached.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum LimitReached {
    /// All uses together.
    #[error("all {0} places are taken")]
    Total(usize),
    /// Those of one address; other addresses still get a permit.
    #[error("its address has {0} places, the maximum for one address")]
    PerAddress(usize),
}

/// Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6
/// address, because its owner chooses the other 64 freely.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl PerIpLimiter {
    /// Creates a limiter of `max` concurrent uses.
    #[must_use]
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            used: Mutex::default(),
        })
    }

    /// Returns the bound on all uses together.
    #[must_use]
    pub const fn max(&self) -> usize {
        self.max
    }

    /// Takes a permit for a client.
    ///
    /// # Errors
    /// If one of the two bounds is reached.
    pub fn acquire(self: &Arc<Self>, address: IpAddr) -> Result<PerIpPermit, LimitReached> {
        let network = network(address);
        let max_per_address = self.max.div_ceil(2);
        let mut used = self.used.lock();
        if used.total >= self.max {
            return Err(LimitReached::Total(self.max));
        }
        if used
            .by_network
            .get(&network)
            .is_some_and(|held| *held >= max_per_address)
        {
            return Err(LimitReached::PerAddress(max_per_address));
        }
        used.total += 1;
        *used.by_network.entry(network).or_default() += 1;
        Ok(PerIpPermit {
            limiter: Arc::clone(self),
            network,
        })
    }
}

impl Drop for PerIpPermit {
    fn drop(&mut self) {
        let mut used = self.limiter.used.lock();
        used.total -= 1;
        if let Some(held) = used.by_network.get_mut(&self.network) {
            *held -= 1;
            if *held == 0 {
                used.by_network.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(address: &str) -> IpAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn one_address_gets_half_and_all_get_the_total() {
        let limiter = PerIpLimiter::new(5);
        let acquire = |address| limiter.acquire(ip(address));
        let mut permits: Vec<PerIpPermit> = (0..3)
            .map(|_| acquire("192.0.2.1").expect("free"))
            .collect();
        for same_client in ["192.0.2.1", "::ffff:192.0.2.1"] {
            assert_eq!(
                acquire(same_client).expect_err("more than half"),
                LimitReached::PerAddress(3)
            );
        }
        permits.push(acquire("192.0.2.2").expect("another client"));
        permits.push(acquire("192.0.2.3").expect("a third client"));
        assert_eq!(
            acquire("192.0.2.4").expect_err("all are used"),
            LimitReached::Total(5)
        );
        permits.remove(0);
        permits.push(acquire("192.0.2.1").expect("one was returned"));
        permits.clear();
        let used = limiter.used.lock();
        assert_eq!(used.total, 0);
        assert!(
            used.by_network.is_empty(),
            "clients without a permit are not remembered"
        );
    }

    #[test]
    fn an_ipv6_network_counts_as_one_client() {
        let limiter = PerIpLimiter::new(4);
        let near = ["2001:db8::1", "2001:db8::2", "2001:db8::3"]
            .map(|address| limiter.acquire(ip(address)));
        assert_eq!(near.each_ref().map(Result::is_ok), [true, true, false]);
        assert!(
            limiter.acquire(ip("2001:db8:0:1::1")).is_ok(),
            "another network"
        );
    }
}
