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
	size_t listed; /* of processes, in all */
	bool hold;
	bool help;
	bool typing; /* the filter */
	bool why; /* show the verdict on the jobs */
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
	/* Esc alone ends the filter: no long wait for a sequence that it may begin. */
	set_escdelay(50);
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

static void draw_frame(struct top_screen *s, struct top_frame *frame, const char *why)
{
	top_view_summary(frame, &s->view, COLS, draw_line, s);
	top_view_jobs(frame, draw_line, s);
	top_view_why(why, COLS, draw_line, s);
	top_view_devices(frame, draw_line, s);
	if (LINES - s->line > 12)
		top_view_operators(frame, COLS, (size_t)(LINES - s->line) / 3, draw_line, s);
	/* Calls take a third of the remaining lines, processes the rest. */
	if (LINES - s->line > 12)
		top_view_calls(frame, COLS,
			       (LINES - s->line) / 3 < CALL_ROWS ? (size_t)(LINES - s->line) / 3
								 : CALL_ROWS,
			       draw_line, s);
	s->rows = LINES - s->line > 2 ? (size_t)(LINES - s->line - 2) : 1;
	s->listed = top_view_processes(frame, &s->view, COLS, s->first, s->rows, draw_line, s);
}

/* Draws the current settings, the most important first: a narrow terminal cuts the rest. */
static void draw_foot(struct top_screen *s)
{
	const struct top_choice *choice = &s->view.choice;
	char foot[160];

	if (s->typing)
		snprintf(foot, sizeof(foot), "only commands with: %s_", choice->filter);
	else
		snprintf(foot, sizeof(foot), "q quit h help  sorted by %s%s%s%s%s%s",
			 top_order_name(choice->order), choice->tree ? ", tree" : "",
			 choice->targets_only ? ", targets only" : "",
			 *choice->filter ? ", with " : "", choice->filter, s->hold ? ", held" : "");
	s->line = LINES - 1;
	draw_line(s, TOP_HEADING, foot);
}

void top_screen_show(struct top_screen *s, struct top_frame *frame, const char *why,
		     uint64_t own_cpu_ns)
{
	erase();
	s->line = 0;
	s->view.own_cpu_ns = own_cpu_ns;
	if (s->help)
		top_view_keys(draw_line, s);
	else if (!frame->duration_ns)
		draw_line(s, TOP_PLAIN, "the first second ...");
	else
		draw_frame(s, frame, why);
	/* There may be fewer than there were. */
	if (s->first && s->first >= s->listed)
		s->first = s->listed ? s->listed - 1 : 0;
	draw_foot(s);
	refresh();
}

static void scroll_by(struct top_screen *s, long rows)
{
	s->first = rows < 0 && (size_t)-rows > s->first ? 0 : s->first + (size_t)rows;
}

#define KEY_ESCAPE 27

/* A key while the filter is typed. */
static void type_filter(struct top_screen *s, int key)
{
	char *filter = s->view.choice.filter;
	size_t length = strlen(filter);

	s->first = 0;
	if (key == KEY_ESCAPE || key == '\n' || key == '\r' || key == KEY_ENTER)
		s->typing = false;
	if (key == KEY_ESCAPE)
		*filter = '\0';
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
		filter[length - 1] = '\0';
	else if (key >= ' ' && key < 127 && length + 1 < TOP_FILTER)
		memcpy(filter + length, (char[]){ (char)key, '\0' }, 2);
}

static bool press(struct top_screen *s, int key)
{
	struct top_choice *choice = &s->view.choice;

	if (s->typing && key != 3) {
		type_filter(s, key);
		return true;
	}
	if (s->help && key != 3 && key != KEY_RESIZE) {
		s->help = false;
		return true;
	}
	switch (key) {
	case 'q':
	case 'Q':
	case 3: /* Ctrl-C, where it is no signal */ return false;
	case 'c': choice->order = TOP_BY_CPU; break;
	case 'r': choice->order = TOP_BY_READY; break;
	case 'b': choice->order = TOP_BY_BLOCKED; break;
	case 'i': choice->order = TOP_BY_IO; break;
	case 'm': choice->order = TOP_BY_MEMORY; break;
	case 'p': choice->order = TOP_BY_PID; break;
	case 't': choice->targets_only = !choice->targets_only; break;
	case 'v': choice->tree = !choice->tree; break;
	case 'w': s->why = !s->why; break;
	case '/': s->typing = true; break;
	case KEY_ESCAPE: *choice->filter = '\0'; break;
	case 'h':
	case '?': s->help = true; break;
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

bool top_screen_why(const struct top_screen *s)
{
	return s->why;
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
