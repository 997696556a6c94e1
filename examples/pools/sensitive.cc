// Keys and passwords: wiped when they are freed, and left out of core files.
#include "tarn/sensitive.h"

#include <cstring>
#include <vector>

#include "tarn/object_pool.h"

namespace {

struct SessionKey {
  explicit SessionKey(unsigned char seed) { std::memset(bytes, seed, sizeof bytes); }

  unsigned char bytes[32];
};

}  // namespace

int main() {
  tarn::ObjectPool<SessionKey> keys({.name = "session keys", .sensitive = true});
  SessionKey* const old_key = keys.create(static_cast<unsigned char>(1));
  keys.destroy(old_key);  // wiped behind its destructor
  SessionKey* const key = keys.create(static_cast<unsigned char>(2));

  std::vector<char, tarn::sensitive_allocator<char>> password;
  // It grows, and leaves nothing behind.
  for (const char letter : {'s', 'e', 's', 'a', 'm', 'e'}) password.push_back(letter);
  void* const token = tarn::allocate_sensitive(100);
  if (token == nullptr) return 1;
  std::memset(token, 7, 100);
  tarn::deallocate_sensitive(token);

  const bool is_right = key->bytes[31] == 2 && password.size() == 6 && keys.live_count() == 1;
  keys.destroy(key);
  return is_right ? 0 : 1;
}
