// Moves a simulated GPIO line up and down, by the file «pull» of gpio-sim:
//   edges FILE COUNT NANOSECONDS SECONDS
// each so long after the one before, counted from the first; fewer where the seconds are over before. COUNT is even: the line ends as it began.
// Prints how many edges were made, in how many milliseconds, and the longest time between two of them in microseconds.
//   cc -O2 -static -o edges edges.c

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int file = open(arguments[1], O_RDWR);
    long edges = atol(arguments[2]), edge = 0;
    long long pause = atoll(arguments[3]), end, begin = now(), last = begin, longest = 0;
    char text[16] = "";
    if (file < 0 || pread(file, text, sizeof text - 1, 0) < 0) return perror(arguments[1]), 1;
    end = begin + atoll(arguments[4]) * 1000000000;
    int is_up = strncmp(text, "pull-up", 7) == 0;
    for (; edge < edges && (edge % 2 || last < end); edge++) {
        long long next = begin + edge * pause;
        struct timespec time = {next / 1000000000, next % 1000000000};
        if (pause) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        is_up = !is_up;
        const char *pull = is_up ? "pull-up" : "pull-down";
        if (pwrite(file, pull, strlen(pull), 0) < 0) return perror("pwrite"), 1;
        long long made = now();
        if (edge > 0 && made - last > longest) longest = made - last;
        last = made;
    }
    printf("%ld %lld %lld\n", edge, (last - begin) / 1000000, longest / 1000);
    return 0;
}
