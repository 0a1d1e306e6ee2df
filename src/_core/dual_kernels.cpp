// One build of the loops over kernel rows. CMake compiles this file once for each instruction set, as it does kernels.cpp.
#include "dual.hpp"

#include <math.h>
#include <string.h>

#include "core.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__GNUC__)
#define SX_HOT __attribute__((always_inline)) inline
#define SX_COLD __attribute__((noinline))
#else
#define SX_HOT inline
#define SX_COLD
#endif

namespace sx {
namespace SX_BUILD {
namespace {

#include "kernel_rows.hpp"
#include "smo.hpp"

}  // namespace

extern const DualKernels dual_kernels;
const DualKernels dual_kernels = {exponentials, {add_rows<float>, smo<float>}, {add_rows<double>, smo<double>}};

}  // namespace SX_BUILD
}  // namespace sx
