#include "tune/class_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/units.h"
#include "tarn/detail/bins.h"

namespace tarn::tune {
namespace {

using namespace internal;

constexpr double kOsPageBytes = 4096;
constexpr unsigned kSizesPerLine = 12;

std::uint64_t floor_of(std::uint64_t size) {
  return size <= detail::kTinyLimit ? detail::kTinyLimit : (size + 15) / 16 * 16;
}

/// Sizes that may be classes and serve each other's requests, the last of which is a class.
struct Part {
  std::vector<std::uint32_t> candidates;
  std::vector<std::uint64_t> counts;  // of blocks that each candidate holds and no smaller one
  unsigned most;                      // classes
};

/// A choice of classes of one part for each number of them.
struct Choices {
  std::vector<double> cost;                         // by the number of classes with blocks
  std::vector<std::vector<std::uint32_t>> classes;  // the same
};

constexpr std::array<std::uint32_t, 4> kPartEnds = {detail::kSmallLimit, detail::kSteppedLimit,
                                                    kOwnSlabBlockBytes, detail::kMediumLimit};

Part part_up_to(std::size_t index, const SizeHistogram& histogram, unsigned most) {
  const std::uint32_t first = index == 0 ? 0 : kPartEnds[index - 1], last = kPartEnds[index];
  Part part{{}, {}, std::min(most, index == 1 ? kMostMediumSizes : BlockSizes::kMost)};
  for (std::uint32_t bytes = first + 8; bytes <= last; bytes += 8)
    if (may_be_class(bytes)) part.candidates.push_back(bytes);
  part.counts.resize(part.candidates.size());
  const auto end = histogram.counts().upper_bound(last);
  for (auto at = histogram.counts().upper_bound(first); at != end; ++at) {
    const auto found = std::lower_bound(part.candidates.begin(), part.candidates.end(), at->first);
    part.counts[static_cast<std::size_t>(found - part.candidates.begin())] += at->second;
  }
  return part;
}

/// The least cost of the first candidates with so many classes, the last of them a class.
class PartFit {
 public:
  PartFit(const Part& part, double price)
      : part_(part), price_(price), before_(part.candidates.size() + 1), pages_before_(before_.size()) {
    for (std::size_t i = 0; i < part.counts.size(); ++i) {
      before_[i + 1] = before_[i] + part.counts[i];
      const double bytes = bytes_of_block(part.candidates[i], part.candidates[i]);
      pages_before_[i + 1] = pages_before_[i] + static_cast<double>(part.counts[i]) * bytes;
    }
    const std::size_t width = before_.size();
    cost_.assign(part.most + 1, std::vector<double>(width, std::numeric_limits<double>::infinity()));
    from_.assign(part.most + 1, std::vector<std::size_t>(width, 0));
    cost_[0][0] = 0;
    for (unsigned classes = 1; classes <= part.most; ++classes)
      for (std::size_t end = 1; end < width; ++end) choose(classes, end);
  }

  /// By the number of classes, the last candidate among them. Some numbers are impossible.
  Choices choices() const {
    Choices all;
    const std::size_t end = before_.size() - 1;
    for (unsigned classes = 0; classes <= part_.most; ++classes) {
      all.cost.push_back(cost_[classes][end]);
      all.classes.push_back(std::isinf(all.cost.back()) ? std::vector<std::uint32_t>{}
                                                        : classes_of(classes, end));
    }
    return all;
  }

 private:
  void choose(unsigned classes, std::size_t end) {
    const std::uint32_t block_bytes = part_.candidates[end - 1];
    const double bytes = bytes_of_block(block_bytes, block_bytes);
    for (std::size_t start = classes - 1; start < end; ++start) {
      const std::uint64_t blocks = before_[end] - before_[start];
      const double pages = pages_before_[end] - pages_before_[start];
      const double of_blocks = block_bytes > kOwnSlabBlockBytes ? pages : static_cast<double>(blocks) * bytes;
      const double cost = cost_[classes - 1][start] + of_blocks + (blocks != 0 ? price_ : 0);
      if (cost >= cost_[classes][end]) continue;
      cost_[classes][end] = cost;
      from_[classes][end] = start;
    }
  }
  std::vector<std::uint32_t> classes_of(unsigned classes, std::size_t end) const {
    std::vector<std::uint32_t> sizes;
    for (; classes != 0; end = from_[classes--][end]) sizes.push_back(part_.candidates[end - 1]);
    return sizes;
  }

