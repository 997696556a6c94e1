// The profile for `go tool pprof` and all that read its format (profile.proto, compressed by gzip).
#pragma once
#include <cstdint>
#include <string>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// The file's bytes. Sample types are those of Go's heap profile; the one shown first is inuse_space.
/// \param time_ns when the profile was taken, since 1970
std::string pprof_file(const NamedProfile& profile, std::int64_t time_ns);

}  // namespace tarn::profile
