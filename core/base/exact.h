#pragma once
// Exact numbers. Everything a proof rests on is computed in these; a wrapped machine integer is a wrong
// proof.
#include <gmpxx.h>

#include <optional>
#include <string>
#include <string_view>

namespace nuscope {

using Integer = mpz_class;
using Rational = mpq_class;

/// Parses a decimal literal as Python writes it ("1e-5", "0.001", "1_000", "3.") to the exact rational it
/// denotes (1e-5 is 1/100000, not its double). Empty if it is no such literal, or its exponent exceeds 400.
std::optional<Rational> parseDecimal(std::string_view text);

/// The shortest text that `parseDecimal` maps back: an integer, a decimal where finite, else "p/q".
std::string decimalText(const Rational& value);

}  // namespace nuscope
