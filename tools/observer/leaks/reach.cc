// Marking what can be reached.
#include "observer/leaks/reach.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/leak_rules.h"
#include "observer/objects/census.h"
#include "observer/objects/joined_reader.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
/// Larger blocks are read only where they were written: a page table's worth of zeros is not worth it.
constexpr std::size_t kLargeBlock = std::size_t{256} << 10;

template <typename Visit>
void for_each_piece(Address start, Address end, Visit visit) {
  start = (start + sizeof(Address) - 1) & ~(sizeof(Address) - 1);
  for (; start < end; start += kPieceBytes) visit(start, std::min<Address>(end, start + kPieceBytes));
}

/// Calls visit(start, end) for the pieces of a range that hold something.
template <typename Visit>
void for_each_written_piece(const Residency* written, Address start, Address end, Visit visit) {
  if (written == nullptr) return for_each_piece(start, end, visit);
  written->for_each_in(start, end, [&](Address s, Address e) { for_each_piece(s, e, visit); });
}

}  // namespace

/// Spans that have marked blocks to scan. It ends when every worker waits: then nothing can be added.
class Reach::SpanQueue {
 public:
  explicit SpanQueue(unsigned workers) : workers_(workers) {}

  void push(std::uint32_t span) {
    const std::lock_guard lock(mutex_);
    spans_.push_back(span);
    if (waiting_ > 0) changed_.notify_one();
  }
  /// Waits for a span. \returns nothing when all is done.
  std::optional<std::uint32_t> pop() {
    std::unique_lock lock(mutex_);
    if (++waiting_ == workers_ && spans_.empty()) is_done_ = true;
    if (is_done_) changed_.notify_all();
    changed_.wait(lock, [this] { return is_done_ || !spans_.empty(); });
    if (is_done_) return std::nullopt;
    --waiting_;
    const std::uint32_t span = spans_.front();
    spans_.pop_front();
    return span;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint32_t> spans_;
  const unsigned workers_;
  unsigned waiting_ = 0;
  bool is_done_ = false;
};

class Reach::Worker {
 public:
  explicit Worker(Reach& reach) : reach_(reach), reader_(reach.source_, Use{this}) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(const std::function<void(std::uint64_t)>& watch);
  void scan(const std::byte* content, std::size_t bytes);
  void consider(Address word);

 private:
  struct Use {
    Worker* worker;
    void operator()(int, const std::byte* content, std::size_t bytes) const { worker->scan(content, bytes); }
  };
  void scan_roots();
  void scan_span(std::uint32_t span);
  void want_block(const Block& block);
  void want(Address start, Address end) { reader_.want(start, end - start, 0); }
  void finish_reading();

  Reach& reach_;
  JoinedReader<int, Use> reader_;
  std::uint64_t told_read_ = 0, told_unread_ = 0;
};

void Reach::Worker::run(const std::function<void(std::uint64_t)>& watch) {
  scan_roots();
  while (const std::optional<std::uint32_t> span = reach_.queue_->pop()) {
    scan_span(*span);
    if (watch) watch(reach_.read_bytes());
  }
}

void Reach::Worker::scan_roots() {
  for (std::size_t i; (i = reach_.next_piece_.fetch_add(1)) < reach_.root_pieces_.size();)
    want(reach_.root_pieces_[i].start, reach_.root_pieces_[i].end);
  finish_reading();
}

void Reach::Worker::scan_span(std::uint32_t span) {
  // Whoever marks a block after this finds the span not queued, and queues it.
  reach_.queued_[span].exchange(false, std::memory_order_acq_rel);
  const BlockTable& table = reach_.table_;
  for (std::uint32_t i = 0; i < table.word_count(span); ++i) {
    const std::size_t word = std::size_t{table.first_word(span)} + i;
    const std::uint64_t marked = reach_.marked_[word].load(std::memory_order_relaxed);
    if (marked == 0) continue;
    const std::uint64_t scanned = reach_.scanned_[word].fetch_or(marked, std::memory_order_relaxed);
    for (std::uint64_t bits = marked & ~scanned; bits != 0; bits &= bits - 1)
      want_block(table.block_at({span, i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))}));
  }
  finish_reading();
}

void Reach::Worker::want_block(const Block& block) {
  for_each_written_piece(block.bytes < kLargeBlock ? nullptr : reach_.written_, block.address,
                         block.address + block.bytes,
                         [this](Address start, Address end) { want(start, end); });
}

