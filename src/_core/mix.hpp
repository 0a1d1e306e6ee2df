// Steele, Lea and Flood 2014: the finaliser of SplitMix64, a bijection. The generator itself is mix(state), with kGolden
// added to the state each time.
//
// Included inside a namespace: that of the core, or that of one build.

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
inline std::uint64_t mix(std::uint64_t v) {
    v += kGolden;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}
