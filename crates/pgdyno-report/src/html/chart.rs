//! What is drawn over time.

/// A chart over time. Charts of several runs that have the same title are drawn on the same axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the values mean, in a sentence.
    pub note: String,
    /// The unit of all values, as the axis has it.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
    /// Whether the series are shares of a whole: areas, one on the other.
    pub stacked: bool,
    /// Whether it takes the whole width; others stand two by two where there is room.
    pub wide: bool,
    /// The part of the page that it belongs to.
    pub part: Part,
    /// The series, in the order of their colours.
    pub series: Vec<Series>,
}

/// A part of the page, in the page's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What the clients did and saw.
    Drive,
    /// What the server was busy with.
    #[default]
    Server,
    /// The machines.
    Machines,
    /// The tables.
    Tables,
}

impl Part {
    /// Its heading.
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
pub struct Series {
    /// What it is, as the legend has it.
    pub name: String,
    /// Moments, in seconds since the clients began, ascending.
    pub seconds: Vec<f64>,
    /// A value for each moment; none where nothing was seen.
    pub values: Vec<Option<f64>>,
    /// Its colour, where that has a meaning; else it goes by the series' place.
    pub ink: Option<Ink>,
    /// Whether it is a line over the areas of a stacked chart, and no part of the sum.
    pub over: bool,
    /// What becomes of values that are too many to be shown.
    pub fold: Fold,
}

/// A colour with a meaning: a variable of the page's style, and how light a shade of it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink(pub &'static str, pub usize);

/// What stands for several values that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// Their mean.
    #[default]
    Mean,
    /// The largest: a maximum stays one.
    Max,
}

/// A moment, or a span of time, that is marked in all charts of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// In a word, such as `checkpoint`; where it is empty the text stands for it.
    pub kind: String,
    /// What happened.
    pub text: String,
    /// Begin, in seconds since the clients began.
    pub from_s: f64,
    /// End of a span; absent for a moment.
    pub until_s: Option<f64>,
}
