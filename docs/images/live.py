#!/usr/bin/env python3
"""The moving picture of the README: a run on a terminal, from the first second to the report, as an animated SVG.

Usage: docs/images/live.py PGDYNO >docs/images/live.svg. Needs pyte, a terminal emulator (pip install pyte). Takes half a minute."""

import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from html import escape

import pyte

COLUMNS, ROWS = 100, 30
# Of a character, in pixels.
WIDTH, HEIGHT = 7.8, 16
ARGS = ["run", "tproc-c", "-w", "2", "-c", "8", "-T", "16", "--ramp", "3"]
# How often a picture is taken, and how long the last one stays.
STEP_S, LAST_S = 1.0, 6.0
COLOURS = {
    "default": "#d6dbe1", "black": "#3b4252", "red": "#ff7b72", "green": "#3fcf9f", "brown": "#f0c24a", "blue": "#5aaef0",
    "magenta": "#e08ac6", "cyan": "#6ccbe0", "white": "#e6e9ed", "brightblack": "#8b949e",
}


def run(program, directory):
    """Returns the screens of the run, each a list of rows, which are lists of (text, colour, is bold)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        os.execv(program, [program, *ARGS])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    screens, due = [], time.monotonic() + STEP_S
    while True:
        ready, _, _ = select.select([terminal], [], [], max(0, due - time.monotonic()))
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            stream.feed(data)
        if time.monotonic() >= due:
            screens.append(rows(screen))
            due += STEP_S
    os.waitpid(pid, 0)
    return [*screens, rows(screen)]


def rows(screen):
    return [row(screen.buffer[y]) for y in range(ROWS)]


def row(cells):
    spans = []
    for x in range(COLUMNS):
        cell = cells[x]
        look = (cell.fg, cell.bold)
        if spans and spans[-1][1:] == look:
            spans[-1] = (spans[-1][0] + cell.data, *look)
        else:
            spans.append((cell.data, *look))
    return spans


def text(spans, y):
    """Returns a row as SVG: each span at its own column, whatever the font."""
    parts, x = [], 0
    for words, colour, bold in spans:
        shown = words.rstrip()
        if shown:
            indent = len(words) - len(words.lstrip())
            fill = COLOURS.get(colour, f"#{colour}" if len(colour) == 6 else COLOURS["default"])
            weight = ' font-weight="bold"' if bold else ""
            length = (len(shown) - indent) * WIDTH
            parts.append(f'<text x="{10 + (x + indent) * WIDTH:.1f}" y="{y:.0f}" fill="{fill}"{weight} textLength="{length:.1f}"'
                         f' lengthAdjust="spacingAndGlyphs">{escape(shown.strip())}</text>')
        x += len(words)
    return "".join(parts)


def svg(screens):
    whole = (len(screens) - 1) * STEP_S + LAST_S
    at = lambda nth: 100 * min(nth * STEP_S, whole) / whole if nth < len(screens) else 100
    keyframes, groups = {}, []
    for y in range(ROWS):
        begin = 0
        # A row that stays is there once.
        for nth in range(1, len(screens) + 1):
            if nth < len(screens) and screens[nth][y] == screens[begin][y]:
                continue
            drawn = text(screens[begin][y], 24 + y * HEIGHT)
            if drawn:
                name = f"f{begin}-{nth}"
                keyframes[name] = (at(begin), at(nth))
                groups.append(f'<g class="{name}">{drawn}</g>')
            begin = nth
    style = ["text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }"]
    for name, (begin, end) in keyframes.items():
        if begin == 0 and end == 100:
            continue
        edges = [] if begin == 0 else ["0% { visibility: hidden }", f"{begin - 0.001:.3f}% {{ visibility: hidden }}"]
        edges += [f"{begin:.3f}% {{ visibility: visible }}", f"{end - 0.001:.3f}% {{ visibility: visible }}"]
        edges += [f"{end:.3f}% {{ visibility: hidden }}", "100% { visibility: hidden }"] if end < 100 else ["100% { visibility: visible }"]
        style.append(f"@keyframes {name} {{ {' '.join(edges)} }} .{name} {{ animation: {name} {whole:.0f}s step-end infinite }}")
    width, height = 20 + COLUMNS * WIDTH, 24 + ROWS * HEIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
            f'aria-label="pgdyno {" ".join(ARGS)} on a terminal"><style>{"".join(style)}</style>'
            f'<rect width="100%" height="100%" rx="8" fill="#12161b"/>{"".join(groups)}</svg>')


with tempfile.TemporaryDirectory() as directory:
    print(svg(run(os.path.realpath(sys.argv[1]), directory)))
