/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_screen.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profctl/message.h"

#define CALL_ROWS 8

struct top_screen {
	SCREEN *terminal;
	struct top_view view;
	size_t first; /* process row at the top */
	size_t rows; /* of processes, shown */
	bool hold;
	int line; /* next to be drawn */
};

struct top_screen *top_screen_new(void)
{
	struct top_screen *s = calloc(1, sizeof(*s));

	setlocale(LC_CTYPE, "");
	if (s)
		s->terminal = newterm(NULL, stdout, stdin);
	if (!s || !s->terminal) {
		message("cannot draw on this terminal (TERM=%s); profctl top --once prints a "
			"table",
			getenv("TERM") ? getenv("TERM") : "");
		free(s);
		return NULL;
	}
	set_term(s->terminal);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	return s;
}

void top_screen_free(struct top_screen *s)
{
	if (!s)
		return;
	endwin();
	delscreen(s->terminal);
	free(s);
}

static void draw_line(void *context, enum top_style style, const char *text)
{
	static const attr_t styles[] = {
		[TOP_PLAIN] = A_NORMAL,
		[TOP_HEADING] = A_REVERSE,
		[TOP_TARGET] = A_BOLD,
		[TOP_WARNING] = A_STANDOUT,
	};
	struct top_screen *s = context;

	if (s->line >= LINES)
		return;
	attrset(styles[style]);
	mvaddnstr(s->line, 0, text, COLS);
	if (style == TOP_HEADING)
		for (int x = getcurx(stdscr); getcury(stdscr) == s->line && x < COLS; x++)
			mvaddch(s->line, x, ' ');
	attrset(A_NORMAL);
	s->line++;
}

void top_screen_show(struct top_screen *s, struct top_frame *frame, uint64_t own_cpu_ns)
{
	char foot[160];

	erase();
	s->line = 0;
	s->view.own_cpu_ns = own_cpu_ns;
	if (!frame->duration_ns) {
		draw_line(s, TOP_PLAIN, "the first second ...");
	} else {
		top_view_summary(frame, &s->view, COLS, draw_line, s);
		top_view_devices(frame, draw_line, s);
		if (LINES - s->line > 12)
			top_view_operators(frame, (size_t)(LINES - s->line) / 3, draw_line, s);
		/* Calls take a third of what is left, processes the rest. */
		if (LINES - s->line > 12)
			top_view_calls(frame,
				       (LINES - s->line) / 3 < CALL_ROWS
					       ? (size_t)(LINES - s->line) / 3
					       : CALL_ROWS,
				       draw_line, s);
		s->rows = LINES - s->line > 2 ? (size_t)(LINES - s->line - 2) : 1;
		if (s->first >= frame->process_count)
			s->first = frame->process_count ? frame->process_count - 1 : 0;
		top_view_processes(frame, &s->view, s->first, s->rows, draw_line, s);
	}
	snprintf(foot, sizeof(foot),
		 "q quit  sorted by %s: c CPU r ready b blocked i I/O m memory p pid  t targets%s  "
		 "space %s",
		 top_order_name(s->view.order), s->view.targets_only ? " only" : "",
		 s->hold ? "go on" : "hold");
	s->line = LINES - 1;
	draw_line(s, TOP_HEADING, foot);
	refresh();
}

static void scroll_by(struct top_screen *s, long rows)
{
	s->first = rows < 0 && (size_t)-rows > s->first ? 0 : s->first + (size_t)rows;
}

static bool press(struct top_screen *s, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
	case 3: /* Ctrl-C, where it is no signal */ return false;
	case 'c': s->view.order = TOP_BY_CPU; break;
	case 'r': s->view.order = TOP_BY_READY; break;
	case 'b': s->view.order = TOP_BY_BLOCKED; break;
	case 'i': s->view.order = TOP_BY_IO; break;
	case 'm': s->view.order = TOP_BY_MEMORY; break;
	case 'p': s->view.order = TOP_BY_PID; break;
	case 't': s->view.targets_only = !s->view.targets_only; break;
	case ' ': s->hold = !s->hold; break;
	case KEY_DOWN: scroll_by(s, 1); break;
	case KEY_UP: scroll_by(s, -1); break;
	case KEY_NPAGE: scroll_by(s, (long)s->rows); break;
	case KEY_PPAGE: scroll_by(s, -(long)s->rows); break;
	case KEY_HOME: s->first = 0; break;
	default: break;
	}
	return true;
}

bool top_screen_keys(struct top_screen *s, bool *redraw, bool *hold)
{
	bool go_on = true;
	int key;

	while (go_on && (key = getch()) != ERR) {
		go_on = press(s, key);
		*redraw = true;
	}
	*hold = s->hold;
	return go_on;
}
