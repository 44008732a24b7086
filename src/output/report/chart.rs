//! One picture: a thin layer over the crate that writes SVG, with axes, marks and a text that describes the picture. It names
//! classes and never colours: the style of the page has the colours for light, dark and paper.

use super::html::visible;
use super::scale::Scale;
use crate::terms::Method;
use svg::node::element::path::Data;
use svg::node::element::Element;
use svg::node::{Node, Text};

/// Every picture is so wide; the page makes it as wide as there is room.
pub const WIDTH: f64 = 440.0;
/// Room for the numbers of an axis on the left, and on the right.
pub const LEFT: f64 = 58.0;
/// The right end of what is drawn.
pub const RIGHT: f64 = WIDTH - 12.0;

/// A picture that is being drawn.
#[derive(Debug)]
pub struct Chart {
    svg: Element,
}

/// A coordinate as it is written: a tenth is finer than any screen.
fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn element(name: &str, attributes: &[(&str, String)]) -> Element {
    let mut element = Element::new(name);
    attributes.iter().for_each(|(name, value)| element.assign(*name, value.as_str()));
    element
}

fn words(name: &str, attributes: &[(&str, String)], text: &str) -> Element {
    let mut element = element(name, attributes);
    element.append(Text::new(visible(text)));
    element
}

impl Chart {
    /// An empty picture, with its name and what it shows in words.
    pub fn new(id: &str, title: &str, says: &str, height: f64) -> Chart {
        let mut svg = element(
            "svg",
            &[
                ("viewBox", format!("0 0 {WIDTH} {height}")),
                ("role", "img".to_owned()),
                ("aria-labelledby", format!("{id}-title {id}-desc")),
            ],
        );
        svg.append(words("title", &[("id", format!("{id}-title"))], title));
        svg.append(words("desc", &[("id", format!("{id}-desc"))], says));
        Chart { svg }
    }

    /// The text of the picture.
    pub fn done(self) -> String {
        self.svg.to_string()
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let ends = [("x1", place(x1)), ("y1", place(y1)), ("x2", place(x2)), ("y2", place(y2))];
        self.svg.append(element("line", &[&[("class", class.to_owned())][..], &ends].concat()));
    }

    /// A rectangle by its corners.
    pub fn bar(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let (x, y) = (x1.min(x2), y1.min(y2));
        let (width, height) = (("width", place((x1 - x2).abs())), ("height", place((y1 - y2).abs())));
        self.svg
            .append(element("rect", &[("class", class.to_owned()), ("x", place(x)), ("y", place(y)), width, height]));
    }

    /// A line through points.
    pub fn through(&mut self, class: &str, points: &[(f64, f64)]) {
        let round = |(x, y): &(f64, f64)| ((x * 10.0).round() as f32 / 10.0, (y * 10.0).round() as f32 / 10.0);
        let Some(((first, rest), true)) = points.split_first().zip(Some(points.len() > 1)) else { return };
        let data = rest.iter().fold(Data::new().move_to(round(first)), |data, p| data.line_to(round(p)));
        self.svg.append(element(
            "path",
            &[("class", format!("{class} open")), ("d", svg::node::Value::from(data).to_string())],
        ));
    }

    /// Words: at their `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, anchor: &str, (x, y): (f64, f64), text: &str) {
        let place = [("class", class.to_owned()), ("text-anchor", anchor.to_owned()), ("x", place(x)), ("y", place(y))];
        self.svg.append(words("text", &place, text));
    }

    /// The mark of a series.
    pub fn mark(&mut self, series: Series, at: (f64, f64)) {
        self.svg.append(series.shape(at, 3.2));
    }

    /// An axis on the left with lines across, down from `top` to `bottom`.
    pub fn left_axis(&mut self, scale: &Scale, marks: &[f64], spell: fn(f64) -> String) {
        for mark in marks {
            let y = scale.at(*mark);
            self.line("grid", (LEFT, y), (RIGHT, y));
            self.text("tick", "end", (LEFT - 5.0, y + 4.0), &spell(*mark));
        }
    }

    /// An axis below, with lines up to `top`.
    pub fn bottom_axis(&mut self, scale: &Scale, marks: &[f64], spell: fn(f64) -> String, (top, bottom): (f64, f64)) {
        for mark in marks {
            let x = scale.at(*mark);
            self.line("grid", (x, top), (x, bottom));
            self.text("tick", "middle", (x, bottom + 14.0), &spell(*mark));
        }
    }
}

