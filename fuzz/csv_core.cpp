// Any bytes at all, in any blocks and by any number of threads: the readers of CSV text never crash, and numbers, codes,
// labels, types and problems do not depend on the blocks or threads; a text that is plain as a whole is plain in blocks of
// lines, and the reader of any CSV text reads it too. The first four bytes of an input choose the dialect, the kinds of
// columns, the blocks and pieces.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../src/_core/csv.hpp"
#include "../src/_core/csv_table.hpp"

namespace {

struct Outcome {
    bool plain = true;
    std::vector<std::uint64_t> numbers;
    std::vector<std::int32_t> codes;
    std::vector<std::vector<std::string>> levels;

    bool operator==(const Outcome&) const = default;
};

struct Dialect {
    char delimiter, quote;
    std::vector<sx::CsvKind> kinds;
    std::int64_t most_levels;
};

// Each block is copied into room of its own size, so that no byte beyond can be read.
Outcome read(const std::vector<std::string>& blocks, const Dialect& dialect, int n_jobs, std::size_t piece) {
    Outcome out;
    sx::CsvReader reader(dialect.delimiter, dialect.quote, dialect.kinds, n_jobs, dialect.most_levels, piece);
    try {
        for (const std::string& block : blocks) {
            const std::vector<char> bytes(block.begin(), block.end());
            const sx::CsvBlock got = reader.feed(bytes.data(), bytes.size());
            for (std::int64_t k = 0; k < got.rows * reader.numbers(); ++k) {
                out.numbers.push_back(std::bit_cast<std::uint64_t>(got.numbers[k]));
            }
            for (std::int64_t k = 0; k < got.rows * reader.labels(); ++k) out.codes.push_back(got.labels[k]);
        }
    } catch (const sx::NotPlain&) {
        out = {};
        out.plain = false;
        return out;
    }
    for (std::int64_t k = 0; k < reader.labels(); ++k) out.levels.push_back(reader.levels(k));
    return out;
}

// Everything that the reader of any CSV text says of a text: its columns and their types, or why it is refused.
struct TextOutcome {
    std::string why;
    std::int64_t line = 0, column = 0, rows = 0;
    std::string cell;
    std::vector<std::vector<std::string>> columns;  // the bytes of each value, by column
    std::vector<std::string> types;

