// Any bytes at all, in any pieces: the reader of libsvm text never crashes, and what it reads, or the sentence that it
// refuses them with, does not depend on the pieces. The first byte of an input chooses the options, the second the cuts.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../src/_core/libsvm.hpp"

namespace {

struct Outcome {
    std::string sentence;
    std::vector<std::uint64_t> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> lengths;
    std::vector<std::uint64_t> labels;
    std::int64_t width = 0, smallest = 0, lines = 0;

    bool operator==(const Outcome&) const = default;
};

void take(sx::LibsvmReader& reader, std::int64_t rows, Outcome& out) {
    const sx::LibsvmRows got = reader.take(rows);
    const std::size_t n = got.labels.size();
    for (std::size_t i = 0; i < n; ++i) {
        out.labels.push_back(std::bit_cast<std::uint64_t>(got.labels.data()[i]));
        out.lengths.push_back(got.starts.data()[i + 1] - got.starts.data()[i]);
    }
    for (std::size_t k = 0; k < got.values.size(); ++k) {
        out.values.push_back(std::bit_cast<std::uint64_t>(got.values.data()[k]));
    }
    for (std::size_t k = 0; k < got.singles.size(); ++k) {
        out.values.push_back(std::bit_cast<std::uint32_t>(got.singles.data()[k]));
    }
    out.columns.insert(out.columns.end(), got.columns.data(), got.columns.data() + got.columns.size());
}

// Read in pieces of about `piece` bytes; each is copied into room of its own size, so that no byte beyond can be read.
Outcome read(const std::uint8_t* bytes, std::size_t size, std::size_t piece, int options) {
    Outcome out;
    sx::LibsvmReader reader(options & 1, options & 2);
    try {
        std::size_t at = 0;
        for (std::size_t k = 0; at < size; ++k) {
            const std::size_t n = std::min(size - at, piece + (k * 7 + piece) % 5);
            const std::vector<char> chunk(bytes + at, bytes + at + n);
            reader.feed(chunk.data(), n);
            at += n;
            if (piece < size) take(reader, (options >> 2) + 1, out);
        }
        reader.finish();
        while (reader.rows() > 0) take(reader, piece < size ? (options >> 2) + 1 : reader.rows(), out);
        out.width = reader.width();
        out.smallest = reader.smallest();
        out.lines = reader.lines();
    } catch (const sx::LibsvmError& error) {
        out = {};
        out.sentence = error.what();
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    const int options = bytes[0] & 15;
    const std::size_t piece = bytes[1] % 64 + 1;
    const Outcome whole = read(bytes + 2, size - 2, size, options);
    if (whole != read(bytes + 2, size - 2, piece, options) || whole != read(bytes + 2, size - 2, 1, options)) {
        std::fprintf(stderr, "the pieces matter: %s\n", whole.sentence.c_str());
        std::abort();
    }
    if (whole.sentence.empty()) {
        std::int64_t sum = 0;
        for (const std::int64_t length : whole.lengths) sum += length;
        if (std::size_t(sum) != whole.values.size() || whole.values.size() != whole.columns.size()) std::abort();
        for (const std::int32_t column : whole.columns) {
            if (column < 0 || column >= whole.width) std::abort();
        }
    }
    return 0;
}
