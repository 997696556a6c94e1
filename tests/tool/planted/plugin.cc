// A plugin that caches each image it has drawn.
#include <memory>
#include <vector>

namespace {

struct Image {
  std::vector<unsigned char> pixels;
};

std::vector<std::unique_ptr<Image>> g_images;

void cache_image(int turn) {
  g_images.push_back(std::make_unique<Image>());
  g_images.back()->pixels.assign(1500 + turn % 3, 0xff);
}

}  // namespace

extern "C" void planted_render(int turn) { cache_image(turn); }
