// What the parts of the WebAssembly binding share: how a function is exported, and the kernels.
#pragma once
#include <stdint.h>

#include "core.hpp"

#define SX_EXPORT(type, name) extern "C" __attribute__((export_name(#name))) type name

namespace sx {
namespace SX_BUILD {
extern const Kernels kernels;
}
namespace wasm {

inline const Kernels& core() { return SX_BUILD::kernels; }

inline Matrix dense(const double* x, int64_t n, int64_t d) {
    return {Layout::dense, Value::f64, Index::i32, x, nullptr, nullptr, n, d, d};
}

// Memory that the module's caller owns, or a Run; zeros to begin with. A page without memory left ends here.
double* doubles(int64_t n);

}  // namespace wasm
}  // namespace sx
