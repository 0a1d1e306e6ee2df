// Any bytes at all, in any blocks of lines and by any number of threads: the reader of plain CSV text never crashes, and
// numbers, codes and labels do not depend on the blocks or threads; a text that is plain as a whole is plain in blocks.
// The first four bytes of an input choose the dialect, the kinds of columns, the blocks and pieces.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../src/_core/csv.hpp"

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
    return 0;
}