  const Part& part_;
  double price_;
  std::vector<std::uint64_t> before_;      // blocks of the candidates before each
  std::vector<double> pages_before_;       // their bytes, where a block has its pages to itself
  std::vector<std::vector<double>> cost_;  // by number of classes, then by candidates
  std::vector<std::vector<std::size_t>> from_;
};

/// All small sizes as classes.
Choices keep_all(const Part& part, double price) {
  Choices all;
  all.cost.assign(part.candidates.size(), std::numeric_limits<double>::infinity());
  all.classes.resize(part.candidates.size() + 1);
  all.classes.back() = part.candidates;
  double cost = 0;
  for (std::size_t i = 0; i < part.candidates.size(); ++i)
    cost += static_cast<double>(part.counts[i]) * bytes_of_block(part.candidates[i], part.candidates[i]) +
            (part.counts[i] != 0 ? price : 0);
  all.cost.push_back(cost);
  return all;
}

/// The best of both parts together, for each number of classes.
Choices join(const Choices& a, const Choices& b, unsigned most) {
  Choices joined;
  joined.cost.assign(most + 1, std::numeric_limits<double>::infinity());
  joined.classes.resize(most + 1);
  for (std::size_t i = 0; i < a.cost.size() && i <= most; ++i)
    for (std::size_t j = 0; j < b.cost.size() && i + j <= most; ++j) {
      if (a.cost[i] + b.cost[j] >= joined.cost[i + j]) continue;
      joined.cost[i + j] = a.cost[i] + b.cost[j];
      joined.classes[i + j] = a.classes[i];
      joined.classes[i + j].insert(joined.classes[i + j].end(), b.classes[j].begin(), b.classes[j].end());
    }
  return joined;
}

bool has_blocks_between(const SizeHistogram& histogram, std::uint32_t above, std::uint32_t up_to) {
  const auto first = histogram.counts().upper_bound(above);
  return first != histogram.counts().end() && first->first <= up_to;
}

/// Whether requests for a size would get a block that is more than half too large, only because few blocks
/// between are live. Below 1 KiB that is what merging is for.
bool is_served_too_coarsely(std::uint32_t bytes, std::uint32_t served_by) {
  return bytes > detail::kSmallLimit && 2 * served_by > 3 * bytes;
}

/// Adds the classes of `default` that take no live block from another, or some from one that is far larger.
void serve_what_was_not_seen(std::set<std::uint32_t>& sizes, const SizeHistogram& histogram, unsigned most) {
  auto medium = static_cast<unsigned>(std::count_if(sizes.begin(), sizes.end(), BlockSizes::is_medium));
  for (const std::uint32_t bytes : sizes_of_preset(kSizeClassPresets[0])) {
    const auto next = sizes.lower_bound(bytes);
    const std::uint32_t before = next == sizes.begin() ? 0 : *std::prev(next);
    const bool is_medium = BlockSizes::is_medium(bytes);
    if (sizes.size() == most || (is_medium && medium == kMostMediumSizes)) continue;
    if (*next == bytes) continue;
    if (has_blocks_between(histogram, before, bytes) && !is_served_too_coarsely(bytes, *next)) continue;
    sizes.insert(next, bytes);
    medium += is_medium;
  }
}

}  // namespace

double bytes_of_block(std::uint32_t block_bytes, std::uint64_t request) {
  if (block_bytes > kOwnSlabBlockBytes)
    return std::ceil(static_cast<double>(request) / kOsPageBytes) * kOsPageBytes;
  const ClassGeometry geometry = make_geometry(block_bytes, coloured_stride(block_bytes));
  return static_cast<double>(bytes_of(geometry.slab_pages)) / geometry.block_count;
}

TableCost cost_of(const BlockSizes& table, const SizeHistogram& histogram, double price) {
  TableCost cost;
  std::uint32_t last = 0;
  for (const auto& [size, count] : histogram.counts()) {
    if (size > detail::kMediumLimit) break;
    const std::uint32_t block_bytes = *std::lower_bound(table.begin(), table.end(), size);
    cost.requested += size * count;
    cost.floor += floor_of(size) * count;
    cost.blocks += static_cast<double>(count) * bytes_of_block(block_bytes, size);
    if (block_bytes != last) ++cost.classes;
    last = block_bytes;
  }
  cost.price = price * cost.classes;
  return cost;
}

unsigned fewest_classes(SmallClasses small_classes) {
  const unsigned small = detail::kSmallLimit / 16 + 1;
  return static_cast<unsigned>(kPartEnds.size()) - 1 + (small_classes == SmallClasses::kKeepAll ? small : 1);
}

BlockSizes fit(const SizeHistogram& histogram, const FitOptions& options) {
  if (options.most_classes < fewest_classes(options.small_classes))
    throw BadInput(fmt::format("a table has at least {} classes", fewest_classes(options.small_classes)));
  const unsigned most = std::min(options.most_classes, BlockSizes::kMost);
  Choices all{{0}, {{}}};
  for (std::size_t i = 0; i < kPartEnds.size(); ++i) {
    const Part part = part_up_to(i, histogram, most);
    const bool keeps_all = i == 0 && options.small_classes == SmallClasses::kKeepAll;
    all = join(all, keeps_all ? keep_all(part, options.price) : PartFit(part, options.price).choices(), most);
  }
  const auto best = std::min_element(all.cost.begin(), all.cost.end()) - all.cost.begin();
  const std::vector<std::uint32_t>& chosen = all.classes[static_cast<std::size_t>(best)];
  std::set<std::uint32_t> sizes(chosen.begin(), chosen.end());
  serve_what_was_not_seen(sizes, histogram, most);
  BlockSizes table;
  for (const std::uint32_t bytes : sizes) table.add(bytes);
  return table;
}

std::string text_of_table(const BlockSizes& table, const std::string& comment) {
  std::string text;
  for (std::size_t start = 0; start < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', start), comment.size());
    text += "# " + comment.substr(start, end - start) + "\n";
    start = end + 1;
  }
  text += "tarn-classes 1\n";
  unsigned on_line = 0;
  for (const std::uint32_t bytes : table) {
    text += std::to_string(bytes);
    text += ++on_line % kSizesPerLine == 0 || bytes == table.last() ? '\n' : ' ';
  }
  return text;
}

}  // namespace tarn::tune
