// Along one dim, by an index tensor of the same rank: gather, scatter and its reductions, take_along_dim's core.
//   gather:  out[i][j]        = input[index[i][j]][j]
//   scatter: out[index[i][j]][j] (op)= src[i][j]            (dim = 0)
// All indices are checked before the first write to a tensor that anybody sees.
#include <algorithm>
#include <cstring>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/arith.h"
#include "kernels/row_table.h"
#include "kernels/scratch.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

// 0-d tensors take part as 1-d ones.
Tensor at_least_1d(const Tensor& tensor) {
  return tensor.dim() != 0 ? tensor : alias(tensor, {1}, {1}, tensor.offset());
}

void check_index_dtype(const Tensor& index, const char* op) {
  check(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, ErrorKind::Runtime, op,
        "(): Expected dtype int32/int64 for index");
}

Tensor index_as_int64(const Tensor& index) { return to_dtype(index, DType::Int64); }

constexpr std::int64_t kIndexBlock = 32768;  // indices checked, or used, at a time

[[noreturn]] void fail_bounds(const Tensor& index, std::int64_t dim, std::int64_t size) {
  const LineWalk<1> walk(index.sizes(), -1, {index.strides()});
  walk.run(0, walk.lines(), [&](const std::int64_t* at) {
    const std::int64_t value = index.data<std::int64_t>()[at[0]];
    check(value >= 0 && value < size, ErrorKind::Runtime, "gather, scatter: index ", value,
          " is out of bounds for dimension ", dim, " with size ", size);
  });
  fail(ErrorKind::Runtime, "gather, scatter: index is out of bounds for dimension ", dim, " with size ", size);
}

// Strides that reach each stored index once: broadcast dims are looked at in one place.
Tensor without_repeats(const Tensor& index) {
  Dims sizes(index.sizes());
  for (std::int64_t d = 0; d < index.dim(); ++d) {
    if (index.strides()[d] == 0) sizes[d] = std::min<std::int64_t>(sizes[d], 1);
  }
  return alias(index, sizes, index.strides(), index.offset());
}

void check_bounds(const Tensor& index, std::int64_t dim, std::int64_t size) {
  if (index.numel() == 0) return;
  const Tensor once = contiguous(without_repeats(index));
  const auto* values = once.data<std::int64_t>();
  const IndexTable& lists = index_table();
  parallel_for(0, once.numel(), kIndexBlock, [&](std::int64_t begin, std::int64_t end) {
    if (!lists.in_range(values + begin, end - begin, size)) [[unlikely]]
      fail_bounds(index, dim, size);
  });
}

std::int64_t lines_grain(std::int64_t length) {
  return std::max<std::int64_t>(32768 / std::max<std::int64_t>(length, 1), 1);
}

// out[i] = source[index[i]]. The line after this one is asked for on the way: where pages end, the hardware does not
// look ahead.
template <class T>
void gather_dense(T* out, const std::int64_t* index, const T* source, std::int64_t n, std::int64_t size) {
  constexpr std::int64_t together = 64 / sizeof(T) > 8 ? 16 : 8;
  std::int64_t i = 0;
  for (; i + together <= n; i += together) {
    __builtin_prefetch(index + i + n);
    __builtin_prefetch(index + i + n + together / 2);
    __builtin_prefetch(source + i + size);
    __builtin_prefetch(out + i + n, 1);
    for (std::int64_t k = i; k < i + together; ++k) out[k] = source[index[k]];
  }
  for (; i < n; ++i) out[i] = source[index[i]];
}

template <class T>
void gather_strided(T* out, std::int64_t out_stride, const std::int64_t* index, std::int64_t index_stride,
                    const T* source, std::int64_t step, std::int64_t source_stride, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i * out_stride] = source[index[i * index_stride] * step + i * source_stride];
}

