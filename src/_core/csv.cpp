#include "csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "csv_text.hpp"
#include "text_numbers.hpp"

namespace sx {

namespace {

std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0x9e3779b97f4a7c15u ^ text.size();
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    std::uint64_t word = 0;
    for (; n > 0; ++p, --n) word = word << 8 | static_cast<unsigned char>(*p);
    h = (h ^ word) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 32;
}

[[noreturn]] void give_up(const char* why) { throw NotPlain(why); }

// Whether the number from p to behind, where one more character is, is whole with a zero in front: 007 is a name and is
// left to others. No branch on the sign or the first digit, which cannot be predicted.
inline bool is_code(const char* p, const char* behind) {
    p += int(*p == '-') | int(*p == '+');
    if (!(int(*p == '0') & int(text::is_digit(p[1])))) [[likely]] return false;
    return std::all_of(p, behind, text::is_digit);
}

}  // namespace

std::int32_t Levels::find(std::string_view text) const {
    if (slots_.empty()) return -1;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash(text) & mask;; slot = (slot + 1) & mask) {
        const std::int32_t code = slots_[slot];
        if (code < 0 || names_[code] == text) return code;
    }
}

void Levels::place(std::int32_t code) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash(names_[code]) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = code;
}

std::int32_t Levels::add(std::string_view text) {
    const auto code = std::int32_t(names_.size());
    names_.emplace_back(text);
    if (2 * names_.size() > slots_.size()) {
        slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), -1);
        for (std::int32_t k = 0; k <= code; ++k) place(k);
    } else {
        place(code);
    }
    return code;
}

CsvReader::CsvReader(char delimiter, char quote, std::vector<CsvKind> kinds, int n_jobs, std::int64_t most_levels,
                     std::size_t piece)
    : delimiter_(delimiter),
      quote_(quote),
      kinds_(std::move(kinds)),
      n_jobs_(n_jobs),
      most_levels_(std::min<std::int64_t>(most_levels, std::numeric_limits<std::int32_t>::max() - 2)),
      piece_(piece) {
    numbers_ = std::count(kinds_.begin(), kinds_.end(), CsvKind::number);
    levels_.resize(std::count(kinds_.begin(), kinds_.end(), CsvKind::label));
    for (const char c : {delimiter, quote, '\n', '\r', '\0'}) ends_[static_cast<unsigned char>(c)] = true;
}

// Pieces of about equal size that end with lines.
std::vector<CsvReader::Piece> CsvReader::cut(const char* p, const char* end) const {
    std::vector<Piece> pieces;
    while (p != end) {
        const char* near = std::size_t(end - p) > piece_ ? p + piece_ : end - 1;
        near = static_cast<const char*>(std::memchr(near, '\n', end - near)) + 1;
        pieces.push_back({p, near, 0, 0, std::vector<Levels>(levels_.size())});
        p = near;
    }
    return pieces;
}

// Read a quoted cell at p, without its quotes, and return where its stop is.
const char* CsvReader::quoted(const char* p, char stop, std::string& text) const {
    text.clear();
    for (++p;; ++p) {
        if (*p == quote_) {
            if (*++p != quote_) break;
        } else if (*p == '\n' || *p == '\r' || *p == '\0') {
            give_up("a quoted cell goes on behind its line");
        }
        text += *p;
    }
    if (*p != stop) give_up("something follows a quoted cell, or a row has another number of cells");
    return p;
}

// Read a cell that is no mere number: an empty one, or a number in quotes or among spaces.
[[gnu::noinline]] const char* CsvReader::odd_number(const char* p, const char* end, char stop, double& value) const {
    if (*p == stop) {
        value = std::numeric_limits<double>::quiet_NaN();
        return p;
    }
    if (quote_ && *p == quote_) {
        std::string text;
        p = quoted(p, stop, text);
        value = std::numeric_limits<double>::quiet_NaN();
        if (text.empty()) return p;
        const char* const last = text.data() + text.size();
        if (read_number(text.data(), last, value) != last || !std::isfinite(value) || is_code(text.data(), last)) {
            give_up("a cell is not a number");
        }
        return p;
    }
    if (delimiter_ != ' ') {
        while (*p == ' ') ++p;
    }
    const char* const begin = p;
    p = read_number(p, end, value);
    if (p && is_code(begin, p)) give_up("a cell is a number with a zero in front");
    if (p && delimiter_ != ' ') {
        while (*p == ' ') ++p;
    }
    if (!p || *p != stop || !std::isfinite(value)) {
        give_up("a cell is not a number, or a row has another number of cells");
    }
    return p;
}

