#include "general/pool_header.h"

#include "base/text.h"
#include "os/fatal.h"

namespace tarn::internal {

void PoolHeader::set_name(const char* text, const char* fallback) {
  if (text == nullptr) text = fallback;
  std::size_t length = 0;
  for (; length + 1 < kNameBytes && text[length] != '\0'; ++length) {
    const auto byte = static_cast<unsigned char>(text[length]);
    name[length] = byte < ' ' || byte == 0x7f ? '_' : text[length];  // names stand in messages of one line
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