// Lines along the last dim, whichever dim the index counts in, unless that one is short; a line's indices are checked
// just before their use.
template <class T>
void gather_lines(const Tensor& target, const Tensor& index, const Tensor& source, std::int64_t d) {
  const std::int64_t along = index.sizes().back() >= 8 ? index.dim() - 1 : d;
  const std::int64_t n = index.sizes()[along], size = source.sizes()[d], step = source.strides()[d];
  Dims strides(source.strides());
  strides[d] = 0;
  const LineWalk<3> walk(index.sizes(), along, {target.strides(), index.strides(), strides});
  const std::int64_t st = target.strides()[along], si = index.strides()[along], ss = strides[along];
  T* to = static_cast<T*>(target.data());
  const T* from = static_cast<const T*>(source.data());
  const auto* values = index.data<std::int64_t>();
  const IndexTable& lists = index_table();
  if (si != 1) check_bounds(index, d, size);
  const auto piece = [&](const std::int64_t* o, std::int64_t first, std::int64_t count) {
    T* out_line = to + o[0] + first * st;
    const T* in_line = from + o[2] + first * ss;
    const std::int64_t* index_line = values + o[1] + first * si;
    if (si == 1 && !lists.in_range(index_line, count, size)) [[unlikely]]
      fail_bounds(index, d, size);
    if (st == 1 && si == 1 && ss == 0 && step == 1) {
      gather_dense(out_line, index_line, in_line, count, size);
    } else {
      gather_strided(out_line, st, index_line, si, in_line, step, ss, count);
    }
  };
  if (walk.lines() == 1) {
    return parallel_for(0, n, kIndexBlock, [&](std::int64_t begin, std::int64_t end) {
      walk.run(0, 1, [&](const std::int64_t* o) { piece(o, begin, end - begin); });
    });
  }
  parallel_for(0, walk.lines(), lines_grain(n), [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](const std::int64_t* o) { piece(o, 0, n); });
  });
}

Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index, bool, const Out& out) {
  const std::int64_t d = wrap_dim(dim, input.dim(), "gather");
  if (index.numel() != 0) check_index_dtype(index, "gather");
  check_out_dtype("gather", out, input.dtype());
  check_out_apart("gather", out, {&input, &index});
  if (index.numel() == 0 && index.dim() != input.dim()) {
    return output("gather", out, 0, index.sizes(), input.dtype(), input.device());
  }
  check(std::max<std::int64_t>(index.dim(), 1) == std::max<std::int64_t>(input.dim(), 1), ErrorKind::Runtime,
        "gather: Index tensor must have the same number of dimensions as input tensor");
  const Tensor source = at_least_1d(input), at = at_least_1d(index);
  for (std::int64_t i = 0; i < at.dim(); ++i) {
    check(i == d || at.sizes()[i] <= source.sizes()[i], ErrorKind::Runtime, "gather: Size does not match at dimension ",
          i, " expected index ", index.sizes(), " to be no larger than self ", input.sizes(), " apart from dimension ",
          d);
  }
  Tensor result = output("gather", out, 0, index.sizes(), input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor where = index_as_int64(at);
  const bool direct = result.dtype() == input.dtype();
  const Tensor target =
      at_least_1d(direct && !out.given() ? result : empty(index.sizes(), input.dtype(), input.device()));
  dispatch_size(input.dtype(), [&](auto tag) { gather_lines<typename decltype(tag)::type>(target, where, source, d); });
  if (!direct || out.given()) copy_into(at_least_1d(result), target);
  return result;
}

// Shapes and dtypes of a scatter; the plan is what the element loop needs.
struct Scatter {
  Tensor result;  // starts as input; of its dtype and not self-overlapping
  Tensor target;  // result as at least 1-d
  Tensor index;   // int64, checked
  Tensor source;  // at least 1-d; undefined for a scalar
  std::int64_t dim = 0;
  bool empty = false;
  bool unchecked = false;  // the index is one line, to be checked as it is used
};

Scatter prepare(const char* op, const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor* src,
                const Out& out, bool check_lines = true) {
  Scatter plan;
  plan.dim = wrap_dim(dim, input.dim(), op);
  if (index.numel() != 0) check_index_dtype(index, "scatter");
  check(src == nullptr || src->dtype() == input.dtype(), ErrorKind::Runtime,
        "scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() != 0) {
    const auto rank = [](const Tensor& t) { return std::max<std::int64_t>(t.dim(), 1); };
    check(rank(index) == rank(input), ErrorKind::Runtime,
          "scatter: Index tensor must have the same number of dimensions as self tensor");
    check(src == nullptr || rank(index) == rank(*src), ErrorKind::Runtime,
          "scatter: Index tensor must have the same number of dimensions as src tensor");
    const Tensor at = at_least_1d(index), self = at_least_1d(input);
    for (std::int64_t i = 0; i < at.dim(); ++i) {
      const bool fits = (i == plan.dim || at.sizes()[i] <= self.sizes()[i]) &&
                        (src == nullptr || at.sizes()[i] <= at_least_1d(*src).sizes()[i]);
      if (fits) continue;
      if (src == nullptr) {
        fail(ErrorKind::Runtime, "scatter: Expected index ", index.sizes(), " to be no larger than self ",
             input.sizes(), " apart from dimension ", plan.dim);
      }
      fail(ErrorKind::Runtime, "scatter: Expected index ", index.sizes(), " to be no larger than self ", input.sizes(),
           " apart from dimension ", plan.dim, " and to be no larger size than src ", src->sizes());
    }
  }
  if (out.inplace) check_no_internal_overlap(out[0], op);
  const bool compute = !input.is_meta() && index.numel() != 0;
  if (compute) {
    plan.index = index_as_int64(at_least_1d(index));
    check(!plan.index.is_meta() && (src == nullptr || !src->is_meta()), ErrorKind::NotImplemented, op,
          ": expected tensors on one device, got cpu and meta.");
    // A result of its own that is dropped on an error needs no check ahead of the first write.
    plan.unchecked = !check_lines && !out.inplace && index.dim() == 1 && plan.index.is_contiguous();
    if (!plan.unchecked) check_bounds(plan.index, plan.dim, at_least_1d(input).sizes()[plan.dim]);
  }
  if (out.inplace) {
    plan.result = out[0];
  } else {
    plan.result = input.is_meta() ? empty_like(input) : clone(input, MemoryFormat::Contiguous);
  }
  plan.empty = !compute || plan.result.numel() == 0;
  if (plan.empty) return plan;
  plan.target = at_least_1d(plan.result);
  if (src != nullptr) {
    plan.source = at_least_1d(*src);
    if (src->storage() == plan.result.storage()) plan.source = clone(plan.source, MemoryFormat::Contiguous);
    if (plan.index.storage() == plan.result.storage()) plan.index = clone(plan.index, MemoryFormat::Contiguous);
  }
  return plan;
}

// The same where dim is not the last one: row by row, so that memory is read in order, for a block of columns at a
// time. Each target element still meets its sources in order of the index.
template <class T, class F>
void run_scatter_rows(const Scatter& plan, const T* value, IntSpan source_strides, F&& fn) {
  const std::int64_t d = plan.dim, last = plan.index.dim() - 1;
  Dims sizes(plan.index.sizes());
  const std::int64_t n = sizes[d], m = sizes[last];
  sizes[d] = 1;
  const LineWalk<3> walk(sizes, last, {plan.target.strides(), plan.index.strides(), source_strides});
  const std::int64_t td = plan.target.strides()[d], id = plan.index.strides()[d], sd = source_strides[d];
  const std::int64_t tl = plan.target.strides()[last], il = plan.index.strides()[last], sl = source_strides[last];
  T* to = plan.target.data<T>();
  const T* from = value != nullptr ? value : plan.source.data<T>();
  const auto* values = plan.index.data<std::int64_t>();
  const IndexTable& lists = index_table();
  const std::int64_t width = std::min(std::max<std::int64_t>(lines_grain(n), 32), m), blocks = (m + width - 1) / width;
  const auto block = [&](const std::int64_t* o, std::int64_t first) {
    const std::int64_t count = std::min(width, m - first);
    T* target = to + o[0] + first * tl;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t* index_row = values + o[1] + i * id + first * il;
      const T* source_row = from + o[2] + i * sd + first * sl;
      // Whole rows often go to one place: then neighbours stay neighbours.
      if (tl == 1 && sl == 1 && (il == 0 || (il == 1 && lists.constant(index_row, count)))) {
        T* target_row = target + index_row[0] * td;
        for (std::int64_t j = 0; j < count; ++j) fn(target_row[j], source_row[j]);
      } else {
        for (std::int64_t j = 0; j < count; ++j) fn(target[index_row[j * il] * td + j * tl], source_row[j * sl]);
      }
    }
  };
  parallel_for(0, walk.lines() * blocks, lines_grain(n * width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end;) {
      const std::int64_t line = task / blocks, stop = std::min(end, (line + 1) * blocks);
      walk.run(line, line + 1, [&](const std::int64_t* o) {
        for (; task < stop; ++task) block(o, task % blocks * width);
      });
    }
  });
}

