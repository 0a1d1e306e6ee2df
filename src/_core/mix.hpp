// Steele, Lea and Flood 2014: the finaliser of SplitMix64, a bijection.
//
// Included inside a namespace: that of the core, or that of one build.

inline std::uint64_t mix(std::uint64_t v) {
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}
