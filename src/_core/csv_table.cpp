#include "csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sx {

namespace {

constexpr std::size_t kShown = 400;  // bytes of a cell that are kept for a message

// Whether a number is whole with a zero in front: 007 is a name.
bool is_code(std::string_view number) {
    number.remove_prefix(number[0] == '-' || number[0] == '+');
    return number.size() > 1 && number[0] == '0' && cells::is_digit(number[1]) &&
           std::all_of(number.begin(), number.end(), cells::is_digit);
}

// The number that a cell is; false if it is none. Most often neither space nor word is there.
bool read_double(std::string_view cell, double& value) {
    const char *p = cell.data(), *end = p + cell.size();
    if (read_number(p, end, value) == end && !is_code(cell)) [[likely]] return true;
    cell = cells::stripped(cell);
    if (!cells::number_types(cell)) return false;
    p = cell.data();
    end = p + cell.size();
    if (read_number(p, end, value, std::int64_t(cell.size())) == end) return true;
    const bool negative = *p == '-';
    p += negative || *p == '+';
    value = *p == 'n' || *p == 'N' ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (negative) value = -value;
    return true;
}

bool read_whole(std::string_view cell, std::int64_t& value) {
    cell = cells::stripped(cell);
    if (!(cells::number_types(cell) & cells::kWhole)) return false;
    std::uint64_t size = 0;
    const bool negative = cell[0] == '-';
    for (const char c : cell.substr(negative || cell[0] == '+')) size = size * 10 + std::uint64_t(c - '0');
    value = std::int64_t(negative ? 0 - size : size);
    return true;
}

}  // namespace

CsvScan::CsvScan(std::string delimiter, std::size_t columns, int n_jobs, std::int64_t longest_line, std::size_t piece)
    : CsvText(std::move(delimiter), columns, n_jobs, longest_line, piece), seen_(1) {
    seen_[0].resize(columns_);
}

void CsvScan::feed(const char* bytes, std::size_t size, bool last) {
    const std::int64_t before = rows();
    std::vector<Piece> pieces = cut(bytes, size, last);
    seen_.resize(std::max(seen_.size(), std::min(pieces.size(), std::size_t(n_jobs_))));
    each_piece(pieces, n_jobs_, [&](const Piece& piece, std::int64_t thread) {
        std::vector<Column>& seen = seen_[std::size_t(thread)];
        seen.resize(columns_);
        walk(piece, [&](std::size_t c, std::int64_t row, std::string_view cell) {
            if (cells::is_missing(cell)) return true;
            Column& column = seen[c];
            ++column.cells;
            column.longest = std::max(column.longest, std::int64_t(cell.size()));
            if (!column.types && column.text_row >= 0 && column.text_row <= before + row) return true;
            const std::uint8_t types = cells::types_of(cell, column.spaces);
            column.types &= types;
            if (!(types & cells::kNumber) && (column.text_row < 0 || before + row < column.text_row)) {
                column.text_row = before + row;
                column.text.assign(cell.substr(0, kShown));
            }
            return true;
        });
    });
    let_go();
}

std::vector<CsvScan::Column> CsvScan::columns() const {
    std::vector<Column> all(columns_);
    for (const std::vector<Column>& seen : seen_) {
        for (std::size_t c = 0; c < seen.size(); ++c) {
            const Column& one = seen[c];
            Column& column = all[c];
            column.types &= one.types;
            column.spaces |= one.spaces;
            column.cells += one.cells;
            column.longest = std::max(column.longest, one.longest);
            if (one.text_row >= 0 && (column.text_row < 0 || one.text_row < column.text_row)) {
                column.text_row = one.text_row;
                column.text = one.text;
            }
        }
    }
    return all;
}

CsvColumns::CsvColumns(std::string delimiter, std::vector<ColumnKind> kinds, int n_jobs, std::int64_t longest_line,
                       std::size_t piece)
    : CsvText(std::move(delimiter), kinds.size(), n_jobs, longest_line, piece), kinds_(std::move(kinds)) {
    for (const ColumnKind kind : kinds_) place_.push_back(counts_[std::size_t(kind)]++);
}

ColumnBlock CsvColumns::feed(const char* bytes, std::size_t size, bool last) {
    const std::int64_t before = rows();
    std::vector<Piece> pieces = cut(bytes, size, last);
    ColumnBlock block;
    const std::int64_t n = block.rows = rows() - before;
    const std::int64_t numbers = count(ColumnKind::number), wholes = count(ColumnKind::whole);
    const std::int64_t flags = count(ColumnKind::flag), texts = count(ColumnKind::text);
    const std::int64_t first_valid[] = {0, numbers, numbers + wholes, numbers + wholes + flags, 0};
    std::size_t bytes_cut = 1;  // the last line may have no end
    for (const Piece& piece : pieces) bytes_cut += std::size_t(piece.end - piece.begin);
    if (std::size_t(n) > bytes_cut / columns_) {  // each cell has a byte behind it: no room for what is refused anyway
        for (const Piece& piece : pieces) walk(piece, [](std::size_t, std::int64_t, std::string_view) { return true; });
    }
    block.numbers.reset(new double[std::size_t(numbers * n)]);
    block.wholes.reset(new std::int64_t[std::size_t(wholes * n)]);
    block.flags.reset(new std::uint8_t[std::size_t(flags * n)]);
    block.valid.reset(new std::uint8_t[std::size_t((numbers + wholes + flags + texts) * n)]);
    block.offsets.reset(new std::int32_t[std::size_t(texts * (n + 1))]);
    std::vector<std::vector<std::string>> written(pieces.size());
    each_piece(pieces, n_jobs_, [&](const Piece& piece, std::int64_t) {
        std::vector<std::string>& own = written[std::size_t(&piece - pieces.data())];
        own.resize(std::size_t(texts));
        walk(piece, [&](std::size_t c, std::int64_t row, std::string_view cell) {
            const ColumnKind kind = kinds_[c];
            if (kind == ColumnKind::skip) return true;
            const std::int64_t k = place_[c], at = k * n + row;
            const bool missing = cells::is_missing(cell);
            block.valid[std::size_t(first_valid[std::size_t(kind)] * n + at)] = !missing;
            if (kind == ColumnKind::number) {
                double& value = block.numbers[std::size_t(at)];
                value = std::numeric_limits<double>::quiet_NaN();
                return missing || read_double(cell, value);
            }
            if (kind == ColumnKind::whole) {
                std::int64_t& value = block.wholes[std::size_t(at)];
                value = 0;
                return missing || read_whole(cell, value);
            }
            if (kind == ColumnKind::flag) {
                const bool yes = cells::is_word(cell, "true");
                block.flags[std::size_t(at)] = yes;
                return missing || yes || cells::is_word(cell, "false");
            }
            if (missing) cell = {};
            own[std::size_t(k)].append(cell);
            block.offsets[std::size_t(k * (n + 1) + row + 1)] = std::int32_t(cell.size());
            return true;
        });
    });
    let_go();
    block.starts.push_back(0);
    for (std::int64_t k = 0; k < texts; ++k) {
        for (const std::vector<std::string>& own : written) block.texts += own[std::size_t(k)];
        std::int32_t* const offsets = block.offsets.get() + k * (n + 1);
        offsets[0] = 0;
        for (std::int64_t row = 0; row < n; ++row) offsets[row + 1] += offsets[row];
        block.starts.push_back(std::int64_t(block.texts.size()));
    }
    return block;
}

}  // namespace sx
