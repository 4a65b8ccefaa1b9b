//! A live screen as a picture, drawn from its cells. `DH_PICTURES=FOLDER` keeps it.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::live::starting;
use super::pty::Pty;
use crate::session::client;

/// Pixels of a cell.
const CELL: (u16, u16) = (8, 17);
/// Bytes of a picture that belongs into a README.
const BYTES_MAX: usize = 200_000;

/// The colours of a terminal, by their numbers.
const COLOURS: [&str; 16] = [
    "#14181f", "#ff6b6b", "#7bd88f", "#e6c15a", "#6ca4f8", "#c792ea", "#4fc3d9", "#d5dae3",
    "#6b7482", "#ff8585", "#98e6a8", "#f2d57c", "#8cb8fa", "#d7aef2", "#76d8e8", "#ffffff",
];

#[test]
fn a_live_screen_is_a_small_picture() {
    let (mut server, runtime) = starting();
    let address = server.address();
    let _peers = ["ada", "bob", "cyd"].map(|name| {
        let mut peer = client(&address, name);
        peer.line_with("playing as ");
        peer
    });
    let folder = [("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap())];
    let mut pty = Pty::start(&["inspect"], (112, 24), &folder);
    pty.lines_with("roster");
    for (name, keys, part) in [
        ("inspect-screen", "jjjjjj", "haNdl99"),
        ("inspect-actor", "\r", "control ["),
        ("inspect-ticks", "2", "[2 ticks"),
        ("inspect-links", "3", "[3 links"),
        ("inspect-limits", "5H", "[5 limits"),
        ("inspect-processes", "6", "[6 process"),
    ] {
        pty.press(keys);
        pty.lines_with(part);
        std::thread::sleep(Duration::from_millis(2_500));
        let picture = svg(&pty.screen());
        assert!(picture.is_ascii() && picture.contains(">inspect<"));
        assert!(picture.len() < BYTES_MAX, "{} bytes", picture.len());
        if let Some(folder) = std::env::var_os("DH_PICTURES") {
            let path = PathBuf::from(folder).join(name).with_extension("svg");
            std::fs::write(path, picture).unwrap();
        }
    }
}

/// The cells of a screen as a drawing.
fn svg(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) = (columns * CELL.0 + 16, rows * CELL.1 + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 {width} {height}\"\n\
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect x=\"-8\" y=\"-8\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{}\"/>\n",
        COLOURS[0]
    );
    for row in 0..rows {
        let mut from = 0;
        while from < columns {
            let look = look(screen.cell(row, from).unwrap());
            let alike = |&to: &u16| self::look(screen.cell(row, to).unwrap()) == look;
            let to = (from..columns).take_while(alike).last().unwrap() + 1;
            run(&mut svg, screen, row, from..to, look);
            from = to;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Colour of the text, colour behind it, whether it is bold.
type Look = (&'static str, &'static str, bool);

fn look(cell: &vt100::Cell) -> Look {
    let colour = |colour, otherwise| match colour {
        vt100::Color::Idx(number) => COLOURS[usize::from(number) % COLOURS.len()],
        _ => otherwise,
    };
    let text = colour(cell.fgcolor(), COLOURS[7]);
    let behind = colour(cell.bgcolor(), COLOURS[0]);
    if cell.inverse() { (behind, text, cell.bold()) } else { (text, behind, cell.bold()) }
}

/// Cells that look alike: what lies behind them, their text, and blocks as rectangles.
fn run(svg: &mut String, screen: &vt100::Screen, row: u16, cells: Range<u16>, look: Look) {
    let (colour, behind, bold) = look;
    let (x, y) = (cells.start * CELL.0, row * CELL.1);
    let width = u16::try_from(cells.len()).unwrap() * CELL.0;
    if behind != COLOURS[0] {
        let height = CELL.1;
        writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{behind}\"/>"
        )
        .unwrap();
    }
    // Each word at its own place, so that a wider font moves nothing else.
    let (mut word, mut x) = (String::new(), 0);
    for column in cells.clone() {
        let held = screen.cell(row, column).unwrap().contents();
        let c = held.chars().next().unwrap_or(' ');
        if word.is_empty() {
            x = column * CELL.0;
        }
        match c {
            '\u{2581}'..='\u{2593}' => rectangle(svg, (column * CELL.0, y), c, colour),
            '<' => word.push_str("&lt;"),
            '&' => word.push_str("&amp;"),
            c if c.is_ascii_graphic() => word.push(c),
            ' ' => (),
            c => write!(word, "&#{};", u32::from(c)).unwrap(),
        }
        let is_over = c == ' ' || column + 1 == cells.end;
        if is_over && !word.is_empty() {
            let weight = if bold { " font-weight=\"bold\"" } else { "" };
            let y = y + CELL.1 - 4;
            writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\"{weight}>{word}</text>")
                .unwrap();
            word.clear();
        }
    }
}

/// A part of a cell that a block fills, or all of it, thinly.
fn rectangle(svg: &mut String, (x, y): (u16, u16), block: char, colour: &str) {
    let (width, height) = (f64::from(CELL.0), f64::from(CELL.1));
    let (mut wide, mut high, mut opacity) = (width, height, 1.0);
    match u32::from(block) {
        low @ 0x2581..=0x2588 => high = height * f64::from(low - 0x2580) / 8.0,
        left @ 0x2589..=0x258f => wide = width * f64::from(0x2590 - left) / 8.0,
        shade @ 0x2591..=0x2593 => opacity = f64::from(shade - 0x2590) / 4.0,
        _ => return,
    }
    let top = f64::from(y) + height - high;
    writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" fill=\"{colour}\" \
         fill-opacity=\"{opacity}\"/>"
    )
    .unwrap();
}
