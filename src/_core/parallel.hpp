// Threads: one piece of work split over a few of them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace sx {

constexpr std::int64_t kMostThreads = 256;
constexpr double kWorthThreads = 4e6;  // products, below which other threads would only be waited for

// How many threads a product may use that this thread asks for; its bits are the same with any number.
inline thread_local int product_threads = 1;

inline int threads_for(double work) { return work < kWorthThreads ? 1 : product_threads; }

// Split `n` things over at most `n_jobs` threads: work(first, last).
template <class Work>
void in_parallel(std::int64_t n, int n_jobs, Work work) {
    const std::int64_t parts = std::max<std::int64_t>(1, std::min<std::int64_t>({n_jobs, n, kMostThreads}));
    std::vector<std::exception_ptr> failed(parts);
    auto part = [&](std::int64_t k) {
        try {
            work(n * k / parts, n * (k + 1) / parts);
        } catch (...) {
            failed[k] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(parts);
    std::int64_t here = 1;  // the parts from 0 to here are done in this thread: all, if no other can be started
    try {
        for (std::int64_t k = parts - 1; k >= 1; --k) threads.emplace_back(part, k);
    } catch (const std::system_error&) {
        here = parts - std::int64_t(threads.size());
    }
    for (std::int64_t k = 0; k < here; ++k) part(k);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& problem : failed) {
        if (problem) std::rethrow_exception(problem);
    }
}

}  // namespace sx