void Reach::Worker::finish_reading() {
  reader_.flush();
  reach_.read_bytes_ += reader_.read_bytes() - told_read_;
  reach_.unread_bytes_ += reader_.unread_bytes() - told_unread_;
  told_read_ = reader_.read_bytes();
  told_unread_ = reader_.unread_bytes();
}

void Reach::Worker::scan(const std::byte* content, std::size_t bytes) {
  for_each_word(content, bytes, [this](Address word) { consider(word); });
}

void Reach::Worker::consider(Address word) {
  word &= internal::kBitsOfAddress;
  if (!reach_.table_.is_near(word)) return;
  const Place place = reach_.table_.find(word);
  if (place.is_none()) return;
  const std::uint64_t number = reach_.table_.number_of(place), bit = std::uint64_t{1} << number % 64;
  std::atomic<std::uint64_t>& bits = reach_.marked_[number / 64];
  if ((bits.load(std::memory_order_relaxed) & bit) != 0) return;
  if ((bits.fetch_or(bit, std::memory_order_relaxed) & bit) != 0 || reach_.is_sensitive(place.span)) return;
  if (!reach_.queued_[place.span].exchange(true, std::memory_order_acq_rel)) reach_.queue_->push(place.span);
}

Reach::Reach(const Source& source, const BlockTable& table, const Residency* written)
    : source_(source),
      table_(table),
      written_(written),
      marked_(std::make_unique<std::atomic<std::uint64_t>[]>(table.set_words())),
      scanned_(std::make_unique<std::atomic<std::uint64_t>[]>(table.set_words())),
      queued_(std::make_unique<std::atomic<bool>[]>(table.snapshot().spans.size())) {
  for (std::uint32_t i = 0; i < table.snapshot().spans.size(); ++i)
    if (is_sensitive(i)) sensitive_bytes_ += table.snapshot().spans[i].live_bytes;
}

Reach::~Reach() = default;

bool Reach::is_sensitive(std::uint32_t span) const {
  const std::uint32_t pool = table_.snapshot().spans[span].pool;
  return pool != kNone && table_.snapshot().pools[pool].is_sensitive;
}

bool Reach::is_reported(std::uint32_t span) const {
  return table_.snapshot().spans[span].use != SpanUse::kOther && !is_sensitive(span);
}

void Reach::mark(const Roots& roots, const std::function<void(std::uint64_t)>& watch) {
  const unsigned workers = useful_threads();
  queue_ = std::make_unique<SpanQueue>(workers);
  root_pieces_.clear();
  next_piece_ = 0;
  for (const AddressRange& range : roots.ranges)
    for_each_written_piece(written_, range.start, range.end, [this](Address start, Address end) {
      root_pieces_.push_back({start, end});
    });
  mark_handle_groups();
  Worker own(*this);
  for (const Address word : roots.words) own.consider(word);
  std::vector<std::unique_ptr<Worker>> others;
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < workers; ++i) {
    others.push_back(std::make_unique<Worker>(*this));
    threads.emplace_back([worker = others.back().get()] { worker->run({}); });
  }
  own.run(watch);
}

void Reach::mark_handle_groups() {
  const Snapshot& snapshot = table_.snapshot();
  for (std::uint32_t i = 0; i < snapshot.spans.size(); ++i) {
    const Span& span = snapshot.spans[i];
    if (span.use != SpanUse::kHandleGroup || span.live == 0 || is_sensitive(i)) continue;
    for (std::uint32_t word = 0; word < table_.word_count(i); ++word)
      marked_[table_.first_word(i) + word].fetch_or(snapshot.live_words[span.first_word + word]);
    if (!queued_[i].exchange(true)) queue_->push(i);
  }
}

std::vector<Reach::Place> Reach::unreachable() const {
  const Snapshot& snapshot = table_.snapshot();
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < snapshot.spans.size(); ++i) {
    if (!is_reported(i)) continue;
    const bool is_mixed = snapshot.spans[i].use == SpanUse::kMixedPage;
    const std::uint32_t blocks = is_mixed ? snapshot.spans[i].live : snapshot.spans[i].block_count;
    for (std::uint32_t block = 0; block < blocks; ++block)
      if ((is_mixed || snapshot.is_live(snapshot.spans[i], block)) && !is_marked({i, block}))
        places.push_back({i, block});
  }
  return places;
}

}  // namespace tarn::observer
