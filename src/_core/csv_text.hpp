// CSV text of any kind, in blocks of any size, to rows and cells; what is done with a cell is a matter of the subclass.
//
// Rows end with LF, CRLF or CR, in any mixture. A cell in double quotes may hold delimiters, line ends and doubled
// quotes; spaces may stand around the quotes. Blank lines are passed over, or are missing cells where there is one column.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parallel.hpp"

namespace sx {

// Why a text is refused: a word for it, the line (from 1), the column (from 0; -1 for none) and the cell.
struct CsvProblem : std::runtime_error {
    CsvProblem(const char* word, std::int64_t at, std::int64_t place = -1, std::string_view text = {})
        : std::runtime_error(word), line(at), column(place), cell(text) {}

    std::int64_t line, column;
    std::string cell;
};

std::int64_t count_lines(const char* p, const char* end);  // bytes that are '\n'

// Whichever thread is free takes the next piece: work(piece, thread). The first piece that fails decides what is said.
template <class Piece, class Work>
void each_piece(std::vector<Piece>& pieces, int n_jobs, Work work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> failed(pieces.size());
    const auto threads = std::min<std::int64_t>(n_jobs, std::int64_t(pieces.size()));
    in_parallel(threads, n_jobs, [&](std::int64_t first, std::int64_t last) {
        for (; first < last; ++first) {
            for (std::size_t k; (k = next.fetch_add(1)) < pieces.size();) {
                try {
                    work(pieces[k], first);
                } catch (...) {
                    failed[k] = std::current_exception();
                    next = pieces.size();  // pieces are taken in order: all before this one are in work or done
                }
            }
        }
    });
    for (const std::exception_ptr& problem : failed) {
        if (problem) std::rethrow_exception(problem);
    }
}

class CsvText {
   public:
    static constexpr std::size_t kPiece = std::size_t(1) << 18;  // bytes that a thread takes at once

    CsvText(std::string delimiter, std::size_t columns, int n_jobs, std::int64_t longest_line, std::size_t piece);

    void begin(std::int64_t line);  // a file, whose header is its first row, on this line
    // Read the cells of the first row of a text; false if it has no end and more may come.
    bool first_row(std::string_view text, bool last, std::vector<std::string>& cells);
    std::int64_t rows() const { return rows_; }
    std::int64_t longest_line() const { return longest_seen_; }  // bytes
    int line_ends() const { return line_ends_; }                 // that rows had: 1 for LF, 2 for CRLF, 4 for CR, added

   protected:
    struct Piece {
        const char *begin, *end;
        std::int64_t first, rows;  // counted from the begin of the block
    };

    // Rows that are complete with these bytes; `last` if no more come. Valid until `let_go`.
    std::vector<Piece> cut(const char* bytes, std::size_t size, bool last);
    void let_go();  // refuses what was put off

    // Walk over the cells of a piece: cell(column, row, text) is false where the text is not what the column holds.
    template <class Cell>
    void walk(const Piece& piece, Cell cell) const;

    const std::string delimiter_;
    const std::size_t columns_;
    const int n_jobs_;

   private:
    enum class State : std::uint8_t { start, plain, quoted, closed };

    bool is_delimiter(const char* p, const char* end) const {
        return *p == delimiter_[0] &&
               (delimiter_.size() == 1 || std::string_view(p, std::size_t(end - p)).starts_with(delimiter_));
    }
    static bool is_end(char c) { return c == '\n' || c == '\r'; }
    static const char* behind_end(const char* p, const char* end) {
        return p + 1 + int(*p == '\r' && p + 1 != end && p[1] == '\n');
    }
    std::string_view read_cell(const char*& p, const char* end, const char* row, std::string& unquoted) const;
    const char* first_not_text(const Piece& piece) const;  // a zero byte or what is not UTF-8, else the end
    std::int64_t line_of(const char* p) const;
    [[noreturn]] void refuse(const char* word, const char* row, std::int64_t column = -1, std::string_view cell = {}) const;

    const std::int64_t longest_line_;
    const std::size_t piece_;
    const bool spaces_;                 // around quotes are passed over
    std::array<bool, 256> special_{};   // what may end a cell
    std::string held_;                  // a row whose end has not come
    std::size_t scanned_ = 0;           // bytes of it that have been looked at
    State state_ = State::start;        // behind them
    std::optional<CsvProblem> put_off_;  // until the rows before have been read
    bool header_ = true, whole_ = true;  // whether the header is to come; whether all went well so far
    const char *block_ = nullptr, *rest_ = nullptr, *end_ = nullptr;  // of the block in work: begin, what is left, end
    std::int64_t line_ = 1, rows_ = 0, longest_seen_ = 0;
    int line_ends_ = 0;
};

template <class Cell>
void CsvText::walk(const Piece& piece, Cell cell) const {
    const char *p = piece.begin, *const end = piece.end, *const bad = first_not_text(piece);
    std::int64_t row = piece.first;
    std::string unquoted;
    while (p != end) {
        const char* const begin = p;
        if (is_end(*p)) {
            if (columns_ == 1 && !cell(std::size_t(0), row++, std::string_view())) refuse("value", begin, 0);
            p = behind_end(p, end);
            continue;
        }
        std::size_t cells = 0;
        bool more = false;
        for (;;) {
            const std::string_view text = read_cell(p, end, begin, unquoted);
            if (cells < columns_) {
                if (!cell(cells, row, text)) refuse("value", begin, std::int64_t(cells), text);
            } else {
                more |= cells > columns_ || !text.empty();
            }
            ++cells;
            if (p == end || is_end(*p)) break;
            p += delimiter_.size();
        }
        // A row may end with a delimiter.
        if (cells < columns_ || more) refuse("cells", begin, -1, std::to_string(cells));
        if (bad < p) refuse(*bad ? "utf-8" : "nul", bad);
        ++row;
        if (p != end) p = behind_end(p, end);
    }
}

}  // namespace sx
