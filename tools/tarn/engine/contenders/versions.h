// Which version of an allocator is compared, for those who read a result later.
#pragma once
#include <string>

#include "engine/contenders/allocators.h"
#include "system/processes/signals.h"

namespace tarn::tool {

/// The allocator's own, else that of the Debian package that has its library; empty where dpkg does not know.
std::string version_of(const Allocator& allocator, SignalWatch& signals);

}  // namespace tarn::tool
