#include "general/pool_header.h"

#include <cstring>

#include "base/text.h"
#include "base/utf8.h"
#include "os/fatal.h"

namespace tarn::internal {

void PoolHeader::set_name(const char* text, const char* fallback) {
  if (text == nullptr) text = fallback;
  std::size_t length = 0;
  // Names stand in messages of one line, and in formats that want characters.
  while (*text != '\0') {
    const std::size_t bytes = utf8::character_bytes(text);
    const auto first = static_cast<unsigned char>(*text);
    const bool is_shown = bytes != 0 && first >= ' ' && first != 0x7f;
    const std::size_t shown = is_shown ? bytes : 1;
    if (length + shown >= kNameBytes) break;
    std::memcpy(name + length, is_shown ? text : "_", shown);
    length += shown;
    text += shown;
  }
  name[length] = '\0';
}

void PoolHeader::report_live(std::size_t count, std::size_t object_bytes) const {
  FixedText<256> line;
  line.add("tarn: '").add(name).add("' ended with ").add_decimal(count);
  line.add(count == 1 ? " live object of " : " live objects of ").add_decimal(object_bytes).add(" bytes\n");
  os::write_line(line.data(), line.length());
}

}  // namespace tarn::internal
