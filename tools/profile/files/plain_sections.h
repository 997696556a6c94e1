// Files whose sections are compressed by zstd, which libelf reads only from 0.189 on.
#pragma once
#include "observer/files/input_file.h"

namespace tarn::profile {

/// \returns the file; where it has sections compressed by zstd, a copy in memory in which they are not.
observer::InputFile with_plain_sections(observer::InputFile file);

}  // namespace tarn::profile
