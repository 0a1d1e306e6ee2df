// The order in which an epoch of dual coordinate ascent (margin.hpp) visits the points.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "margin.hpp"

namespace sx {

struct Random {  // splitmix64 (Steele, Lea, Flood 2014)
    std::uint64_t state;

    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    std::uint32_t below(std::uint32_t n) { return std::uint32_t(((next() >> 32) * n) >> 32); }
};

// The points that wait no longer, in blocks of neighbours that are shuffled as blocks: within one, memory is read in
// order, and the blocks are small enough that a file sorted by class does no harm. The others wait one epoch less.
inline std::vector<std::uint32_t> ascent_order(Point* points, std::int64_t n, std::int64_t block, std::uint64_t seed,
                                               std::uint64_t epoch) {
    std::vector<std::uint32_t> order, rows;
    rows.reserve(n);
    for (std::int64_t i = 0; i < n; ++i) {
        if (points[i].wait > 0) {
            --points[i].wait;
        } else {
            rows.push_back(std::uint32_t(i));
        }
    }
    Random random{seed * 0xd1342543de82ef95u + epoch};
    const std::int64_t active = rows.size();
    std::vector<std::uint32_t> blocks((active + block - 1) / block);
    for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = std::uint32_t(k);
    for (std::size_t k = blocks.size(); k > 1; --k) std::swap(blocks[k - 1], blocks[random.below(std::uint32_t(k))]);
    order.reserve(active);
    for (const std::uint32_t b : blocks) {
        const std::int64_t from = std::int64_t(b) * block, to = std::min(from + block, active);
        order.insert(order.end(), rows.begin() + from, rows.begin() + to);
    }
    return order;
}

}  // namespace sx
