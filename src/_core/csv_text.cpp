#include "csv_text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sx {

namespace {

const char* first_not_utf8(const char* p, const char* end) {
    while (p != end) {
        const auto a = static_cast<unsigned char>(*p);
        if (a < 0x80) {
            ++p;
            continue;
        }
        const int more = a >= 0xC2 && a <= 0xDF ? 1 : (a & 0xF0) == 0xE0 ? 2 : a >= 0xF0 && a <= 0xF4 ? 3 : 0;
        if (more == 0 || end - p <= more) return p;
        for (int k = 1; k <= more; ++k) {
            if ((static_cast<unsigned char>(p[k]) & 0xC0) != 0x80) return p;
        }
        const auto b = static_cast<unsigned char>(p[1]);  // no longer form than needed, no surrogate, not beyond 10FFFF
        if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F) || (a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F)) {
            return p;
        }
        p += more + 1;
    }
    return nullptr;
}

bool is_ascii(const char* p, const char* end) {
    unsigned char any = 0;
    for (; p != end; ++p) any |= static_cast<unsigned char>(*p);
    return any < 0x80;
}

}  // namespace

// Count in bytes, as many at once as a vector has, and add them up before they can overflow.
std::int64_t count_lines(const char* p, const char* end) {
    constexpr std::ptrdiff_t lanes = 64;
    std::int64_t lines = 0;
    while (end - p >= lanes) {
        std::uint8_t counts[lanes] = {};
        for (std::ptrdiff_t turns = std::min<std::ptrdiff_t>((end - p) / lanes, 255); turns > 0; --turns, p += lanes) {
            for (std::ptrdiff_t k = 0; k < lanes; ++k) counts[k] += p[k] == '\n';
        }
        for (const std::uint8_t count : counts) lines += count;
    }
    return lines + std::count(p, end, '\n');
}

CsvText::CsvText(std::string delimiter, std::size_t columns, int n_jobs, std::int64_t longest_line, std::size_t piece)
    : delimiter_(std::move(delimiter)),
      columns_(columns),
      n_jobs_(n_jobs),
      longest_line_(longest_line),
      piece_(piece),
      spaces_(delimiter_ != " ") {
    for (const char c : {delimiter_[0], '\n', '\r'}) special_[static_cast<unsigned char>(c)] = true;
}

void CsvText::begin(std::int64_t line) {
    held_.clear();
    scanned_ = 0;
    state_ = State::start;
    header_ = whole_ = true;
    put_off_.reset();
    block_ = rest_ = end_ = nullptr;
    line_ = line;
}

std::int64_t CsvText::line_of(const char* p) const {
    std::int64_t lines = count_lines(block_, p);
    for (const char* r = block_; r != p && (r = static_cast<const char*>(std::memchr(r, '\r', p - r))); ++r) {
        lines += r + 1 == end_ || r[1] != '\n';
    }
    return line_ + lines;
}

void CsvText::refuse(const char* word, const char* row, std::int64_t column, std::string_view cell) const {
    throw CsvProblem(word, line_of(row), column, cell);
}

