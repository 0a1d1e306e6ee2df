// What a cell of text is: missing, or which types it has. The same verdicts as tables/sources/cells.py, which says why.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text_numbers.hpp"

namespace sx::cells {

enum Type : std::uint8_t {  // in the order of cells.TYPES; a cell of text has none
    kWhole = 1,
    kNumber = 2,
    kFlag = 4,
    kDate = 8,
    kTimestamp = 16,
    kTimestampZone = 32,
    kTime = 64,
    kAny = 127,
};

using text::is_digit;

inline bool is_missing(std::string_view cell) {
    switch (cell.size()) {
        case 0: return true;
        case 2: return cell == "NA";
        case 3: return cell == "N/A" || cell == "NaN" || cell == "nan";
        case 4: return cell == "NULL" || cell == "null";
        default: return false;
    }
}

// How many bytes the white space at p takes, 0 if there is none: that of ASCII, of Unicode, and what has no width.
inline std::size_t space_at(const char* p, const char* end) {
    const auto a = static_cast<unsigned char>(*p);
    if (a == ' ' || (a >= '\t' && a <= '\r')) return 1;
    if (a < 0xC2 || end - p < 2) return 0;
    const auto b = static_cast<unsigned char>(p[1]);
    if (a == 0xC2) return b == 0x85 || b == 0xA0 ? 2 : 0;
    if (end - p < 3) return 0;
    const auto c = static_cast<unsigned char>(p[2]);
    const unsigned code = (a & 0x0Fu) << 12 | (b & 0x3Fu) << 6 | (c & 0x3Fu);
    if ((a & 0xF0) != 0xE0) return 0;
    const bool space = code == 0x1680 || code == 0x180E || (code >= 0x2000 && code <= 0x200F) ||
                       (code >= 0x2028 && code <= 0x202F) || code == 0x205F || code == 0x2060 || code == 0x3000 ||
                       code == 0xFEFF;
    return space ? 3 : 0;
}

// A cell of valid UTF-8 without the white space around it.
inline std::string_view stripped(std::string_view cell) {
    const char *p = cell.data(), *end = p + cell.size();
    for (std::size_t n; p != end && (n = space_at(p, end)) != 0;) p += n;
    while (p != end) {
        const char* last = end - 1;
        while (last != p && (static_cast<unsigned char>(*last) & 0xC0) == 0x80) --last;
        if (space_at(last, end) != std::size_t(end - last)) break;
        end = last;
    }
    return {p, std::size_t(end - p)};
}

inline bool is_word(std::string_view cell, std::string_view lower) {
    if (cell.size() != lower.size()) return false;
    for (std::size_t k = 0; k < cell.size(); ++k) {
        const char c = cell[k];
        if ((c >= 'A' && c <= 'Z' ? char(c + 32) : c) != lower[k]) return false;
    }
    return true;
}

inline const char* digits_from(const char* p, const char* end) {
    while (p != end && is_digit(*p)) ++p;
    return p;
}

// Whether unsigned digits without a zero in front, with their sign, are a number of 64 bits.
inline bool fits_64_bits(std::string_view digits, bool negative) {
    if (digits.size() != 19) return digits.size() < 19;
    return digits <= (negative ? "9223372036854775808" : "9223372036854775807");
}

// kNumber, with kWhole or not, for a text without white space around it; 0 if it is no number.
inline std::uint8_t number_types(std::string_view cell) {
    const char *p = cell.data(), *const end = p + cell.size();
    if (p == end) return 0;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    const char* const begin = p;
    p = digits_from(p, end);
    const std::string_view whole(begin, std::size_t(p - begin));
    if (p == end) {
        if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return 0;
        return fits_64_bits(whole, negative) ? kNumber | kWhole : kNumber;
    }
    if (*p == '.') {
        const char* const behind = digits_from(p + 1, end);
        if (whole.empty() && behind == p + 1) return 0;
        p = behind;
    } else if (whole.empty()) {
        const std::string_view word(begin, std::size_t(end - begin));
        return is_word(word, "inf") || is_word(word, "infinity") || is_word(word, "nan") ? kNumber : 0;
    }
    if (p == end) return kNumber;
    if (*p != 'e' && *p != 'E') return 0;
    if (++p != end && (*p == '+' || *p == '-')) ++p;
    return p != end && digits_from(p, end) == end ? kNumber : 0;
}

inline int two_digits(const char* p) { return (p[0] - '0') * 10 + (p[1] - '0'); }

// Read a date of the calendar and return where it ends, nullptr if there is none.
inline const char* read_date(const char* p, const char* end) {
    if (end - p < 8 || digits_from(p, p + 4) != p + 4 || p[4] != '-') return nullptr;
    const int year = two_digits(p) * 100 + two_digits(p + 2);
    int part[2];
    p += 4;
    for (int& number : part) {
        if (p == end || *p != '-' || p + 1 == end || !is_digit(p[1])) return nullptr;
        number = *++p - '0';
        if (++p != end && is_digit(*p)) number = number * 10 + (*p++ - '0');
    }
    constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const auto [month, day] = part;
    if (month < 1 || month > 12) return nullptr;
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + int(month == 2 && leap) ? p : nullptr;
}

// Read a time of the day and return where it ends, nullptr if there is none.
inline const char* read_time(const char* p, const char* end) {
    const char* const begin = p;
    p = digits_from(p, end);
    if (p == begin || p - begin > 2 || end - p < 3 || *p != ':') return nullptr;
    const int hour = p - begin == 2 ? two_digits(begin) : *begin - '0';
    if (!is_digit(p[1]) || !is_digit(p[2]) || p[1] > '5') return nullptr;
    const int minute = two_digits(p + 1);
    p += 3;
    if (hour > 24 || (hour == 24 && minute)) return nullptr;
    if (p == end || *p != ':') return p;
    const char* const second = p + 1;
    p = digits_from(second, end);
    if (p == second || p - second > 2 || (p - second == 2 && *second > '5')) return nullptr;
    if (hour == 24) return p - second == 2 && two_digits(second) == 0 ? p : nullptr;
    return p != end && *p == '.' ? digits_from(p + 1, end) : p;
}

inline bool is_zone(const char* p, const char* end) {
    if (end - p == 1) return *p == 'Z';
    if (end - p < 3 || (*p != '+' && *p != '-') || !is_digit(p[1]) || !is_digit(p[2])) return false;
    p += 3;
    if (p != end && *p == ':') ++p;
    else if (p == end) return true;
    return end - p == 2 && is_digit(p[0]) && p[0] <= '5' && is_digit(p[1]);
}

// The types of a cell that is not missing: bits of Type, none for text. `spaces`: whether it is a number between white
// space beyond ASCII.
inline std::uint8_t types_of(std::string_view cell, bool& spaces) {
    if (cell.empty()) return 0;
    const std::string_view inside = stripped(cell);
    if (const std::uint8_t types = number_types(inside)) {
        if (inside.size() != cell.size()) {
            for (const char c : cell) spaces |= static_cast<unsigned char>(c) >= 0x80;
        }
        return types;
    }
    const char *p = cell.data(), *const end = p + cell.size();
    if (!is_digit(*p)) return is_word(cell, "true") || is_word(cell, "false") ? kFlag : 0;
    if (read_time(p, end) == end) return kTime;
    const char* const date = read_date(p, end);
    if (!date) return 0;
    if (date == end) return kDate | kTimestamp;
    if (*date != ' ' && *date != 'T') return 0;
    const char* const time = read_time(date + 1, end);
    if (!time) return 0;
    return time == end ? kTimestamp : is_zone(time, end) ? kTimestampZone : 0;
}

}  // namespace sx::cells
