/* A program that is curl for files, and a newer worker. */
#include <io.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    int byte;
    if (count == 2) return puts("kagetsu-worker 9.0.0") < 0;
    if (strcmp(words[count - 2], "--")) return printf("newer: %s\n", words[1]) < 0;
    FILE *file = fopen(words[count - 1] + strlen("file://"), "rb");
    _setmode(1, 0x8000);
    while ((byte = getc(file)) != EOF) putchar(byte);
    return 0;
}