// Read the cell of a label at p, and look it up unless `known` is null.
const char* CsvReader::label(const char* p, char stop, Levels* fresh, const Levels* known, std::int32_t& code) const {
    std::string unquoted;
    std::string_view text;
    if (quote_ && *p == quote_) {
        p = quoted(p, stop, unquoted);
        text = unquoted;
    } else {
        const char* const begin = p;
        while (!ends_[static_cast<unsigned char>(*p)]) ++p;
        if (*p != stop) give_up("a quote inside a cell, a stray line end or NUL, or a row with another number of cells");
        text = std::string_view(begin, p - begin);
    }
    code = -1;
    if (!known || text.empty()) return p;
    code = known->find(text);
    if (code >= 0) return p;
    std::int32_t k = fresh->find(text);
    if (k < 0) {
        if (std::int64_t(known->names().size() + fresh->names().size()) >= most_levels_) give_up("too many labels");
        k = fresh->add(text);
    }
    code = -2 - k;
    return p;
}

// Read the lines of a piece. Each ends with '\n', so that no cell leads beyond the piece.
void CsvReader::read(Piece& piece, double* number, std::int32_t* code) const {
    const char* p = piece.begin;
    const char* const end = piece.end;
    const std::size_t columns = kinds_.size();
    while (p != end) {
        if (*p == line_stop_) give_up("a blank line");
        std::size_t labels = 0;
        for (std::size_t c = 0; c < columns; ++c) {
            const char stop = c + 1 == columns ? line_stop_ : delimiter_;
            if (kinds_[c] == CsvKind::number) {
                double value;
                const char* const behind = read_number(p, end, value);
                if (behind && *behind == stop && std::isfinite(value) && !is_code(p, behind)) [[likely]] {
                    p = behind;
                } else {
                    p = odd_number(p, end, stop, value);
                }
                *number++ = value;
            } else if (kinds_[c] == CsvKind::label) {
                p = label(p, stop, &piece.fresh[labels], &levels_[labels], *code++);
                ++labels;
            } else {
                std::int32_t ignored;
                p = label(p, stop, nullptr, nullptr, ignored);
            }
            ++p;
        }
        if (line_stop_ == '\r') {
            if (*p != '\n') give_up("lines end in different ways");
            ++p;
        }
    }
}

// Give the labels that are new in a piece their codes.
void CsvReader::join(Piece& piece, std::int32_t* labels) {
    const std::size_t width = levels_.size();
    for (std::size_t k = 0; k < width; ++k) {
        const std::vector<std::string>& names = piece.fresh[k].names();
        if (names.empty()) continue;
        std::vector<std::int32_t> codes;
        for (const std::string& name : names) {
            const std::int32_t known = levels_[k].find(name);
            codes.push_back(known >= 0 ? known : levels_[k].add(name));
        }
        if (std::int64_t(levels_[k].names().size()) > most_levels_) give_up("too many labels");
        for (std::int64_t i = 0; i < piece.rows; ++i) {
            std::int32_t& code = labels[i * width + k];
            if (code <= -2) code = codes[-2 - code];
        }
    }
}

CsvBlock CsvReader::feed(const char* bytes, std::size_t size) {
    if (!failed_.empty()) throw NotPlain(failed_);
    CsvBlock block;
    if (size == 0) return block;
    try {
        if (bytes[size - 1] != '\n') give_up("the last line has no end");
        if (!line_stop_) {
            const auto* first = static_cast<const char*>(std::memchr(bytes, '\n', size));
            line_stop_ = first != bytes && first[-1] == '\r' ? '\r' : '\n';
        }
        std::vector<Piece> pieces = cut(bytes, bytes + size);
        each_piece(pieces, n_jobs_, [](Piece& piece, std::int64_t) { piece.rows = count_lines(piece.begin, piece.end); });
        for (Piece& piece : pieces) {
            piece.first = block.rows;
            block.rows += piece.rows;
        }
        if (block.rows > std::int64_t(size / kinds_.size())) {  // each cell has a byte behind it: no room for nothing
            give_up("a row has another number of cells");
        }
        block.numbers.reset(new double[block.rows * numbers_]);
        block.labels.reset(new std::int32_t[block.rows * labels()]);
        each_piece(pieces, n_jobs_, [&](Piece& piece, std::int64_t) {
            read(piece, block.numbers.get() + piece.first * numbers_, block.labels.get() + piece.first * labels());
        });
        for (Piece& piece : pieces) join(piece, block.labels.get() + piece.first * labels());
    } catch (const NotPlain& problem) {
        failed_ = problem.what();
        throw;
    } catch (...) {
        failed_ = "the reader ran out of memory before";
        throw;
    }
    return block;
}

}  // namespace sx
