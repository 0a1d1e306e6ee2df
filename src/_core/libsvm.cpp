#include "libsvm.hpp"

#include <cmath>

#include "text_numbers.hpp"

namespace sx {

namespace {

constexpr std::size_t kShown = 40;  // characters of the text in a sentence

bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r' && c != '\n'); }
bool ends_line(char c) { return c == '\n' || c == '#'; }
bool ends_token(char c) { return is_space(c) || ends_line(c); }

const char* skip_spaces(const char* p) {
    while (is_space(*p)) ++p;
    return p;
}

const char* token_end(const char* p) {
    while (!ends_token(*p)) ++p;
    return p;
}

// The text from p to end in quotes, as ASCII and not too long.
std::string quoted(const char* p, const char* end) {
    constexpr char hex[] = "0123456789abcdef";
    std::string text = "'";
    for (const char* last = end - p > std::ptrdiff_t(kShown) ? p + kShown : end; p != last; ++p) {
        const auto byte = static_cast<unsigned char>(*p);
        if (0x20 <= byte && byte < 0x7f) {
            text += *p;
        } else {
            text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        }
    }
    return text + (p == end ? "'" : "...'");
}

// Whether the token is a number, or would be one if it were smaller or shorter.
bool is_number(const char* p, const char* end) {
    double value;
    return read_number(p, end, value) == end;
}

}  // namespace

void LibsvmReader::fail(const std::string& what) const {
    throw LibsvmError("line " + std::to_string(line_) + ": " + what);
}

void LibsvmReader::fail_at(const char* token, const std::string& where) const {
    const char* const end = token_end(token);
    if (std::memchr(token, 0, end - token)) fail("found a NUL byte; text is needed");
    if (token == end) fail("found nothing where " + where);
    fail("found " + quoted(token, end) + " where " + where);
}

void LibsvmReader::fail_label(const char* p) const {
    const char* const end = token_end(p);
    const auto* comma = static_cast<const char*>(std::memchr(p, ',', end - p));
    if (comma && is_number(p, comma)) fail("found the labels " + quoted(p, end) + "; each row must have a single label");
    const bool large = is_number(p, end);
    fail_at(p, large ? "a label that a 64-bit float can hold belongs" : "the label, a number, belongs");
}

void LibsvmReader::fail_index(const char* p, std::int64_t previous) const {
    const char* const end = token_end(p);
    const auto* colon = static_cast<const char*>(std::memchr(p, ':', end - p));
    if (!colon) fail_at(p, "index:value belongs");
    const char* digits = *p == '-' ? p + 1 : p;
    while (digits != colon && *digits == '0') ++digits;
    std::uint64_t index = 0;
    const bool whole = colon != p + (*p == '-') && text::read_digits(digits, colon, index) == colon;
    if (!whole) fail_at(p, "index:value belongs, the index a whole number");
    const std::string name = std::string(quoted(p, colon)), bare = name.substr(1, name.size() - 2);
    if (*p == '-') fail("the index " + bare + " is negative");
    if (colon - digits > 10 || index > std::uint64_t(kLargestIndex)) {
        fail("the index " + bare + " is above " + std::to_string(kLargestIndex));
    }
    if (std::int64_t(index) < first_index_) fail("found the index 0 where indices start with 1");
    fail("the index " + bare + " follows " + std::to_string(previous) + "; indices must rise");
}

void LibsvmReader::fail_value(const char* p, std::uint64_t index) const {
    const bool large = is_number(p, token_end(p));
    const std::string width = single_ ? "32" : "64";
    fail_at(p, (large ? "a value that a " + width + "-bit float can hold belongs, at index " : "a number belongs, at index ") +
                   std::to_string(index));
}

// Pass over `qid:N`, which says which rows a ranking compares.
const char* LibsvmReader::skip_qid(const char* p, const char* end) const {
    std::uint64_t query = 0;
    const char* const digits = p + 4 + (p[4] == '-');
    const char* const behind = text::read_digits(digits, end, query);
    if (behind == digits || !ends_token(*behind)) fail_at(p, "qid: and a whole number belong");
    return behind;
}

// Read the line from p to line_end, where its '\n' is. A number ends there at the latest, so that it may be read as if
// the text went on to `end`.
template <class Value>
void LibsvmReader::read_line(const char* p, const char* line_end, const char* end, Growing<Value>& values) {
    const std::size_t most = std::size_t(line_end - p) / 4 + 1;  // " 1:1" is the shortest
    p = skip_spaces(p);
    if (ends_line(*p)) return;
    values.reserve(most);
    columns_.reserve(most);
    ends_.reserve(1);
    labels_.reserve(1);

    double label;
    const char* const behind = read_number(p, end, label);
    if (!behind || !ends_token(*behind) || !std::isfinite(label)) fail_label(p);
    p = skip_spaces(behind);
    if (line_end - p >= 4 && std::memcmp(p, "qid:", 4) == 0) p = skip_spaces(skip_qid(p, end));

    std::int64_t previous = first_index_ - 1;
    const std::size_t before = values.size();
    while (!ends_line(*p)) {
        std::uint64_t index = 0;
        const char* const colon = text::read_digits(p, end, index);
        const bool plain = colon != p && colon - p <= 10 && *colon == ':';
        if (!plain || std::int64_t(index) <= previous || index > std::uint64_t(kLargestIndex)) [[unlikely]] {
            // Zeros may stand before the index.
            const char* digits = p;
            while (*digits == '0') ++digits;
            const bool padded = colon != p && *colon == ':' && colon - digits <= 10;
            if (!padded || std::int64_t(index) <= previous || index > std::uint64_t(kLargestIndex)) {
                fail_index(p, previous);
            }
        }
        double value;
        const char* const value_end = read_number(colon + 1, end, value);
        if (!value_end || !ends_token(*value_end) || !std::isfinite(Value(value))) [[unlikely]] {
            fail_value(colon + 1, index);
        }
        values.push(Value(value));
        columns_.push(std::int32_t(std::int64_t(index) - first_index_));
        if (before + 1 == values.size()) smallest_ = std::min(smallest_, std::int64_t(index));
        previous = std::int64_t(index);
        p = skip_spaces(value_end);
    }
    largest_ = std::max(largest_, previous);
    read_ += std::int64_t(values.size() - before);
    ends_.push(read_);
    labels_.push(label);
}

// Read whole lines, each with its '\n'.
void LibsvmReader::read_lines(const char* p, const char* const end) {
    while (p != end) {
        const auto* const line_end = static_cast<const char*>(std::memchr(p, '\n', end - p));
        ++line_;
        if (std::size_t(line_end - p) > kLongestLine) fail("longer than 256 MiB");
        if (line_ == 1 && line_end - p >= 3 && std::memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3;
        if (single_) {
            read_line(p, line_end, end, singles_);
        } else {
            read_line(p, line_end, end, values_);
        }
        p = line_end + 1;
    }
}

void LibsvmReader::keep(const char* bytes, std::size_t size) {
    if (size > kLongestLine - rest_.size()) {
        ++line_;
        fail("longer than 256 MiB");
    }
    rest_.append(bytes, size);
}

void LibsvmReader::read_rest() {
    rest_.append("\n", 1);
    read_lines(rest_.data(), rest_.data() + rest_.size());
    rest_.clear();
}

template <class Work>
void LibsvmReader::once(Work work) {
    if (!failed_.empty()) throw LibsvmError(failed_);
    try {
        work();
    } catch (const LibsvmError& problem) {
        failed_ = problem.what();
        throw;
    } catch (...) {
        failed_ = "the reader ran out of memory before";
        throw;
    }
}

void LibsvmReader::feed(const char* bytes, std::size_t size) {
    once([&] {
        values_.settle();
        singles_.settle();
        columns_.settle();
        ends_.settle();
        labels_.settle();
        const char* p = bytes;
        const char* const end = bytes + size;
        if (rest_.size() > 0 && size > 0) {
            const auto* const line_end = static_cast<const char*>(std::memchr(p, '\n', size));
            keep(p, (line_end ? line_end : end) - p);
            if (!line_end) return;
            read_rest();
            p = line_end + 1;
        }
        const char* last = end;
        while (last != p && last[-1] != '\n') --last;
        read_lines(p, last);
        if (last != end) keep(last, end - last);
    });
}

void LibsvmReader::finish() {
    once([&] {
        if (rest_.size() > 0) read_rest();
    });
}

LibsvmRows LibsvmReader::take(std::int64_t count) {
    LibsvmRows out;
    once([&] {
        const auto n = std::size_t(std::clamp<std::int64_t>(count, 0, rows()));
        out.starts.reserve(n + 1);
        out.starts.push(0);
        for (std::size_t i = 0; i < n; ++i) out.starts.push(ends_.data()[i] - taken_);
        const auto size = std::size_t(out.starts.data()[n]);
        out.values = values_.take(single_ ? 0 : size);
        out.singles = singles_.take(single_ ? size : 0);
        out.columns = columns_.take(size);
        ends_.take(n);
        out.labels = labels_.take(n);
        taken_ += std::int64_t(size);
    });
    return out;
}

}  // namespace sx
