// Plain CSV text to numbers and codes of labels, in several threads. What is not plain for certain is left to others.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sx {

struct NotPlain : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class CsvKind : std::uint8_t { number, label, skip };

// The different texts of a column, numbered as they come.
class Levels {
   public:
    std::int32_t find(std::string_view text) const;  // its number, or -1
    std::int32_t add(std::string_view text);         // one that is not there yet
    const std::vector<std::string>& names() const { return names_; }

   private:
    void place(std::int32_t code);

    std::vector<std::string> names_;
    std::vector<std::int32_t> slots_;  // a table of codes, at least half of it empty (-1); its size is a power of two
};

struct CsvBlock {
    std::int64_t rows = 0;
    std::unique_ptr<double[]> numbers;       // rows x columns of numbers; NaN for an empty cell
    std::unique_ptr<std::int32_t[]> labels;  // rows x columns of labels; -1 for an empty cell
};

// Reads blocks of whole lines. Neither numbers nor codes depend on the blocks or the number of threads: the codes of a
// column count its labels in the order in which the file first names them.
class CsvReader {
   public:
    static constexpr std::size_t kPiece = std::size_t(1) << 18;  // bytes that a thread takes at once

    // Without a quote, if that is 0.
    CsvReader(char delimiter, char quote, std::vector<CsvKind> kinds, int n_jobs, std::int64_t most_levels,
              std::size_t piece = kPiece);

    CsvBlock feed(const char* bytes, std::size_t size);  // lines that end with '\n', the last too

    std::int64_t numbers() const { return numbers_; }
    std::int64_t labels() const { return std::int64_t(levels_.size()); }
    const std::vector<std::string>& levels(std::int64_t k) const { return levels_[k].names(); }

   private:
    struct Piece {
        const char *begin, *end;
        std::int64_t first = 0, rows = 0;
        std::vector<Levels> fresh;  // labels that no earlier block had; the k-th has the code -2 - k for now
    };

    std::vector<Piece> cut(const char* p, const char* end) const;
    void read(Piece& piece, double* numbers, std::int32_t* labels) const;
    const char* odd_number(const char* p, const char* end, char stop, double& value) const;
    const char* label(const char* p, char stop, Levels* fresh, const Levels* known, std::int32_t& code) const;
    const char* quoted(const char* p, char stop, std::string& text) const;
    void join(Piece& piece, std::int32_t* labels);

    const char delimiter_, quote_;
    const std::vector<CsvKind> kinds_;
    const int n_jobs_;
    const std::int64_t most_levels_;
    const std::size_t piece_;
    std::int64_t numbers_ = 0;
    std::array<bool, 256> ends_{};  // the characters that end a cell, or that have no place in one
    std::vector<Levels> levels_;
    char line_stop_ = 0;  // '\r' where lines end with "\r\n", else '\n'; known from the first line on
    std::string failed_;  // why no more can be read
};

}  // namespace sx
