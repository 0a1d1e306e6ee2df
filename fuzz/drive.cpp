// A plain loop in the place of libFuzzer, for compilers without it: SECONDS FOLDER CORPUS DICTIONARY. Inputs of the
// corpus are changed at random (always the same ones, in the same order) and run; one that ends the program is written
// to FOLDER/crash.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

std::string input, crash;
std::int64_t runs = 0;

void save() {
    std::ofstream(crash, std::ios::binary) << input;
    std::fprintf(stderr, "after %lld inputs; this one is in %s\n", static_cast<long long>(runs), crash.c_str());
}

void aborted(int) {
    save();
    std::_Exit(1);
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The words between quotes of a dictionary of libFuzzer; \xNN is one byte.
std::vector<std::string> words(const std::filesystem::path& path) {
    std::vector<std::string> found;
    const std::string text = content(path);
    const std::regex quoted("\"((?:[^\"\\\\]|\\\\.)*)\"");
    for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
        const std::string raw = (*at)[1];
        std::string word;
        for (std::size_t k = 0; k < raw.size(); ++k) {
            if (raw[k] != '\\') word += raw[k];
            else if (raw[k + 1] == 'x') word += char(std::stoi(raw.substr(k + 2, 2), nullptr, 16)), k += 3;
            else word += raw[++k];
        }
        found.push_back(word);
    }
    return found;
}

}  // namespace

int main(int count, char** given) {
    if (count != 5) return 2;
    crash = std::string(given[2]) + "/crash";
    __sanitizer_set_death_callback(save);
    std::signal(SIGABRT, aborted);
    std::vector<std::string> pool;
    for (const auto& entry : std::filesystem::directory_iterator(given[3])) pool.push_back(content(entry.path()));
    std::sort(pool.begin(), pool.end());
    if (pool.empty()) pool.emplace_back();
    const std::vector<std::string> known = words(given[4]);
    std::mt19937_64 chance(0);
    const auto below = [&](std::size_t n) { return n ? chance() % n : 0; };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoll(given[1]));
    for (; runs % 256 || std::chrono::steady_clock::now() < until; ++runs) {
        input = pool[below(pool.size())];
        for (std::size_t changes = 1 + below(6); changes; --changes) {
            const std::size_t at = below(input.size() + 1), length = 1 + below(8);
            const std::string& other = pool[below(pool.size())];
            switch (below(6)) {
                case 0: if (at < input.size()) input[at] = char(below(256)); break;
                case 1: input.erase(at, length); break;
                case 2: input.insert(at, input.substr(below(input.size() + 1), length * 4)); break;
                case 3: if (!known.empty()) input.insert(at, known[below(known.size())]); break;
                case 4: input.insert(at, other.substr(below(other.size() + 1), length * 8)); break;
                default: if (at < input.size()) input[at] ^= char(1 << below(8));
            }
        }
        if (input.size() > 4096) input.resize(4096);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    }
    std::printf("%lld inputs without a failure\n", static_cast<long long>(runs));
    return 0;
}