    bool operator==(const TextOutcome&) const = default;
};

template <class Read>
bool read_blocks(const std::string& text, std::size_t block, TextOutcome& out, Read read) {
    try {
        for (std::size_t at = 0; at < text.size(); at += block) {
            const std::vector<char> bytes(text.begin() + std::ptrdiff_t(at),
                                          text.begin() + std::ptrdiff_t(std::min(text.size(), at + block)));
            read(bytes.data(), bytes.size(), false);
        }
        read("", 0, true);
        return true;
    } catch (const sx::CsvProblem& problem) {
        out = {problem.what(), problem.line, problem.column, 0, problem.cell, {}, {}};
        return false;
    }
}

TextOutcome read_text(const std::string& text, const std::string& delimiter,
                      const std::vector<sx::ColumnKind>& kinds, std::size_t block, int n_jobs, std::size_t piece) {
    TextOutcome out;
    sx::CsvScan scan(delimiter, kinds.size(), n_jobs, 1 << 20, piece);
    scan.begin(1);
    const bool well = read_blocks(text, block, out, [&](const char* bytes, std::size_t size, bool last) {
        scan.feed(bytes, size, last);
    });
    if (!well) return out;
    out.rows = scan.rows();
    for (const sx::CsvScan::Column& column : scan.columns()) {
        out.types.push_back(std::to_string(column.types) + ' ' + std::to_string(column.cells) + ' ' +
                            std::to_string(column.longest) + ' ' + std::to_string(column.text_row) + ' ' + column.text +
                            (column.spaces ? " spaces" : ""));
    }
    sx::CsvColumns reader(delimiter, kinds, n_jobs, 1 << 20, piece);
    reader.begin(1);
    const std::int64_t counts[] = {reader.count(sx::ColumnKind::number), reader.count(sx::ColumnKind::whole),
                                   reader.count(sx::ColumnKind::flag), reader.count(sx::ColumnKind::text)};
    std::vector<std::vector<std::string>> columns(std::size_t(counts[0] + counts[1] + counts[2] + counts[3]));
    const auto keep = [&](const char* bytes, std::size_t size, bool last) {
        const sx::ColumnBlock got = reader.feed(bytes, size, last);
        const std::int64_t n = got.rows;
        std::size_t column = 0;
        const auto add = [&](std::int64_t row, const void* value, std::size_t width) {
            if (got.valid[std::size_t(std::int64_t(column) * n + row)] > 1) std::abort();
            columns[column].emplace_back(static_cast<const char*>(value), width);
        };
        for (std::int64_t k = 0; k < counts[0]; ++k, ++column) {
            for (std::int64_t row = 0; row < n; ++row) add(row, &got.numbers[std::size_t(k * n + row)], 8);
        }
        for (std::int64_t k = 0; k < counts[1]; ++k, ++column) {
            for (std::int64_t row = 0; row < n; ++row) add(row, &got.wholes[std::size_t(k * n + row)], 8);
        }
        for (std::int64_t k = 0; k < counts[2]; ++k, ++column) {
            for (std::int64_t row = 0; row < n; ++row) add(row, &got.flags[std::size_t(k * n + row)], 1);
        }
        for (std::int64_t k = 0; k < counts[3]; ++k, ++column) {
            const std::int32_t* const offsets = got.offsets.get() + k * (n + 1);
            for (std::int64_t row = 0; row < n; ++row) {
                add(row, got.texts.data() + got.starts[std::size_t(k)] + offsets[row],
                    std::size_t(offsets[row + 1] - offsets[row]));
            }
            if (got.starts[std::size_t(k)] + offsets[n] != got.starts[std::size_t(k) + 1]) std::abort();
        }
    };
    if (read_blocks(text, block, out, keep)) out.columns = columns;
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 4) return 0;
    Dialect dialect;
    dialect.delimiter = ",;\t "[bytes[0] & 3];
    dialect.quote = "\"'\0\""[bytes[0] >> 2 & 3];
    dialect.most_levels = bytes[0] >> 4;
    for (unsigned kinds = bytes[1] | 256u; kinds > 3; kinds >>= 2) {
        if ((kinds & 3) != 3) dialect.kinds.push_back(sx::CsvKind(kinds & 3));
    }
    if (dialect.kinds.empty()) return 0;
    std::string text(bytes + 4, bytes + size);
    if (bytes[3] & 1) text += '\n';
    const Outcome whole = read({text}, dialect, 1, sx::CsvReader::kPiece);
    std::vector<std::string> blocks;
    std::size_t at = 0;
    for (std::size_t lines = bytes[2] % 8 + 1; at < text.size();) {
        std::size_t end = at;
        for (std::size_t k = 0; k < lines && end != std::string::npos && end < text.size(); ++k) {
            end = text.find('\n', end);
            if (end != std::string::npos) ++end;
        }
        if (end == std::string::npos) end = text.size();
        blocks.push_back(text.substr(at, end - at));
        at = end;
    }
    const std::size_t piece = bytes[3] >> 3;
    if (whole != read(blocks, dialect, 1, sx::CsvReader::kPiece) || whole != read({text}, dialect, 1, piece) ||
        ((bytes[3] & 6) == 2 && whole != read({text}, dialect, 2, piece))) {
        std::fprintf(stderr, "the blocks, pieces or threads matter\n");
        std::abort();
    }
    for (const std::int32_t code : whole.codes) {
        if (code < -1) std::abort();
    }
    const std::string delimiter = bytes[0] & 0x10 ? "\xC2\xA7" : std::string(1, dialect.delimiter);
    std::vector<sx::ColumnKind> kinds;
    for (unsigned rest = bytes[1] | 256u; rest > 1; rest >>= 2) kinds.push_back(sx::ColumnKind((rest & 3) + (rest >> 7 & 1)));
    const TextOutcome any = read_text(text, delimiter, kinds, text.size() + 1, 1, sx::CsvText::kPiece);
    if (any != read_text(text, delimiter, kinds, bytes[2] % 8 + 1, 1, sx::CsvText::kPiece) ||
        any != read_text(text, delimiter, kinds, bytes[2] % 64 + 1, 1, piece) ||
        ((bytes[3] & 6) == 2 && any != read_text(text, delimiter, kinds, text.size() + 1, 2, piece))) {
        std::fprintf(stderr, "the blocks, pieces or threads matter to any text\n");
        std::abort();
    }
    if (whole.plain && dialect.quote == '"' && delimiter.size() == 1 && any.why == "cells") {
        std::fprintf(stderr, "a plain text is not read as any text\n");
        std::abort();
    }
    return 0;
}
