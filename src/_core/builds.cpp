// The builds of the kernels that this extension holds and the one that this processor should use.
#include "builds.hpp"

#include <cstring>

namespace sx {

#if defined(SX_X86_LEVELS)
namespace v2 {
extern const Kernels kernels;
}
namespace v3 {
extern const Kernels kernels;
}
namespace v4 {
extern const Kernels kernels;
}

std::vector<const Kernels*> usable_builds() {
    __builtin_cpu_init();
    std::vector<const Kernels*> usable;
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) usable.push_back(&v2::kernels);
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("fma");
#if !defined(__clang__) && __GNUC__ >= 11  // the rest of the level, where the compiler can ask for it
    v3 = v3 && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe") && __builtin_cpu_supports("f16c");
#endif
    if (v3) {
        usable.push_back(&v3::kernels);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl")) {
            usable.push_back(&v4::kernels);
        }
    }
    return usable;
}
#else
namespace native {
extern const Kernels kernels;
}

std::vector<const Kernels*> usable_builds() { return {&native::kernels}; }
#endif

const Kernels* find_build(const char* name) {
    for (const Kernels* build : usable_builds()) {
        if (std::strcmp(build->name, name) == 0) return build;
    }
    return nullptr;
}

}  // namespace sx