// Everything by value: a store to the line must not make the compiler fetch captured variables again.
template <class T, class F>
void scatter_line(T* line, const std::int64_t* at, const T* source, std::int64_t n, F fn) {
  for (std::int64_t i = 0; i < n; ++i) fn(line[at[i]], source[i]);
}

// fn(target element, source element) for each index, line by line. Lines never share a target element.
template <class T, class F>
void run_scatter(const Scatter& plan, const T* value, F&& fn) {
  const std::int64_t d = plan.dim;
  const Dims zero = Dims::filled(plan.index.dim(), 0);
  const IntSpan source_strides = value != nullptr ? IntSpan(zero) : plan.source.strides();
  if (d != plan.index.dim() - 1) return run_scatter_rows(plan, value, source_strides, fn);
  const LineWalk<3> walk(plan.index.sizes(), d, {plan.target.strides(), plan.index.strides(), source_strides});
  const std::int64_t n = plan.index.sizes()[d], st = plan.target.strides()[d], si = plan.index.strides()[d],
                     ss = source_strides[d];
  T* to = plan.target.data<T>();
  const T* from = value != nullptr ? value : plan.source.data<T>();
  const auto* values = plan.index.data<std::int64_t>();
  parallel_for(0, walk.lines(), lines_grain(n), [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](const std::int64_t* o) {
      if (st == 1 && si == 1 && ss == 1) {
        scatter_line(to + o[0], values + o[1], from + o[2], n, fn);
        return;
      }
      for (std::int64_t i = 0; i < n; ++i) fn(to[o[0] + values[o[1] + i * si] * st], from[o[2] + i * ss]);
    });
  });
}

