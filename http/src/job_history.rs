//! How the jobs have grown since the server started, for the plots of the page.

use std::collections::BTreeMap;

use kagetsu_api::HistoryPoint;
use kagetsu_proto::v1;
use parking_lot::Mutex;

/// Points of one job. Beyond that every second point is dropped, and new ones are taken half as
/// often.
const MAX_POINTS: usize = 512;
/// Recorded jobs; later ones have no history.
const MAX_JOBS: usize = 256;

#[derive(Debug, Default)]
struct Track {
    points: Vec<HistoryPoint>,
    /// One of this many points is kept.
    every: usize,
    seen: usize,
}

impl Track {
    fn add(&mut self, point: HistoryPoint) {
        // Two points suffice for a period without growth: move the second.
        if let [.., before, last] = self.points[..]
            && (before.positions, before.frontier) == (last.positions, last.frontier)
            && (last.positions, last.frontier) == (point.positions, point.frontier)
        {
            if let Some(last) = self.points.last_mut() {
                *last = point;
            }
            return;
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.every.max(1)) {
            self.points.push(point);
        }
        if self.points.len() > MAX_POINTS {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every = 2 * self.every.max(1);
        }
    }
}

/// The history of every job.
#[derive(Debug, Default)]
pub(crate) struct JobHistory(Mutex<BTreeMap<String, Track>>);

impl JobHistory {
    /// The points of a job, oldest first.
    pub(crate) fn of(&self, name: &str) -> Vec<HistoryPoint> {
        let tracks = self.0.lock();
        tracks
            .get(name)
            .map_or_else(Vec::new, |track| track.points.clone())
    }

    pub(crate) fn add(&self, at_ms: u64, jobs: &[v1::Job]) {
        let mut tracks = self.0.lock();
        for job in jobs {
            if tracks.len() < MAX_JOBS || tracks.contains_key(&job.name) {
                let point = HistoryPoint {
                    at_ms,
                    positions: job.positions,
                    frontier: job.frontier,
                };
                tracks.entry(job.name.clone()).or_default().add(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_history_keeps_its_shape_in_few_points() {
        let mut track = Track::default();
        for at in 0..100_000 {
            track.add(HistoryPoint {
                at_ms: at,
                positions: at,
                frontier: 0,
            });
        }
        assert!(track.points.len() <= MAX_POINTS);
        assert!(track.points.first().is_some_and(|point| point.at_ms == 0));
        assert!(
            track
                .points
                .last()
                .is_some_and(|point| point.at_ms > 99_000)
        );
        assert!(track.points.is_sorted_by_key(|point| point.at_ms));
    }

    #[test]
    fn idle_job_needs_two_points() {
        let mut track = Track::default();
        for at in 0..1_000 {
            track.add(HistoryPoint {
                at_ms: at,
                positions: 7,
                frontier: 1,
            });
        }
        assert_eq!(
            track
                .points
                .iter()
                .map(|point| point.at_ms)
                .collect::<Vec<_>>(),
            [0, 999]
        );
    }
}
