use serde::Serialize;

/// Mean, median and geometric mean of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Averages {
    pub(super) mean: f64,
    pub(super) median: f64,
    pub(super) geometric: f64,
}

impl Averages {
    /// Returns the averages; `None` without values.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2)? + values.get((values.len() - 1) / 2)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let logarithms: Vec<f64> = values
            .iter()
            .map(|value| value.max(f64::MIN_POSITIVE).ln())
            .collect();
        Some(Self {
            mean: mean(&values),
            median: middle / 2.0,
            geometric: mean(&logarithms).exp(),
        })
    }

    /// Returns the three values in the order of the tables' columns.
    pub(super) fn columns(averages: Option<Self>) -> [Option<f64>; 3] {
        [
            averages.map(|averages| averages.mean),
            averages.map(|averages| averages.median),
            averages.map(|averages| averages.geometric),
        ]
    }
}

/// A number with as many digits as matter.
pub(super) fn cell(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) if value < 1_000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_mean_median_and_geometric_mean() {
        let found = Averages::of([8.0, 1.0, 1.0, 2.0].into_iter()).expect("of something");
        assert_eq!((found.mean, found.median), (3.0, 1.5));
        assert!((found.geometric - 2.0).abs() < 1e-12);
        assert_eq!(Averages::of(std::iter::empty()), None);
    }
}
