//! Charts over time.

/// A chart over time. Charts of several runs with the same title are drawn on the same axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The meaning of the values, in a sentence.
    pub note: String,
    /// The unit of all values, on the axis.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
    /// Whether the series are shares of a whole, drawn as stacked areas.
    pub stacked: bool,
    /// The minimum upper end of the axis.
    pub most: Option<f64>,
    /// Whether it belongs to the first screen of the page.
    pub first: bool,
    /// Whether it has the full width; others are placed in pairs if there is room.
    pub wide: bool,
    /// The part of the page that it belongs to.
    pub part: ChartPart,
    /// The series, in the order of their colours.
    pub series: Vec<ChartSeries>,
}

/// A part of the page, in the page's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChartPart {
    /// The clients.
    Drive,
    /// The server's activity.
    #[default]
    Server,
    /// The machines.
    Machines,
    /// The tables.
    Tables,
}

impl ChartPart {
    /// Returns its heading.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Drive => "Throughput and response times",
            Self::Server => "Inside the server",
            Self::Machines => "The machines",
            Self::Tables => "The tables",
        }
    }
}

/// Values over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartSeries {
    /// Its name in the legend.
    pub name: String,
    /// Times, in seconds since the clients started, ascending.
    pub seconds: Vec<f64>,
    /// A value for each time; none if unknown.
    pub values: Vec<Option<f64>>,
    /// Its colour, if it has a meaning; otherwise the colour depends on the series' position.
    pub ink: Option<Ink>,
    /// Whether it is a line over the areas of a stacked chart, and not part of the sum.
    pub over: bool,
    /// How several values are combined into one if there are too many.
    pub fold: Fold,
}

/// A colour with a meaning: a variable of the page's style, and how light a shade of it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink(pub &'static str, pub usize);

/// How to combine successive values into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// Their mean.
    #[default]
    Mean,
    /// The largest: a maximum stays one.
    Max,
}

/// A time, or a span of time, that is marked in all charts of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// Its kind, such as `checkpoint`; if empty, the text is used.
    pub kind: String,
    /// The event.
    pub text: String,
    /// Start, in seconds since the clients started.
    pub from_s: f64,
    /// End of a span; absent for a single time.
    pub until_s: Option<f64>,
}
