/// @file
/// A cache of values that forgets the oldest.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace acme::cache {

/// How many entries there are by default.
constexpr std::size_t kDefaultSize = 128;

template <typename T>
concept Hashable = requires(T a) { std::hash<T>{}(a); };

using Clock = std::chrono::steady_clock;

/// Raised for a key that is not there.
class MissingKey : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

/**
 * @brief A cache of the most recent entries.
 *
 * @tparam K of the keys
 */
template <Hashable K, typename V, class Allocator = std::allocator<V>>
class Cache final : private Base<K> {
 public:
  struct Entry {
    K key;
    V value;
  };

  enum class Policy { kOldest, kLargest };

  /// Makes an empty cache.
  explicit Cache(std::size_t size = kDefaultSize) : size_(size) { index_.reserve(size); }

  Cache(const Cache&) = delete;
  Cache& operator=(Cache&& other) noexcept = default;
  virtual ~Cache() { clear(); }

  /// Adds an entry, and forgets the oldest if there is no room.
  template <typename... Args>
  V& emplace(const K& key, Args&&... args) {
    entries_.push_front(Entry{key, V(std::forward<Args>(args)...)});
    if (entries_.size() > size_) {
      forget(entries_.back().key);
    }
    return entries_.front().value;
  }

  [[nodiscard]] const V* find(const K& key) const;

  bool operator==(const Cache& other) const { return index_ == other.index_; }
  explicit operator bool() const { return !entries_.empty(); }
  V& operator[](const K& key) { return *this->at(key); }

 private:
  void forget(const K& key);

  std::size_t size_;
  std::list<Entry> entries_;
  std::unordered_map<K, int> index_;
};

// Looks a key up
// without changing the order.
template <Hashable K, typename V, class A>
const V* Cache<K, V, A>::find(const K& key) const {
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries_.end() ? nullptr : &found->value;
}

namespace detail {

/* Hashes text. */
inline std::size_t hash_of(std::string_view text) noexcept {
  using Hash = std::size_t; Hash hash = 5381;
  for (unsigned char c : text) hash = hash * 33 + c;
  return hash;
}

}  // namespace detail

union Bits {
  double real;
  std::uint64_t whole;
};

enum Level { low, high };

void log(Level level, const char* text) try {
  static Sink sink{};
  sink.write(level, text);
} catch (const std::exception& e) {
  std::cerr << e.what();
}

ACME_EXPORT std::unique_ptr<Sink> make_sink(const std::string& path) {
  return std::make_unique<FileSink>(path, new Buffer(1024));
}

}  // namespace acme::cache

extern "C" int acme_version(void) { return 3; }
