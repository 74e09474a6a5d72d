use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

/// Speed-up over workers, both on logarithmic scales, with the line of the ideal.
pub(crate) fn draw(path: &Path, lines: &[(&str, Vec<(f64, f64)>)]) -> Result<()> {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most = points().map(|(workers, _)| *workers).fold(2.0, f64::max);
    let least = points().map(|(_, speed_up)| *speed_up).fold(1.0, f64::min);
    let root = SVGBackend::new(path, (800, 600)).into_drawing_area();
    let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
    root.fill(&WHITE).map_err(|error| failed(&error))?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Speed-up of a simulated cluster", ("sans-serif", 20))
        .margin(20)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..most).log_scale(), (least.max(0.1)..most).log_scale())
        .map_err(|error| failed(&error))?;
    chart
        .configure_mesh()
        .x_desc("workers")
        .y_desc("speed-up")
        .draw()
        .map_err(|error| failed(&error))?;
    let ideal = LineSeries::new([(1.0, 1.0), (most, most)], BLACK.mix(0.3));
    let drawn = chart.draw_series(ideal).map_err(|error| failed(&error))?;
    drawn
        .label("ideal")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], BLACK.mix(0.3)));
    for ((name, points), colour) in lines.iter().zip([RED, BLUE]) {
        let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
        let drawn = chart.draw_series(line).map_err(|error| failed(&error))?;
        drawn
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    }
    let mut legend = chart.configure_series_labels();
    let legend = legend
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(BLACK);
    legend.draw().map_err(|error| failed(&error))?;
    root.present().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plot_says_what_it_is_and_which_line_is_which() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plot.svg");
        draw(&path, &[("book", vec![(1.0, 1.0), (10.0, 9.0)])]).expect("room");
        let text = std::fs::read_to_string(&path).expect("text");
        for words in [
            "Speed-up of a simulated cluster",
            "workers",
            "speed-up",
            "ideal",
            "book",
        ] {
            assert!(
                text.lines().any(|line| line.trim() == words),
                "no {words} in {text}"
            );
        }
    }
}
