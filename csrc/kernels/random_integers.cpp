// Integer fills: random_() with and without bounds, and randperm's shuffles.
#include <cmath>

#include "core/copy.h"
#include "kernels/create.h"
#include "kernels/random_fill.h"

namespace flambeau::random {

namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

const char* c_name(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::UInt8: return "unsigned char";
    case DType::Int8: return "signed char";
    case DType::Int16: return "short";
    case DType::Int32: return "int";
    case DType::Int64: return "long";
    case DType::Float16: return "c10::Half";
    case DType::BFloat16: return "c10::BFloat16";
    case DType::Float32: return "float";
    default: return "double";
  }
}

template <class F>
decltype(auto) dispatch_real(DType dtype, F&& fn) {
  check(!is_complex(dtype), ErrorKind::NotImplemented, "\"random_kernel_cpu\" not implemented for '",
        torch_name_of(dtype), "'");
  return dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>) return fn(tag);
  });
}

template <class T>
inline constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kDigits<Half> = 11;
template <>
inline constexpr int kDigits<BFloat16> = 8;
template <class T>
inline constexpr bool kFloating = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
std::int64_t round_trip(std::int64_t value) {
  return convert<std::int64_t>(convert<T>(value));
}

// The nearest bounds that a floating type holds, where `from` + 1 or `to` - 1 rounds across them.
template <class T>
std::int64_t representable_from(std::int64_t from) {
  if (from == kHighest) return from;
  const std::int64_t next = round_trip<T>(from + 1);
  if (next >= from) return from;
  const int log = 63 - __builtin_clzll(static_cast<std::uint64_t>(std::llabs(from + 1)) | 1);
  return next + (std::int64_t{1} << (log - kDigits<T> + 1));
}
template <class T>
std::int64_t representable_to(std::int64_t to) {
  if (to == kLowest) return to;
  const std::int64_t previous = round_trip<T>(to - 1);
  if (previous < to) return to;
  const int log = 63 - __builtin_clzll(static_cast<std::uint64_t>(std::llabs(to - 1)) | 1);
  return previous - (std::int64_t{1} << (log - kDigits<T> + 1));
}

template <class T>
void check_bound(std::int64_t value, const char* name) {
  constexpr DType dtype = dtype_of<T>;
  if constexpr (std::is_same_v<T, bool>) {
    check(value == 0 || value == 1, name, " is out of bounds for bool");
  } else if constexpr (std::is_integral_v<T>) {
    check(value >= static_cast<std::int64_t>(std::numeric_limits<T>::lowest()) &&
              value <= static_cast<std::int64_t>(std::numeric_limits<T>::max()),
          name, " is out of bounds for ", c_name(dtype));
  } else {
    if constexpr (std::is_same_v<T, Half>) {
      check(value >= -65504 && value <= 65504, name, " is out of bounds for ", c_name(dtype));
    }
    constexpr std::int64_t exact = std::int64_t{1} << kDigits<T>;
    if (value < -exact || value > exact) {
      queue_warning(
          concat(name, " is out of bounds [-(2^", kDigits<T>, "), 2^", kDigits<T>, "]. Due to precision limitations ",
                 c_name(dtype),
                 " can support discrete uniform distribution only within this range. This warning will become "
                 "an error in version 1.7 release, please fix the code in advance"));
    }
  }
}

template <class T>
void fill_range(const Tensor& out, std::uint64_t range, std::int64_t base, Generator& g) {
  const std::lock_guard lock(g.mutex);
  if (range >= (1ULL << 28)) {
    fill_serial<T>(out, [&] {
      return convert<T>(static_cast<std::int64_t>(g.random64() % range + static_cast<std::uint64_t>(base)));
    });
    return;
  }
  const auto small = static_cast<std::uint32_t>(range);
  fill_serial<T>(out, [&] { return convert<T>(static_cast<std::int64_t>(g.random() % small) + base); });
}

// [from, to)
template <class T>
void fill_bounded(const Tensor& out, std::int64_t from, std::int64_t to, Generator& g) {
  if constexpr (kFloating<T>) {
    from = representable_from<T>(from);
    to = representable_to<T>(to);
    check(from < to, "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=", from,
          " >= to=", to);
  }
  check_bound<T>(from, "from");
  check_bound<T>(to - 1, "to - 1");
  if (out.is_meta() || out.numel() == 0) return;
  fill_range<T>(out, static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from), from, g);
}

