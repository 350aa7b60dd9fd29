#include "core/base/exact.h"

#include <algorithm>
#include <cctype>

namespace nuscope {

std::optional<Rational> parseDecimal(std::string_view text) {
  std::string digits;
  long scale = 0;
  bool point = false;
  bool negative = false;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    const char c = text[i];
    if (c == '_') continue;
    if (c == '.' && !point) {
      point = true;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      if (point) --scale;
    } else {
      return std::nullopt;
    }
  }
  if (digits.empty() || digits.size() > 4096) return std::nullopt;
  if (i < text.size()) {
    std::string exponent(text.substr(i + 1));
    std::erase(exponent, '_');
    std::size_t used = exponent.empty() || !(exponent[0] == '-' || exponent[0] == '+') ? 0 : 1;
    if (exponent.size() == used || exponent.size() > used + 4 ||
        !std::all_of(exponent.begin() + static_cast<long>(used), exponent.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return std::nullopt;
    }
    const long value = std::stol(exponent);
    if (value > 400 || value < -400) return std::nullopt;
    scale += value;
  }
  Rational result{Integer(digits, 10)};
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(scale < 0 ? -scale : scale));
  if (scale >= 0) {
    result *= power;
  } else {
    result /= power;
  }
  return negative ? Rational(-result) : result;
}

std::string decimalText(const Rational& value) {
  if (value.get_den() == 1) return value.get_num().get_str();
  // A denominator 2^a 5^b has a finite decimal of max(a, b) places.
  Integer rest = value.get_den();
  const Integer two = 2;
  const Integer five = 5;
  const auto twos = mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), two.get_mpz_t());
  const auto fives = mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), five.get_mpz_t());
  const auto places = std::max(twos, fives);
  if (rest != 1 || places > 60) return value.get_str();
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, places);
  const Integer scaled = Rational(value * power).get_num();
  std::string digits = Integer(abs(scaled)).get_str();
  const std::string sign = scaled < 0 ? "-" : "";
  if (digits.size() <= places) {
    const auto zeros = places - digits.size();
    if (zeros >= 4) {  // small numbers in exponent form
      std::string mantissa = digits.substr(0, 1);
      if (digits.size() > 1) mantissa += "." + digits.substr(1);
      return sign + mantissa + "e-" + std::to_string(zeros + 1);
    }
    digits.insert(0, zeros + 1, '0');
  }
  digits.insert(digits.size() - places, ".");
  return sign + digits;
}

}  // namespace nuscope
