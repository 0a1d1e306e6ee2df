// CSV text of any kind: the types that all cells of each column have, and columns of values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "csv_cells.hpp"
#include "csv_text.hpp"

namespace sx {

// Finds the types of columns, in memory that does not grow with the text.
class CsvScan : public CsvText {
   public:
    struct Column {
        std::uint8_t types = cells::kAny;  // that all cells have
        bool spaces = false;               // whether a number stands between white space beyond ASCII
        std::int64_t cells = 0;            // that are not missing
        std::int64_t longest = 0;          // bytes of the longest of them
        std::int64_t text_row = -1;        // the first row (from 0) with a cell that is not a number
        std::string text;                  // that cell
    };

    CsvScan(std::string delimiter, std::size_t columns, int n_jobs, std::int64_t longest_line,
            std::size_t piece = kPiece);

    void feed(const char* bytes, std::size_t size, bool last);
    std::vector<Column> columns() const;

   private:
    std::vector<std::vector<Column>> seen_;  // by each thread
};

enum class ColumnKind : std::uint8_t { number, whole, flag, text, skip };

// Columns of some rows: values[column * rows + row], columns of one kind together.
struct ColumnBlock {
    std::int64_t rows = 0;
    std::unique_ptr<double[]> numbers;
    std::unique_ptr<std::int64_t[]> wholes;
    std::unique_ptr<std::uint8_t[]> flags;
    std::unique_ptr<std::uint8_t[]> valid;    // of the columns of numbers, whole numbers, flags and texts, in this order
    std::unique_ptr<std::int32_t[]> offsets;  // of texts: rows + 1 for each column
    std::vector<std::int64_t> starts;         // of the texts of each column, and where the last end
    std::string texts;
};

// Reads columns of known kinds. Neither values nor problems depend on the blocks or the number of threads.
class CsvColumns : public CsvText {
   public:
    CsvColumns(std::string delimiter, std::vector<ColumnKind> kinds, int n_jobs, std::int64_t longest_line,
               std::size_t piece = kPiece);

    ColumnBlock feed(const char* bytes, std::size_t size, bool last);
    std::int64_t count(ColumnKind kind) const { return counts_[std::size_t(kind)]; }

   private:
    const std::vector<ColumnKind> kinds_;
    std::int64_t counts_[5] = {};
    std::vector<std::int64_t> place_;  // of a column among those of its kind
};

}  // namespace sx
