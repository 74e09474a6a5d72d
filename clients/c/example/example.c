/* Looks up a position: example BOOK VARIANT [MOVES]. Exit code: 0 found, 1 not in the book, 2 error. */
#include <stdio.h>
#include <string.h>

#include "kagetsu_book.h"

#define MAX_MOVES 64

static void print(const kagetsu_move *move) {
    static const char *const bounds[] = {"?", "at most", "at least", "exactly"};
    static const char *const proofs[] = {"", " (a proven draw)", " (a proven loss)", " (a proven win)"};
    if (move->plies > 0)
        printf("%s %s in %d", move->move, move->score > 0 ? "wins" : "loses", (int)move->plies);
    else
        printf("%s %s %d", move->move, bounds[move->bound & 3], (int)move->score);
    printf(", depth %u%s\n", move->depth, proofs[move->proof & 3]);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s BOOK.kbk VARIANT [MOVES]\n", argv[0]);
        return 2;
    }
    kagetsu_book *book;
    if (kagetsu_book_open(argv[1], &book) != KAGETSU_OK) {
        fprintf(stderr, "%s\n", kagetsu_last_error());
        return 2;
    }
    kagetsu_move moves[MAX_MOVES];
    kagetsu_move picked;
    size_t count = 0;
    const char *line = argc > 3 ? argv[3] : NULL;
    int status = kagetsu_book_lookup(book, argv[2], NULL, line, moves, MAX_MOVES, &count);
    for (size_t at = 0; status == KAGETSU_OK && at < count && at < MAX_MOVES; at++)
        print(&moves[at]);
    if (status == KAGETSU_OK)
        status = kagetsu_book_pick(book, argv[2], NULL, line, 0.0, 1, 0, &picked);
    if (status == KAGETSU_OK)
        printf("pick %s\n", picked.move);
    else if (status == KAGETSU_NOT_FOUND)
        fprintf(stderr, "not in the book of %llu positions\n", (unsigned long long)kagetsu_book_positions(book));
    else
        fprintf(stderr, "%s\n", kagetsu_last_error());
    kagetsu_book_close(book);
    return status == KAGETSU_OK ? 0 : status == KAGETSU_NOT_FOUND ? 1 : 2;
}
