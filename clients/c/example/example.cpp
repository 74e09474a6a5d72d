// Prints the book's moves of a position:
//   example h8.kbk freestyle-15 "h8 i9"
#include <kagetsu_book.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

struct Close {
    void operator()(kagetsu_book *book) const { kagetsu_book_close(book); }
};

using Book = std::unique_ptr<kagetsu_book, Close>;

int fail(const char *what) {
    std::fprintf(stderr, "%s: %s\n", what, kagetsu_last_error());
    return 2;
}

} // namespace

int main(int count, char **arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: %s BOOK VARIANT [MOVES]\n", arguments[0]);
        return 2;
    }
    kagetsu_book *opened = nullptr;
    if (kagetsu_book_open(arguments[1], &opened) < 0) return fail(arguments[1]);
    const Book book(opened);
    const char *moves = count > 3 ? arguments[3] : "";
    std::vector<kagetsu_move> known(64);
    size_t found = 0;
    const int status = kagetsu_book_lookup(book.get(), arguments[2], nullptr, moves, known.data(),
                                           known.size(), &found);
    if (status < 0) return fail(moves);
    if (found == 0) {
        std::fprintf(stderr, "not in the book\n");
        return 1;
    }
    known.resize(found < known.size() ? found : known.size());
    static const char *const bounds[] = {"?", "at most", "at least", "exactly"};
    for (const kagetsu_move &move : known)
        std::printf("%s %s %d, depth %u\n", move.move, bounds[move.bound & 3],
                    static_cast<int>(move.score), move.depth);
    return 0;
}
