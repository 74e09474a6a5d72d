use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use kagetsu_proto::network;

/// The clock of all limits; tests move it by hand.
#[cfg(not(test))]
pub(super) type RateClock = governor::clock::MonotonicClock;
#[cfg(test)]
pub(super) type RateClock = governor::clock::FakeRelativeClock;

type Instant = <RateClock as governor::clock::Clock>::Instant;
type DirectLimiter = RateLimiter<NotKeyed, InMemoryState, RateClock, NoOpMiddleware<Instant>>;
type AddressLimiter =
    RateLimiter<IpAddr, HashMapStateStore<IpAddr>, RateClock, NoOpMiddleware<Instant>>;

/// A burst may use the allowance of this many seconds.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(2).expect("a positive number");
/// Unknown tokens that one address may show at once.
const FAILURE_BURST: NonZeroU32 = NonZeroU32::new(60).expect("a positive number");
/// Unknown tokens a second that one address may show after that.
const FAILURE_RATE: NonZeroU32 = NonZeroU32::new(1).expect("a positive number");

/// A limit of requests a second, with a burst of two seconds' allowance.
#[derive(Debug)]
pub(super) struct RequestLimit {
    limiter: DirectLimiter,
    clock: RateClock,
}

impl RequestLimit {
    pub(super) fn new(rate: u32, clock: &RateClock) -> Self {
        let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST_SECONDS));
        Self {
            limiter: RateLimiter::direct_with_clock(quota, clock.clone()),
            clock: clock.clone(),
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The time until the next request is allowed.
    pub(super) fn take(&self) -> Result<(), Duration> {
        let taken = self.limiter.check();
        taken.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }
}

/// A limit of failed authentications for each client address.
#[derive(Debug)]
pub(super) struct FailureLimit {
    limiter: AddressLimiter,
    clock: RateClock,
}

impl FailureLimit {
    pub(super) fn new(clock: &RateClock) -> Self {
        let quota = Quota::per_second(FAILURE_RATE).allow_burst(FAILURE_BURST);
        Self {
            limiter: RateLimiter::hashmap_with_clock(quota, clock.clone()),
            clock: clock.clone(),
        }
    }

    /// Counts a failed authentication.
    ///
    /// # Errors
    /// The time until the next attempt is allowed.
    pub(super) fn record(&self, address: IpAddr) -> Result<(), Duration> {
        let taken = self.limiter.check_key(&network(address));
        taken.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    /// Forgets the addresses that have regained their whole allowance.
    pub(super) fn forget_recovered(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_then_rate_then_wait_as_told() {
        let clock = RateClock::default();
        let limit = RequestLimit::new(10, &clock);
        assert_eq!((0..100).filter(|_| limit.take().is_ok()).count(), 20);
        for _ in 0..50 {
            let wait = limit.take().expect_err("empty");
            assert!(wait <= Duration::from_millis(101), "{wait:?}");
            clock.advance(wait / 2);
            assert!(limit.take().is_err());
            clock.advance(wait / 2 + Duration::from_nanos(100));
            assert!(limit.take().is_ok());
        }
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(
            (0..100).filter(|_| limit.take().is_ok()).count(),
            20,
            "an hour saves up no more"
        );
    }

    #[test]
    fn failures_are_counted_for_each_network() {
        let clock = RateClock::default();
        let limit = FailureLimit::new(&clock);
        let fails = |address: &str| limit.record(address.parse().expect("an address")).is_err();
        assert_eq!((0..100).filter(|_| fails("192.0.2.1")).count(), 40);
        assert!(fails("::ffff:192.0.2.1"), "the same address");
        assert!(!fails("192.0.2.2"), "another address");
        assert_eq!((0..60).filter(|_| fails("2001:db8::1")).count(), 0);
        assert!(fails("2001:db8::2"), "the same network");
        clock.advance(Duration::from_secs(5));
        limit.forget_recovered();
        assert_eq!((0..100).filter(|_| !fails("192.0.2.1")).count(), 5);
        clock.advance(Duration::from_secs(3_600));
        limit.forget_recovered();
        assert!(
            limit.limiter.is_empty(),
            "recovered addresses take no memory"
        );
    }
}
