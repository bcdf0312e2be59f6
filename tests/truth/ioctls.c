/* SPDX-License-Identifier: Apache-2.0 */
/* ioctls.c - known numbers of ioctls on device files and on other files. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "tests/truth/truth.h"

#define GOOD 50
#define BAD 20
#define ELSEWHERE 30

int main(void)
{
	int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	int null = open("/dev/null", O_RDWR);
	unsigned int number, available;
	int pipes[2], good = 0, bad = 0;
	struct termios t;

	if (terminal < 0 || null < 0 || pipe(pipes))
		return 1;
	truth_ready();
	for (int i = 0; i < GOOD; i++)
		good += !ioctl(terminal, TIOCGPTN, &number);
	for (int i = 0; i < BAD; i++)
		bad += ioctl(null, TCGETS, &t) < 0;
	for (int i = 0; i < ELSEWHERE; i++)
		ioctl(pipes[0], FIONREAD, &available);
	ioctl(-1, FIONREAD, &available);
	printf("good=%d\nbad=%d\n", good, bad);
	truth_done();
	return 0;
}