template <class T>
T checked_value(const Scalar& value) {
  check(!value.is_complex() || arith::is_cx<T>, ErrorKind::Runtime,
        "value cannot be converted to type without overflow");
  return value.to<T>();
}

Tensor scatter_value(const Tensor& input, std::int64_t dim, const Tensor& index, const Scalar& value, const Out& out) {
  const Scatter plan = prepare("scatter", input, dim, index, nullptr, out);
  if (plan.empty) return plan.result;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T number = checked_value<T>(value);
    run_scatter<T>(plan, &number, [](T& to, const T& from) { to = from; });
  });
  return plan.result;
}

// The value of a wrapped number; a meta one has none, and none is needed.
Scalar number_of(const Tensor& number) { return number.is_meta() ? Scalar(0) : item(number); }

Tensor scatter_src(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src, const Out& out) {
  // A Python number for src means its value everywhere.
  if (src.impl()->wrapped_number) return scatter_value(input, dim, index, number_of(src), out);
  const Scatter plan = prepare("scatter", input, dim, index, &src, out);
  if (plan.empty) return plan.result;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_scatter<T>(plan, nullptr, [](T& to, const T& from) { to = from; });
  });
  return plan.result;
}

bool is_add(std::string_view reduce) {
  check(reduce == "add" || reduce == "multiply", ErrorKind::Runtime,
        "scatter: reduce argument must be either add or multiply.");
  return reduce == "add";
}

