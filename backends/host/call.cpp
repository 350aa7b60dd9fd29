#include "backends/host/call.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/diagnostics.h"

namespace nuscope::backends {
namespace {

template <std::size_t>
using Pointer = void*;

using Caller = void (*)(void*, void* const*, int);

template <std::size_t... I>
void callWith(void* function, void* const* pointers, int threads, std::index_sequence<I...> /*positions*/) {
  using Function = void (*)(Pointer<I>..., int);
  reinterpret_cast<Function>(function)(pointers[I]..., threads);
}

template <std::size_t N>
void call(void* function, void* const* pointers, int threads) {
  callWith(function, pointers, threads, std::make_index_sequence<N>());
}

template <std::size_t... N>
constexpr std::array<Caller, sizeof...(N)> makeCallers(std::index_sequence<N...> /*counts*/) {
  return {&call<N + 1>...};
}

constexpr auto callers = makeCallers(std::make_index_sequence<mostArguments>());

}  // namespace

void callKernel(void* function, std::span<void* const> pointers, int threads) {
  if (pointers.empty() || pointers.size() > callers.size()) {
    throw UserError("a kernel has " + std::to_string(pointers.size()) + " arguments; 1 to 64 can be passed");
  }
  callers[pointers.size() - 1](function, pointers.data(), threads);
}

}  // namespace nuscope::backends
