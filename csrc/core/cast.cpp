// Element conversions between all pairs of dtypes, one run at a time, and conj and neg of a run.
#include <cstring>

#include "core/strided_loop.h"

namespace flambeau {
namespace {

template <class T>
const T& load(const char* p) {
  return *reinterpret_cast<const T*>(p);
}

// Same dtype: values are moved, not looked at.
template <class T>
void move_run(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t n) noexcept {
  constexpr std::int64_t size = sizeof(T);
  char* out = static_cast<char*>(dst);
  const char* in = static_cast<const char*>(src);
  if (dst_stride == size && src_stride == size) {
    std::memmove(out, in, static_cast<std::size_t>(n * size));
  } else if (src_stride == 0) {
    const T value = load<T>(in);
    if (dst_stride == size) {
      if constexpr (size <= 8) {
        constexpr DType dtype = size == 1   ? DType::UInt8
                                : size == 2 ? DType::Int16
                                : size == 4 ? DType::Int32
                                            : DType::Int64;
        static const TileFn fill = find_tile("fill", dtype).fn;
        const void* source = &value;
        fill(&dst, &source, n, nullptr);
      } else {
        T* typed = static_cast<T*>(dst);
        for (std::int64_t i = 0; i < n; ++i) typed[i] = value;
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i, out += dst_stride) *reinterpret_cast<T*>(out) = value;
    }
  } else if (dst_stride == size) {
    T* typed = static_cast<T*>(dst);
    for (std::int64_t i = 0; i < n; ++i, in += src_stride) typed[i] = load<T>(in);
  } else {
    for (std::int64_t i = 0; i < n; ++i, out += dst_stride, in += src_stride) {
      *reinterpret_cast<T*>(out) = load<T>(in);
    }
  }
}

template <class To, class From>
void cast_run(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t n) noexcept {
  constexpr std::int64_t to_size = sizeof(To), from_size = sizeof(From);
  if (dst_stride == to_size && src_stride == from_size) {
    To* __restrict__ out = static_cast<To*>(dst);
    const From* __restrict__ in = static_cast<const From*>(src);
    for (std::int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
    return;
  }
  char* out = static_cast<char*>(dst);
  const char* in = static_cast<const char*>(src);
  if (src_stride == 0) {
    const To value = convert<To>(load<From>(in));
    move_run<To>(dst, dst_stride, &value, 0, n);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i, out += dst_stride, in += src_stride) {
    *reinterpret_cast<To*>(out) = convert<To>(load<From>(in));
  }
}

// Hot pairs have vector code (tile/cast.cpp), used when both sides are contiguous.
constexpr const char* kTileNames[kNumDTypes] = {"cast_bool",    "cast_uint8",   "cast_int8",      "cast_int16",
                                                "cast_int32",   "cast_int64",   "cast_float16",   "cast_bfloat16",
                                                "cast_float32", "cast_float64", "cast_complex64", "cast_complex128"};

struct CastTable {
  CastFn general[kNumDTypes][kNumDTypes];
  TileFn tile[kNumDTypes][kNumDTypes];
  CastTable() {
    for (int from = 0; from < kNumDTypes; ++from) {
      for (int to = 0; to < kNumDTypes; ++to) {
        const DType from_dtype = static_cast<DType>(from), to_dtype = static_cast<DType>(to);
        dispatch_all(from_dtype, [&](auto from_tag) {
          using From = typename decltype(from_tag)::type;
          dispatch_all(to_dtype, [&](auto to_tag) {
            using To = typename decltype(to_tag)::type;
            general[from][to] = &cast_run<To, From>;
          });
        });
        if (from == to) {
          dispatch_size(from_dtype, [&](auto tag) { general[from][to] = &move_run<typename decltype(tag)::type>; });
        }
        tile[from][to] = from == to ? nullptr : find_tile(kTileNames[to], from_dtype).fn;
      }
    }
  }
};

const CastTable& table() {
  static const CastTable instance;
  return instance;
}

constexpr int kFloat = static_cast<int>(DType::Float32);

// float16 and bfloat16 have vector code to and from float32 only, which is how convert() defines the rest too.
void cast_by_float(TileFn load, TileFn store, char* dst, std::int64_t dst_stride, const char* src,
                   std::int64_t src_stride, std::int64_t n) noexcept {
  float tile[kTile];
  for (std::int64_t done = 0; done < n; done += kTile) {
    const std::int64_t count = n - done < kTile ? n - done : kTile;
    void* middle = tile;
    const void* from = src + done * src_stride;
    load(&middle, &from, count, nullptr);
    void* to = dst + done * dst_stride;
    const void* again = tile;
    store(&to, &again, count, nullptr);
  }
}
bool goes_by_float(const CastTable& casts, int from, int to) {
  const bool reduced = is_reduced_float(static_cast<DType>(from)) || is_reduced_float(static_cast<DType>(to));
  return reduced && from != to && from != kFloat && to != kFloat && casts.tile[from][kFloat] != nullptr &&
         casts.tile[kFloat][to] != nullptr;
}

// Picks the vector code at run time: strides are only known per run.
template <int kFrom, int kTo>
void cast_hot(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t n) noexcept {
  const CastTable& casts = table();
  if (dst_stride == itemsize(static_cast<DType>(kTo)) && src_stride == itemsize(static_cast<DType>(kFrom))) {
    if (casts.tile[kFrom][kTo] != nullptr) {
      casts.tile[kFrom][kTo](&dst, &src, n, nullptr);
    } else {
      cast_by_float(casts.tile[kFrom][kFloat], casts.tile[kFloat][kTo], static_cast<char*>(dst), dst_stride,
                    static_cast<const char*>(src), src_stride, n);
    }
  } else {
    casts.general[kFrom][kTo](dst, dst_stride, src, src_stride, n);
  }
}

using HotRow = CastFn[kNumDTypes];
template <int kFrom, int... kTo>
constexpr void fill_hot(HotRow& row, std::integer_sequence<int, kTo...>) {
  ((row[kTo] = &cast_hot<kFrom, kTo>), ...);
}
struct HotTable {
  HotRow rows[kNumDTypes];
  template <int... kFrom>
  explicit HotTable(std::integer_sequence<int, kFrom...>) {
    (fill_hot<kFrom>(rows[kFrom], std::make_integer_sequence<int, kNumDTypes>{}), ...);
  }
};

}  // namespace

CastFn cast_fn(DType from, DType to) {
  static const HotTable hot(std::make_integer_sequence<int, kNumDTypes>{});
  const int row = static_cast<int>(from), column = static_cast<int>(to);
  const CastTable& casts = table();
  const bool vectorised = casts.tile[row][column] != nullptr || goes_by_float(casts, row, column);
  return vectorised ? hot.rows[row][column] : casts.general[row][column];
}

void apply_conj(void* data, DType dtype, std::int64_t n) noexcept {
  if (dtype == DType::Complex64) {
    c64* values = static_cast<c64*>(data);
    for (std::int64_t i = 0; i < n; ++i) values[i].im = -values[i].im;
  } else if (dtype == DType::Complex128) {
    c128* values = static_cast<c128*>(data);
    for (std::int64_t i = 0; i < n; ++i) values[i].im = -values[i].im;
  }
}

void apply_neg(void* data, DType dtype, std::int64_t n) noexcept {
  dispatch_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* values = static_cast<T*>(data);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      for (std::int64_t i = 0; i < n; ++i) values[i].bits = static_cast<std::uint16_t>(values[i].bits ^ 0x8000U);
    } else if constexpr (!std::is_same_v<T, bool>) {
      for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(-values[i]);
    }
  });
}

}  // namespace flambeau
