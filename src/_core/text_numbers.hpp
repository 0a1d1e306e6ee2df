// Decimal numbers in text to the nearest double, ties to even; correctly rounded whatever the number of digits.
#pragma once
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

#ifndef __cpp_lib_to_chars
#include <clocale>
#include <cstdlib>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#endif

namespace sx {

constexpr std::int64_t kLongestNumber = 10'000;  // characters; no number that means something is longer

namespace text {

constexpr int kExactPowers = 22;  // 10^22 is the last power of ten that is a double
constexpr double kTens[kExactPowers + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kWholeTens[9] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

constexpr bool is_digit(char c) { return unsigned(c) - unsigned('0') < 10u; }

// The number written by eight digits, the first in the lowest byte: pairs, then fours, then all.
inline std::uint64_t eight_digits(std::uint64_t digits) {
    const std::uint64_t pairs = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFu;
    const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000FFFF0000FFFFu;
    return (fours * 10'000 + (fours >> 32)) & 0xFFFFFFFFu;
}

// Append the digits at p to `number` (modulo 2^64) and return where they end.
inline const char* read_digits(const char* p, const char* end, std::uint64_t& number) {
    if constexpr (std::endian::native == std::endian::little) {
        while (end - p >= 8) {
            std::uint64_t bytes;
            std::memcpy(&bytes, p, 8);
            bytes ^= 0x3030303030303030u;
            // The top bit of each byte above 9. A carry out of such a byte can spoil only the bytes behind it.
            const std::uint64_t others = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
            if (others == 0) {
                number = number * 100'000'000 + eight_digits(bytes);
                p += 8;
                continue;
            }
            const int n = std::countr_zero(others) >> 3;
            number = number * kWholeTens[n] + eight_digits((bytes << (56 - 8 * n)) << 8);  // behind zeros
            return p + n;
        }
    }
    while (p != end && is_digit(*p)) number = number * 10 + std::uint64_t(*p++ - '0');
    return p;
}

#ifdef __SIZEOF_INT128__
__extension__ using Wide = unsigned __int128;

// A power of five shifted until its top bit is set, and floor((2^128 - 1) / power) - 2^64.
struct Divisor {
    std::uint64_t power = 0, inverse = 0;
    int shift = 0;
};

constexpr int kMostFives = 27;  // 5^27 is the last power of five below 2^64
constexpr auto kFives = [] {
    std::array<Divisor, kMostFives + 1> fives{};
    std::uint64_t power = 1;
    for (Divisor& five : fives) {
        five.shift = std::countl_zero(power);
        five.power = power << five.shift;
        five.inverse = std::uint64_t(~Wide(0) / five.power);  // the quotient's upper word is 1
        power *= 5;
    }
    return fives;
}();

// number / 10^tens to the nearest double, for number > 0: the quotient by the power of five has 63 or 64 bits, and a
// remainder is kept as its last bit, so that the conversion to 53 bits rounds as the exact quotient would.
inline double over_tens(std::uint64_t number, int tens) {
    const Divisor& five = kFives[tens];
    const int lead = std::countl_zero(number);
    const std::uint64_t top = number << lead, upper = top >> 1, lower = top << 63;  // upper < 2^63 <= five.power
    // Division of two words by one with the inverse of the divisor; the guess is at most one off either way.
    const Wide guess = Wide(five.inverse) * upper + ((Wide(upper) << 64) | lower);
    std::uint64_t quotient = std::uint64_t(guess >> 64) + 1;
    std::uint64_t remainder = lower - quotient * five.power;
    if (remainder > std::uint64_t(guess)) {
        --quotient;
        remainder += five.power;
    }
    if (remainder >= five.power) {
        ++quotient;
        remainder -= five.power;
    }
    const int exponent = five.shift - lead - 63 - tens;
    const double scale = std::bit_cast<double>(std::uint64_t(1023 + exponent) << 52);
    return double(quotient | std::uint64_t(remainder != 0)) * scale;
}
#endif

// Any number without a sign, from its whole text, whose first digit other than zero counts 10^lead or so.
[[gnu::noinline]] inline double read_slowly(const char* begin, const char* end, std::int64_t lead) {
    double value = 0.0;
#ifdef __cpp_lib_to_chars
    const std::from_chars_result result = std::from_chars(begin, end, value);
    const bool out = result.ec == std::errc::result_out_of_range;
#else
#ifdef _WIN32
    static const _locale_t plain = _create_locale(LC_ALL, "C");
    value = _strtod_l(std::string(begin, end).c_str(), nullptr, plain);
#else
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    value = strtod_l(std::string(begin, end).c_str(), nullptr, plain);
#endif
    const bool out = false;
#endif
    if (out) value = lead > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    return value;
}

}  // namespace text

// Read the number at p: [+-] digits [. digits] [e [+-] digits], with at least one digit before or behind the point.
// Returns where it ends, or nullptr if there is none or one that is too long. One that is too large is read as an
// infinity. Neither infinities nor NaN can be written.
inline const char* read_number(const char* const begin, const char* const end, double& value,
                               const std::int64_t longest = kLongestNumber) {
    using namespace text;
    if (begin == end) return nullptr;
    const char* p = begin;
    const bool negative = *p == '-';
    p += int(negative) | int(*p == '+');  // no branch: signs cannot be foretold
    const char* const unsigned_text = p;
    std::uint64_t number = 0;
    if (end - p >= 2 && is_digit(*p) && !is_digit(p[1])) {  // most often; what follows need not wait for a count
        number = std::uint64_t(*p++ - '0');
    } else {
        p = read_digits(p, end, number);
    }
    std::int64_t digits = p - unsigned_text, exponent = 0;
    if (p != end && *p == '.') {
        const char* const behind = ++p;
        p = read_digits(p, end, number);
        exponent = behind - p;
        digits -= exponent;
    }
    if (digits == 0) return nullptr;
    if (p != end && (*p | 0x20) == 'e') {
        ++p;
        const bool falls = p != end && *p == '-';
        p += falls || (p != end && *p == '+');
        if (p == end || !is_digit(*p)) return nullptr;
        std::int64_t written = 0;
        while (p != end && is_digit(*p)) {
            if (written < 1'000'000) written = written * 10 + (*p - '0');
            ++p;
        }
        exponent += falls ? -written : written;
    }
    if (p - begin > longest) return nullptr;
    double size;
    if (digits <= 19 && number <= (std::uint64_t(1) << 53) && -kExactPowers <= exponent && exponent <= kExactPowers &&
        FLT_EVAL_METHOD == 0) {
        size = exponent < 0 ? double(number) / kTens[-exponent] : double(number) * kTens[exponent];  // rounds once
#ifdef __SIZEOF_INT128__
    } else if (digits <= 19 && number != 0 && -kMostFives <= exponent && exponent <= 0) {
        size = over_tens(number, int(-exponent));
#endif
    } else {
        size = read_slowly(unsigned_text, p, digits + exponent);
    }
    value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | std::uint64_t(negative) << 63);
    return p;
}

}  // namespace sx
