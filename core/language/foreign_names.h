#pragma once
// Names of other libraries, and of NumPy outside the subset, with the text to write instead.
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nuscope::language {

/// What to write for a call of `path` ("torch.matmul", "F.silu", "np.dot") with the argument texts given,
/// keyword arguments as "dim=1". Empty if the name is not known; `path` may be any chain of names.
std::optional<std::string> replacementText(std::string_view path, std::span<const std::string> arguments);

/// What to write for the method call base.name(arguments), e.g. x.softmax(-1).
std::optional<std::string> methodReplacement(std::string_view name, std::string_view base,
                                             std::span<const std::string> arguments);

/// Whether a name stands for a module of another library by common usage: torch, F, nn, jnp, jax, tf...
bool isForeignRoot(std::string_view name);

/// What to write for an annotation such as torch.Tensor, float32[M] or np.ndarray.
std::string annotationHint(std::string_view written);

/// The candidate that differs least from `name`, if few edits do.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace nuscope::language
