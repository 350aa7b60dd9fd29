#pragma once
#include <string>
#include <utility>
#include <variant>

namespace nuscope {

/// Why something was refused, as a value: what is wrong, and what to do about it (may be empty).
struct Refusal {
  std::string message;
  std::string hint;
};

/// A value or the reason why there is none. Used wherever refusing is ordinary (ill-typed graphs, impossible
/// moves, unknown targets); exceptions are for what the caller cannot be expected to handle.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Result(Refusal refusal) : state_(std::move(refusal)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  /// Precondition: ok(). Throws std::bad_variant_access otherwise.
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(state_); }

 private:
  std::variant<T, Refusal> state_;
};

}  // namespace nuscope
