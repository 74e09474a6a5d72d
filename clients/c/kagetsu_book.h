/*
 * kagetsu_book.h - compiled books of Kagetsu (.kbk, made by `kagetsu compile`) for programs in C.
 *
 * Several threads may use one open book at the same time; do not close a book while another thread
 * uses it. The caller frees nothing but the book, with kagetsu_book_close. All texts are UTF-8 and
 * end with a zero byte. `cmake` builds and installs the library (see CMakeLists.txt); pkg-config and
 * CMake know it as kagetsu_book. Without them: `cargo build --release -p kagetsu-c`, and link with
 * -lkagetsu_c.
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

/* Result of a call. For negative results kagetsu_last_error returns a message. */
enum kagetsu_status {
    KAGETSU_OK = 0,
    KAGETSU_NOT_FOUND = 1,     /* the book lacks the position, or has no move for it */
    KAGETSU_BAD_ARGUMENT = -1, /* a null pointer, invalid UTF-8, or a number out of range */
    KAGETSU_BAD_POSITION = -2, /* an unknown variant, an illegal move, or an invalid FEN */
    KAGETSU_BAD_FILE = -3,     /* unreadable, no compiled book, of a newer version, or changed while open */
    KAGETSU_DAMAGED = -4,      /* a checksum of the file does not match */
    KAGETSU_INTERNAL = -5      /* a bug in the library; please report it */
};

enum kagetsu_bound { KAGETSU_UPPER = 1, KAGETSU_LOWER = 2, KAGETSU_EXACT = 3 };
enum kagetsu_proof { KAGETSU_UNPROVEN = 0, KAGETSU_DRAW = 1, KAGETSU_LOSS = 2, KAGETSU_WIN = 3 };

/* What the book knows of one move, from the view of the side that makes it. */
typedef struct kagetsu_move {
    char move[8];    /* the move as text, as in h8 or h2e2 */
    int32_t score;   /* centi-units; a forced win in n plies is 32000 - n, a forced loss its negative */
    int32_t plies;   /* plies to the forced win or loss; 0 if there is none */
    uint8_t bound;   /* kagetsu_bound: how the score bounds the value */
    uint8_t proof;   /* kagetsu_proof */
    uint8_t depth;   /* search depth in plies */
    uint8_t reserved;
} kagetsu_move;

typedef struct kagetsu_book kagetsu_book;

/* Opens a compiled book; *book is NULL after an error. A part of the file is read when it
 * is first needed, and kept. A file that changes while it is open makes look-ups fail with
 * KAGETSU_BAD_FILE; close the book and open it again. */
int kagetsu_book_open(const char *path, kagetsu_book **book);

/* Closes a book; NULL is ignored. No other thread may still use it. */
void kagetsu_book_close(kagetsu_book *book);

/* Returns the number of positions in the book; 0 for NULL. */
uint64_t kagetsu_book_positions(const kagetsu_book *book);

/*
 * Looks up a position and writes its moves to `out`, the best first. `variant` is a name such as
 * freestyle-15, renju-15, xiangqi or surakarta. `fen` is the first position, NULL for the start of a
 * game; `moves` are the moves played from there, NULL for none. At most `capacity` moves are
 * written; `out` may be NULL if `capacity` is 0. *count is set to the number of known moves.
 */
int kagetsu_book_lookup(const kagetsu_book *book, const char *variant, const char *fen, const char *moves,
                        kagetsu_move *out, size_t capacity, size_t *count);

/*
 * Looks up a gomoku position by its stones. `cells` holds size * size bytes, row by row from the top
 * (as Gomocup counts): 0 empty, 1 first side, 2 second side. `side` is the side to move, 1 or 2.
 */
int kagetsu_book_lookup_stones(const kagetsu_book *book, const char *variant, const uint8_t *cells, size_t length,
                               int side, kagetsu_move *out, size_t capacity, size_t *count);

/*
 * Chooses a move to play. A move that is `temperature` centi-units worse is e times less likely; 0
 * always chooses the best. `seed` is the seed of the random generator. Moves of a lower search depth
 * than `min_depth` are left out unless they are proven.
 */
int kagetsu_book_pick(const kagetsu_book *book, const char *variant, const char *fen, const char *moves,
                      double temperature, uint64_t seed, uint8_t min_depth, kagetsu_move *out);

/* Returns the message of this thread's last failed call. It is valid until the thread's next call. */
const char *kagetsu_last_error(void);

/* Returns the version of the library, as in 0.1.0. */
const char *kagetsu_version(void);

#ifdef __cplusplus
}
#endif

#endif