template <class T>
void add_or_multiply(const Scatter& plan, const T* value, bool adds) {
  if (adds)
    run_scatter<T>(plan, value, [](T& to, const T& from) { to = arith::add(to, from); });
  else
    run_scatter<T>(plan, value, [](T& to, const T& from) { to = arith::mul(to, from); });
}

Tensor scatter_value_op(const Tensor& input, std::int64_t dim, const Tensor& index, const Scalar& value,
                        std::string_view reduce, const Out& out) {
  const bool adds = is_add(reduce);
  const Scatter plan = prepare("scatter", input, dim, index, nullptr, out);
  if (plan.empty) return plan.result;
  dispatch_all(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T number = checked_value<T>(value);
    add_or_multiply<T>(plan, &number, adds);
  });
  return plan.result;
}

Tensor scatter_src_op(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, const Out& out) {
  if (src.impl()->wrapped_number) return scatter_value_op(input, dim, index, number_of(src), reduce, out);
  const bool adds = is_add(reduce);
  const Scatter plan = prepare("scatter", input, dim, index, &src, out);
  if (plan.empty) return plan.result;
  dispatch_all(input.dtype(), [&](auto tag) { add_or_multiply<typename decltype(tag)::type>(plan, nullptr, adds); });
  return plan.result;
}

// One long line added into a short one: in a number of parts that depends on the sizes alone, each but the first into
// zeros of its own, which are added up at the end.
template <class T>
void add_line(const Scatter& plan, std::int64_t parts) {
  constexpr std::int64_t together = 2048;
  const std::int64_t n = plan.index.numel(), size = plan.target.numel(), share = (n + parts - 1) / parts;
  T* to = plan.target.data<T>();
  const T* source = plan.source.data<T>();
  const auto* at = plan.index.data<std::int64_t>();
  const IndexTable& lists = index_table();
  Scratch<T> sums((parts - 1) * size);
  parallel_for(0, parts, 1, [&](std::int64_t part, std::int64_t) {
    T* line = part == 0 ? to : sums.data() + (part - 1) * size;
    if (part != 0) std::memset(static_cast<void*>(line), 0, sizeof(T) * static_cast<std::size_t>(size));
    const std::int64_t stop = std::min(n, (part + 1) * share);
    for (std::int64_t begin = part * share; begin < stop; begin += together) {
      const std::int64_t end = std::min(stop, begin + together);
      if (plan.unchecked && !lists.in_range(at + begin, end - begin, size)) [[unlikely]]
        fail_bounds(plan.index, plan.dim, size);
      scatter_line(line, at + begin, source + begin, end - begin, [](T& a, const T& b) { a = arith::add(a, b); });
    }
  });
  parallel_for(0, size, 32768, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = 1; part < parts; ++part) {
      const T* line = sums.data() + (part - 1) * size;
      for (std::int64_t i = begin; i < end; ++i) to[i] = arith::add(to[i], line[i]);
    }
  });
}

template <class T>
void add_all(const Scatter& plan) {
  if constexpr (!arith::is_half<T> && !std::is_same_v<T, bool>) {  // half types would round more often
    const bool line = plan.index.dim() == 1 && plan.index.is_contiguous() && plan.source.is_contiguous() &&
                      plan.target.is_contiguous();
    const std::int64_t n = plan.index.numel();
    const std::int64_t parts = std::min({n / (4 * plan.target.numel()), n / kIndexBlock, std::int64_t{8}});
    if (line && parts > 1) return add_line<T>(plan, parts);
  }
  if (plan.unchecked) check_bounds(plan.index, plan.dim, plan.target.sizes()[plan.dim]);
  add_or_multiply<T>(plan, nullptr, true);
}

