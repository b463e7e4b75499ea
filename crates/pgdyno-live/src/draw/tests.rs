//! Pictures of a run in black and white; another test checks the colours.

use ratatui_core::backend::TestBackend;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;

use super::{DrawOptions, draw};
use crate::model::Model;
use crate::model::example::{begun, measuring};

fn picture(model: &Model, look: DrawOptions, (width, height): (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            draw(model, look, area, frame.buffer_mut());
        })
        .unwrap();
    terminal.backend().clone()
}

/// 15.6 s into the run.
const THEN: DrawOptions = DrawOptions { now_s: 16.6, colour: false, paused: false, help: false };

#[test]
fn on_a_usual_terminal() {
    insta::assert_snapshot!(picture(&measuring(), THEN, (80, 24)));
}

#[test]
fn on_a_large_terminal() {
    insta::assert_snapshot!(picture(&measuring(), THEN, (140, 40)));
}

#[test]
fn on_the_smallest_terminal() {
    insta::assert_snapshot!(picture(&measuring(), THEN, super::LEAST));
}

#[test]
fn on_one_that_is_too_small() {
    insta::assert_snapshot!(picture(&measuring(), THEN, (40, 5)));
}

#[test]
fn before_anything_has_happened() {
    let mut model = begun();
    model.connecting(5);
    insta::assert_snapshot!(picture(&model, DrawOptions::default(), (80, 24)));
}

#[test]
fn help_lies_over_it() {
    insta::assert_snapshot!(picture(&measuring(), DrawOptions { help: true, paused: true, ..THEN }, (80, 24)));
}

#[test]
fn colours_are_there_only_where_they_are_wanted() {
    let coloured = |colour| {
        let backend = picture(&measuring(), DrawOptions { colour, ..THEN }, (80, 24));
        backend.buffer().content().iter().any(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset))
    };
    assert!(coloured(true) && !coloured(false));
}

#[test]
fn nothing_breaks_at_any_size() {
    let model = measuring();
    for width in (0..200).step_by(19) {
        for height in (0..60).step_by(3) {
            picture(&model, DrawOptions { help: true, ..THEN }, (width, height));
        }
    }
}
