#pragma once
#include <vector>

#include "core.hpp"

namespace sx {

std::vector<const Kernels*> usable_builds();  // oldest first
const Kernels* find_build(const char* name);  // null when this extension or this processor has no such build
const Kernels& kernels();                     // of the build in use

}  // namespace sx