Tensor scatter_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src, const Out& out) {
  const Scatter plan = prepare("scatter_add", input, dim, index, &src, out, false);
  if (plan.empty) {
    if (plan.unchecked) check_bounds(plan.index, plan.dim, plan.result.numel());
    return plan.result;
  }
  dispatch_all(input.dtype(), [&](auto tag) { add_all<typename decltype(tag)::type>(plan); });
  return plan.result;
}

enum class Reduce { Sum, Prod, Mean, Amax, Amin };

Reduce parse_reduce(std::string_view name) {
  if (name == "sum") return Reduce::Sum;
  if (name == "prod") return Reduce::Prod;
  if (name == "mean") return Reduce::Mean;
  if (name == "amax") return Reduce::Amax;
  if (name == "amin") return Reduce::Amin;
  fail(ErrorKind::Runtime, "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got ", name);
}

template <class T>
T identity(Reduce reduce) {
  switch (reduce) {
    case Reduce::Prod: return convert<T>(1.0F);
    case Reduce::Amax: return arith::lowest<T>();
    case Reduce::Amin: return arith::highest<T>();
    default: return convert<T>(0.0F);
  }
}

template <class T>
void reduce_into(const Scatter& plan, Reduce reduce, bool include_self) {
  if (!include_self) {
    const T start = identity<T>(reduce);
    run_scatter<T>(plan, &start, [](T& to, const T& from) { to = from; });
  }
  switch (reduce) {
    case Reduce::Prod: run_scatter<T>(plan, nullptr, [](T& to, const T& from) { to = arith::mul(to, from); }); break;
    case Reduce::Amax:
      run_scatter<T>(plan, nullptr, [](T& to, const T& from) { to = arith::maximum(to, from); });
      break;
    case Reduce::Amin:
      run_scatter<T>(plan, nullptr, [](T& to, const T& from) { to = arith::minimum(to, from); });
      break;
    default: add_or_multiply<T>(plan, nullptr, true);
  }
  if (reduce != Reduce::Mean) return;
  const Tensor count = full(plan.target.sizes(), Scalar(include_self ? 1 : 0), DType::Int64);
  Scatter counting = plan;
  counting.target = count;
  const std::int64_t one = 1;
  run_scatter<std::int64_t>(counting, &one, [](std::int64_t& to, const std::int64_t& from) { to += from; });
  const LineWalk<2> walk(count.sizes(), -1, {count.strides(), plan.target.strides()});
  const auto* counts = count.data<std::int64_t>();
  T* values = plan.target.data<T>();
  walk.run(0, walk.lines(), [&](const std::int64_t* o) {
    if (counts[o[0]] > 1) values[o[1]] = arith::divide_count(values[o[1]], counts[o[0]]);
  });
}

Tensor scatter_reduce(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self, const Out& out) {
  const Reduce kind = parse_reduce(reduce);
  const Scatter plan = prepare("scatter_reduce", input, dim, index, &src, out);
  check(!is_complex(input.dtype()) || (kind != Reduce::Amax && kind != Reduce::Amin), ErrorKind::Runtime,
        "scatter_reduce: expected a real dtype for ", reduce, ", got ", name_of(input.dtype()), ".");
  if (plan.empty) return plan.result;
  dispatch_all(input.dtype(), [&](auto tag) { reduce_into<typename decltype(tag)::type>(plan, kind, include_self); });
  return plan.result;
}

const Kernel kernels[] = {
    {"gather", &gather},
    {"scatter_src", &scatter_src},
    {"scatter_value", &scatter_value},
    {"scatter_src_reduce", &scatter_src_op},
    {"scatter_value_reduce", &scatter_value_op},
    {"scatter_add", &scatter_add},
    {"scatter_reduce", &scatter_reduce},
};

}  // namespace
}  // namespace flambeau