std::vector<CsvText::Piece> CsvText::cut(const char* bytes, std::size_t size, bool last) {
    if (!whole_) throw std::invalid_argument("the reader has met a problem");
    whole_ = false;  // until it is known that all goes well
    if (!held_.empty()) {
        held_.append(bytes, size);
        bytes = held_.data();
        size = held_.size();
    }
    std::vector<Piece> pieces;
    const char *const end = bytes + size, *p = bytes + scanned_, *row = bytes, *piece = bytes;
    block_ = rest_ = bytes;
    end_ = end;
    std::int64_t first = 0, rows = 0;
    // Rows before a row that is refused are read first: what is said does not depend on the blocks.
    const auto put_off = [&](const char* word) { put_off_ = CsvProblem(word, line_of(row)); };
    const auto end_row = [&] {
        longest_seen_ = std::max<std::int64_t>(longest_seen_, p - row);
        if (p - row > longest_line_) return put_off("long");
        if (header_) {
            header_ = false;
            piece = p;
        } else {
            rows += columns_ == 1 || !is_end(*row);
        }
        row = p;
        state_ = State::start;
        if (std::size_t(p - piece) >= piece_) {
            pieces.push_back({piece, p, first, rows});
            first += rows;
            rows = 0;
            piece = p;
        }
    };
    while (p != end && !put_off_) {
        if (state_ == State::quoted) {
            p = static_cast<const char*>(std::memchr(p, '"', std::size_t(end - p)));
            if (!p) {
                p = end;
                break;
            }
            ++p;
            state_ = State::closed;
            continue;
        }
        if (state_ == State::plain) {
            while (p != end && !special_[static_cast<unsigned char>(*p)]) ++p;
            if (p == end) break;
        }
        const char c = *p;
        if (is_end(c)) {
            if (c == '\r' && p + 1 == end && !last) break;  // what follows decides
            p = behind_end(p, end);
            line_ends_ |= c == '\n' ? 1 : p[-1] == '\n' ? 2 : 4;
            end_row();
        } else if (c == delimiter_[0]) {
            if (std::size_t(end - p) < delimiter_.size() && !last) break;
            const bool is = is_delimiter(p, end);
            p += is ? delimiter_.size() : 1;
            state_ = is ? State::start : State::plain;
        } else {
            if (c == '"' && state_ != State::plain) {
                state_ = State::quoted;
            } else if (c != ' ' || !spaces_) {
                state_ = State::plain;
            }
            ++p;
        }
    }
    if (!put_off_ && p - row > longest_line_) put_off("long");
    if (last && row != end && !put_off_) {
        p = end;
        if (state_ == State::quoted) {
            put_off("quote");
        } else {
            end_row();
        }
    }
    if (piece != row) pieces.push_back({piece, row, first, rows});
    scanned_ = std::size_t(p - row);
    rest_ = row;
    rows_ += first + rows;
    return pieces;
}

bool CsvText::first_row(std::string_view text, bool last, std::vector<std::string>& cells) {
    const char *p = text.data(), *const end = p + text.size();
    block_ = rest_ = p;
    end_ = end;
    std::string unquoted;
    for (;; p += delimiter_.size()) {
        try {
            cells.emplace_back(read_cell(p, end, block_, unquoted));
        } catch (const CsvProblem&) {
            if (last) throw;
            return false;
        }
        if (p == end) return last;
        if (is_end(*p)) return true;
    }
}

void CsvText::let_go() {
    if (put_off_) throw *put_off_;
    line_ = line_of(rest_);
    if (block_ == held_.data()) {
        held_.erase(0, std::size_t(rest_ - block_));
    } else {
        held_.assign(rest_, std::size_t(end_ - rest_));
    }
    block_ = rest_ = end_ = nullptr;
    whole_ = true;
}

const char* CsvText::first_not_text(const Piece& piece) const {
    const auto* nul = static_cast<const char*>(std::memchr(piece.begin, 0, std::size_t(piece.end - piece.begin)));
    const char* const end = nul ? nul : piece.end;
    const char* const bad = is_ascii(piece.begin, end) ? nullptr : first_not_utf8(piece.begin, end);
    return bad ? bad : end;
}

// Read the cell at p and lead p behind it: to a delimiter, a line end or the end.
std::string_view CsvText::read_cell(const char*& p, const char* end, const char* row, std::string& unquoted) const {
    const char* q = p;
    if (spaces_) {
        while (q != end && *q == ' ') ++q;
    }
    if (q == end || *q != '"') {
        const char* const begin = p;
        for (;; ++p) {
            while (p != end && !special_[static_cast<unsigned char>(*p)]) ++p;
            if (p == end || is_end(*p) || is_delimiter(p, end)) return {begin, std::size_t(p - begin)};
        }
    }
    const char* from = ++q;
    unquoted.clear();
    bool doubled = false;
    for (;; q += 2) {
        q = static_cast<const char*>(std::memchr(q, '"', std::size_t(end - q)));
        if (!q) refuse("quote", row);
        if (q + 1 == end || q[1] != '"') break;
        unquoted.append(from, q + 1);
        from = q + 2;
        doubled = true;
    }
    std::string_view text(from, std::size_t(q - from));
    if (doubled) text = unquoted.append(from, q);
    ++q;
    if (spaces_) {
        while (q != end && *q == ' ') ++q;
    }
    if (q != end && !is_end(*q) && !is_delimiter(q, end)) refuse("after", row, -1, text);
    p = q;
    return text;
}

}  // namespace sx