/// What a mark or a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// A way to zero, or writes of zeroes.
    Of(Method),
    /// Writes of data.
    Data,
    /// Writes of data over what was zeroed.
    DataOverZeroed,
}

impl Series {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Series::Of(Method::Write) => "writing zeroes",
            Series::Of(method) => method.as_str(),
            Series::Data => "writing data",
            Series::DataOverZeroed => "data over zeroed",
        }
    }

    /// The class that the page's style colours.
    pub fn class(self) -> &'static str {
        match self {
            Series::Of(Method::PunchHole) => "punch",
            Series::Of(Method::Write) => "write",
            Series::Of(Method::WriteZeroes) => "wz",
            Series::Of(Method::ZeroRange) => "range",
            Series::Of(Method::BlkZeroOut) => "zeroout",
            Series::Of(Method::BlkDiscard) => "discard",
            Series::Data => "data",
            Series::DataOverZeroed => "over",
        }
    }

    /// Its mark, which differs without colour too.
    fn shape(self, (x, y): (f64, f64), r: f64) -> Element {
        let polygon = |points: &[(f64, f64)]| {
            let corner = |(dx, dy): &(f64, f64)| format!("{},{}", place(x + dx * r), place(y + dy * r));
            let points = points.iter().map(corner).collect::<Vec<_>>().join(" ");
            element("polygon", &[("class", format!("{} mark", self.class())), ("points", points)])
        };
        match self {
            Series::Of(Method::Write) => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Series::Of(Method::WriteZeroes) => polygon(&[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)]),
            Series::Of(Method::ZeroRange) => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Series::Of(Method::BlkZeroOut) => polygon(&[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)]),
            Series::Of(Method::BlkDiscard) => polygon(&[(-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)]),
            Series::Of(Method::PunchHole) | Series::Data | Series::DataOverZeroed => {
                let hollow = if self == Series::Of(Method::PunchHole) { "mark" } else { "mark hollow" };
                let class = format!("{} {hollow}", self.class());
                element("circle", &[("class", class), ("cx", place(x)), ("cy", place(y)), ("r", place(r))])
            }
        }
    }
}

/// The marks of these series with their names.
pub fn legend(series: &[Series]) -> String {
    let item = |s: &Series| {
        let mut svg = element("svg", &[("viewBox", "0 0 12 12".to_owned()), ("aria-hidden", "true".to_owned())]);
        svg.append(s.shape((6.0, 6.0), 4.0));
        format!("<li>{svg} {}</li>", s.name())
    };
    format!("<ul class=\"legend\">{}</ul>\n", series.iter().map(item).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_name_and_a_text_and_escapes_foreign_markup() {
        let mut chart = Chart::new("x", "<script>", "a & \"b\"", 100.0);
        chart.text("tick", "start", (1.0, 2.05), "</text><script>");
        chart.through("punch", &[(0.0, 1.0)]);
        chart.through("punch", &[(0.0, 1.0), (2.25, 3.0)]);
        let text = chart.done();
        assert!(text.contains("role=\"img\"") && text.contains("aria-labelledby=\"x-title x-desc\""), "{text}");
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;"), "{text}");
        assert_eq!(text.matches("<path").count(), 1, "{text}");
        assert_eq!((place(2.0), place(2.04), place(-0.5)), ("2".to_owned(), "2".to_owned(), "-0.5".to_owned()));
    }
}