// [from, largest value of the type], or to 2^digits for floating types
template <class T>
void fill_from(const Tensor& out, std::int64_t from, Generator& g) {
  std::int64_t last = kHighest;
  if constexpr (std::is_same_v<T, bool>) {
    last = 1;
  } else if constexpr (std::is_integral_v<T>) {
    last = static_cast<std::int64_t>(std::numeric_limits<T>::max());
  } else {
    last = std::int64_t{1} << kDigits<T>;
    from = representable_from<T>(from);
    check(from < last,
          "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got from=",
          from, " > to_inc=", last);
  }
  check_bound<T>(from, "from");
  if (out.is_meta() || out.numel() == 0) return;
  fill_range<T>(out, static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(from) + 1, from, g);
}

template <class T>
void fill_all_bits(const Tensor& out, Generator& g) {
  constexpr bool kWide = std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
                         std::is_same_v<T, BFloat16>;
  check(kWide, "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16");
  if (out.is_meta() || out.numel() == 0) return;
  const std::lock_guard lock(g.mutex);
  fill_serial<T>(out, [&] { return convert<T>(static_cast<std::int64_t>(g.random64())); });
}

}  // namespace

void fill_integers(const Tensor& out, std::int64_t from, std::optional<std::int64_t> to, Generator* generator) {
  check_no_internal_overlap(out, "random_");
  Generator& g = generator_or_default(generator);
  if (to) check(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", *to);
  check(!is_complex(out.dtype()), "check_random_bounds handles only integral, floating-point and boolean types");
  dispatch_real(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (to) {
      fill_bounded<T>(out, from, *to, g);
    } else if (from != kLowest) {
      fill_from<T>(out, from, g);
    } else {
      fill_all_bits<T>(out, g);
    }
  });
}

namespace {

Tensor random_(const Tensor& input, Generator* generator) {
  check_no_internal_overlap(input, "random_");
  dispatch_real(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (input.is_meta() || input.numel() == 0) return;
    Generator& g = generator_or_default(generator);
    const std::lock_guard lock(g.mutex);
    fill_serial<T>(input, [&] { return integer_full<T>(g); });
  });
  return input;
}

Tensor random_from_(const Tensor& input, std::int64_t from, std::optional<std::int64_t> to, Generator* generator) {
  fill_integers(input, from, to, generator);
  return input;
}

Tensor random_to_(const Tensor& input, std::int64_t to, Generator* generator) {
  fill_integers(input, 0, to, generator);
  return input;
}

// From here on the remainder of 32 bits is too skewed, and PyTorch shuffles the other way round with 64.
constexpr std::int64_t kWideShuffle = std::numeric_limits<std::uint32_t>::max() / 20;

template <class T>
void shuffle(T* data, std::int64_t n, Generator& g) {
  if (n < kWideShuffle) {
    for (std::int64_t i = 0; i < n; ++i) data[i] = convert<T>(i);
    for (std::int64_t i = 0; i < n - 1; ++i) {
      const std::int64_t j = i + static_cast<std::int64_t>(g.random() % static_cast<std::uint32_t>(n - i));
      std::swap(data[i], data[j]);
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const auto j = static_cast<std::int64_t>(g.random64() % static_cast<std::uint64_t>(i + 1));
    data[i] = convert<T>(i);
    data[i] = data[j];
    data[j] = convert<T>(i);
  }
}

Tensor randperm(std::int64_t n, Generator* generator, std::optional<DType> dtype, std::optional<Device> device,
                const Out& out) {
  check(n >= 0, "randperm: expected n >= 0. Trying to create tensor with negative dimension ", n, ": [", n, "]");
  const DType type = out.given() ? out[0].dtype() : dtype.value_or(DType::Int64);
  check(!is_complex(type), ErrorKind::NotImplemented, "\"randperm\" not implemented for '", torch_name_of(type), "'");
  dispatch_real(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool fits = kFloating<T> ? n <= (std::int64_t{1} << kDigits<T>)+1 : n == 0 || round_trip<T>(n - 1) == n - 1;
    check(fits, "randperm: expected n - 1 to be exact in ", name_of(type), ", got n=", n,
          ": value cannot be converted to type without overflow");
  });
  const Tensor result =
      output("randperm", out, 0, {n}, type, out.given() ? out[0].device() : device.value_or(Device{}));
  if (result.is_meta()) return result;
  const Tensor dense = result.is_contiguous() ? result : empty({n}, type);
  Generator& g = generator_or_default(generator);
  dispatch_real(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::lock_guard lock(g.mutex);
    shuffle(dense.data<T>(), n, g);
  });
  if (!dense.is(result)) copy_into(result, dense);
  return result;
}

const Kernel random_kernel("random_", &random_);
const Kernel random_from_kernel("random_from_", &random_from_);
const Kernel random_to_kernel("random_to_", &random_to_);
const Kernel randperm_kernel("randperm", &randperm);

}  // namespace

}  // namespace flambeau::random
