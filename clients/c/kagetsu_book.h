/*
 * kagetsu_book.h - compiled books of Kagetsu (.kbk, made by `kagetsu compile`) for programs in C.
 *
 * Any number of threads may ask one open book at the same time; only open and close must not race with others on the same
 * book. Nothing that a call gives must be freed but the book itself, by kagetsu_book_close. All texts are UTF-8 and end
 * with a zero byte. Build the library with `cargo build --release -p kagetsu-c`, link with -lkagetsu_c.
 *
 *   kagetsu_book *book;
 *   kagetsu_move moves[32];
 *   size_t count;
 *   if (kagetsu_book_open("h8.kbk", &book) != KAGETSU_OK)
 *       fprintf(stderr, "%s\n", kagetsu_last_error());
 *   else if (kagetsu_book_lookup(book, "freestyle-15", NULL, "h8 i9", moves, 32, &count) == KAGETSU_OK)
 *       printf("best %s\n", moves[0].move);
 */
#ifndef KAGETSU_BOOK_H
#define KAGETSU_BOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call ends with. kagetsu_last_error says more of those below zero. */
enum kagetsu_status {
    KAGETSU_OK = 0,
    KAGETSU_NOT_FOUND = 1,     /* the book does not hold the position, or has no move for it */
    KAGETSU_BAD_ARGUMENT = -1, /* a null pointer, a text that is no UTF-8, a number out of range */
    KAGETSU_BAD_POSITION = -2, /* an unknown variant, a move or a FEN that cannot be */
    KAGETSU_BAD_FILE = -3,     /* the file cannot be read, is no compiled book, or is of a newer version */
    KAGETSU_DAMAGED = -4,      /* bytes of the file are not those that were written */
    KAGETSU_INTERNAL = -5      /* a fault of the library; please report it */
};

enum kagetsu_bound { KAGETSU_UPPER = 1, KAGETSU_LOWER = 2, KAGETSU_EXACT = 3 };
enum kagetsu_proof { KAGETSU_UNPROVEN = 0, KAGETSU_DRAW = 1, KAGETSU_LOSS = 2, KAGETSU_WIN = 3 };

/* What is known of one move, from the view of the side that makes it. */
typedef struct kagetsu_move {
    char move[8];    /* as in h8 or h2e2 */
    int32_t score;   /* centi-units; a forced win in n plies is 32000 - n, a forced loss its negative */
    int32_t plies;   /* to a forced win or loss; 0 where there is none */
    uint8_t bound;   /* kagetsu_bound: what the score says of the value */
    uint8_t proof;   /* kagetsu_proof */
    uint8_t depth;   /* plies searched */
    uint8_t reserved;
} kagetsu_move;

typedef struct kagetsu_book kagetsu_book;

/* Opens a compiled book into *book, which is NULL after an error. The file is mapped, not read. */
int kagetsu_book_open(const char *path, kagetsu_book **book);

/* Closes a book; NULL is fine. No other thread may still ask it. */
void kagetsu_book_close(kagetsu_book *book);

/* How many positions the book holds; 0 for NULL. */
uint64_t kagetsu_book_positions(const kagetsu_book *book);

/*
 * What the book knows of a position, the best move first. `variant` as in freestyle-15, renju-15, xiangqi or surakarta;
 * `fen` is where the game began, NULL for the start; `moves` are the moves since, NULL for none.
 * At most `capacity` moves are written to `out`, which may be NULL where `capacity` is 0; *count becomes how many there are.
 */
int kagetsu_book_lookup(const kagetsu_book *book, const char *variant, const char *fen, const char *moves,
                        kagetsu_move *out, size_t capacity, size_t *count);

/*
 * The same for gomoku by its stones: `cells` are size * size bytes, row by row from the top (as Gomocup counts), 0 empty,
 * 1 of the first side, 2 of the second; `side` is who moves, 1 or 2.
 */
int kagetsu_book_lookup_stones(const kagetsu_book *book, const char *variant, const uint8_t *cells, size_t length,
                               int side, kagetsu_move *out, size_t capacity, size_t *count);

/*
 * One move as an engine would choose it. `temperature` in centi-units of value that make a move e times less likely, 0 takes
 * the best; `seed` makes the chance the same every time; moves searched less deeply than `min_depth` are left out unless
 * proven.
 */
int kagetsu_book_pick(const kagetsu_book *book, const char *variant, const char *fen, const char *moves,
                      double temperature, uint64_t seed, uint8_t min_depth, kagetsu_move *out);

/* What went wrong in the last call of this thread that ended below zero. Valid until its next call. */
const char *kagetsu_last_error(void);

/* The version of the library, as in 0.1.0. */
const char *kagetsu_version(void);

#ifdef __cplusplus
}
#endif

#endif
