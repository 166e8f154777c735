// Kernel registration. A kernel is an ordinary C++ function over unboxed values:
//
//   Tensor matmul(const Tensor& input, const Tensor& other) { ... }
//   const Kernel matmul_kernel("matmul", &matmul);
//
// The op of that name (flambeau/ops/*.py) calls it through a boxed wrapper built here from its signature; the VM uses
// the same wrapper. Parameter types and the schema types they match:
//   const Tensor&               Tensor, Tensor? (undefined when None)     TensorSpan           Tensor[] (items of
//   Tensor?[] may be undefined) std::int64_t                int          std::optional<std::int64_t>  int? IntSpan
//   int[]        std::optional<IntSpan>       int[]? double, bool, const Scalar& float, bool, Scalar;
//   std::optional<...>   float?, bool?, Scalar? Span<double>, Span<bool>    float[], bool[] std::optional<Span<double>>
//   float[]? std::string_view            str          std::optional<std::string_view>  str? DType, Device, MemoryFormat
//   (and optional<>)  dtype, device, memory_format;  Generator*  Generator? (null: the default one)
// Results: Tensor, std::tuple<Tensor, ...>, std::vector<Tensor>, std::int64_t, double, bool, Scalar, void.
//
// A first parameter `const KernelDef&` receives the registration itself; its `context` lets one function serve a
// family. A last parameter `const Out&` means that the kernel can write into given tensors (in-place and out=). Kernels
// without it get both anyway: the op then copies the result.
//
// Kernels check shapes and dtypes (errors by STYLE C6), must give a meta result for meta inputs (allocate outputs, then
// return before touching data), never touch Python, and may run without the GIL.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/value.h"

namespace flambeau {

// Destination of an op. Functional call: no tensors. In-place: tensors[0] is the first argument. out=: the given ones,
// which the kernel resizes through factory.h's output().
struct Out {
  const Tensor* tensors = nullptr;
  std::int64_t count = 0;
  bool inplace = false;
  [[nodiscard]] bool given() const noexcept { return count != 0; }
  const Tensor& operator[](std::int64_t i) const noexcept { return tensors[i]; }
};

struct KernelDef {
  using Boxed = void (*)(const KernelDef& def, const Value* arguments, Value* results, const Out& out);
  const char* name;
  Boxed boxed = nullptr;
  void (*function)() = nullptr;  // the typed function; the wrapper casts it back
  const void* context = nullptr;
  bool takes_out = false;
  std::vector<Tag> parameters;  // expected tags, in order
  std::vector<bool> optional;   // may be None
  int result_count = 0;         // -1: a list of tensors
};

// Registered kernels by name; null if there is none.
const KernelDef* find_kernel(std::string_view name);
std::vector<const KernelDef*> all_kernels();

namespace detail {
void add_kernel(KernelDef* def);  // a second kernel of one name is an error

template <class T>
struct Param;
template <>
struct Param<const Tensor&> {
  static constexpr Tag tag = Tag::Tensor;
  static constexpr bool optional = true;  // whether None is allowed is the schema's business: undefined Tensor
  static const Tensor& get(const Value& v) {
    static const Tensor undefined;
    return v.is_none() ? undefined : v.tensor();
  }
};
template <Tag kTag, auto kGetter>
struct SimpleParam {
  static constexpr Tag tag = kTag;
  static constexpr bool optional = false;
  static decltype(auto) get(const Value& v) { return (v.*kGetter)(); }
};
template <>
struct Param<TensorSpan> : SimpleParam<Tag::TensorList, &Value::tensors> {};
template <>
struct Param<std::int64_t> : SimpleParam<Tag::Int, &Value::integer> {};
template <>
struct Param<IntSpan> : SimpleParam<Tag::IntList, &Value::ints> {};
template <>
struct Param<double> : SimpleParam<Tag::Float, &Value::floating> {};
template <>
struct Param<Span<double>> : SimpleParam<Tag::FloatList, &Value::floats> {};
template <>
struct Param<bool> : SimpleParam<Tag::Bool, &Value::boolean> {};
template <>
struct Param<Span<bool>> : SimpleParam<Tag::BoolList, &Value::bools> {};
template <>
struct Param<const Scalar&> : SimpleParam<Tag::Scalar, &Value::scalar> {};
template <>
struct Param<Span<Scalar>> : SimpleParam<Tag::ScalarList, &Value::scalars> {};
template <>
struct Param<std::string_view> : SimpleParam<Tag::Str, &Value::str> {};
template <>
struct Param<DType> : SimpleParam<Tag::DType, &Value::dtype> {};
template <>
struct Param<Device> : SimpleParam<Tag::Device, &Value::device> {};
template <>
struct Param<MemoryFormat> : SimpleParam<Tag::MemoryFormat, &Value::memory_format> {};
template <>
struct Param<Generator*> {
  static constexpr Tag tag = Tag::Generator;
  static constexpr bool optional = true;
  static Generator* get(const Value& v) { return v.is_none() ? nullptr : v.generator(); }
};
template <class T>
struct Param<std::optional<T>> {
  using Inner = Param<std::conditional_t<std::is_same_v<T, Scalar>, const Scalar&, T>>;
  static constexpr Tag tag = Inner::tag;
  static constexpr bool optional = true;
  static std::optional<T> get(const Value& v) { return v.is_none() ? std::nullopt : std::optional<T>(Inner::get(v)); }
};

template <class T>
struct Result {
  static constexpr int count = 1;
  static void put(T&& value, Value* results) { results[0].set(std::forward<T>(value)); }
};
template <>
struct Result<std::vector<Tensor>> {
  static constexpr int count = -1;
  static void put(std::vector<Tensor>&& value, Value* results) { results[0].set(std::move(value)); }
};
template <class... Ts>
struct Result<std::tuple<Ts...>> {
  static constexpr int count = sizeof...(Ts);
  static void put(std::tuple<Ts...>&& value, Value* results) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (results[I].set(std::move(std::get<I>(value))), ...);
    }(std::index_sequence_for<Ts...>{});
  }
};

template <bool kContext, bool kOut, class R, class... A>
struct Box {
  static void call(const KernelDef& def, const Value* arguments, Value* results, const Out& out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto run = [&]() -> R {
        if constexpr (kContext && kOut) {
          return reinterpret_cast<R (*)(const KernelDef&, A..., const Out&)>(def.function)(
              def, Param<A>::get(arguments[I])..., out);
        } else if constexpr (kContext) {
          return reinterpret_cast<R (*)(const KernelDef&, A...)>(def.function)(def, Param<A>::get(arguments[I])...);
        } else if constexpr (kOut) {
          return reinterpret_cast<R (*)(A..., const Out&)>(def.function)(Param<A>::get(arguments[I])..., out);
        } else {
          return reinterpret_cast<R (*)(A...)>(def.function)(Param<A>::get(arguments[I])...);
        }
      };
      if constexpr (std::is_void_v<R>) {
        run();
      } else {
        Result<R>::put(run(), results);
      }
    }(std::index_sequence_for<A...>{});
  }
};

template <class... Ts>
struct TypeList {};
// Strip a trailing const Out& from a parameter list.
template <class Done, class... Rest>
struct SplitOut;
template <class... Done>
struct SplitOut<TypeList<Done...>> {
  using Params = TypeList<Done...>;
  static constexpr bool takes_out = false;
};
template <class... Done>
struct SplitOut<TypeList<Done...>, const Out&> {
  using Params = TypeList<Done...>;
  static constexpr bool takes_out = true;
};
template <class... Done, class First, class... Rest>
struct SplitOut<TypeList<Done...>, First, Rest...> : SplitOut<TypeList<Done..., First>, Rest...> {};
}  // namespace detail

class Kernel {
 public:
  template <class R, class... A>
  Kernel(const char* name, R (*function)(A...), const void* context = nullptr) {
    using Split = detail::SplitOut<detail::TypeList<>, A...>;
    init<false, Split::takes_out, R>(name, reinterpret_cast<void (*)()>(function), context, typename Split::Params{});
  }
  template <class R, class... A>
  Kernel(const char* name, R (*function)(const KernelDef&, A...), const void* context = nullptr) {
    using Split = detail::SplitOut<detail::TypeList<>, A...>;
    init<true, Split::takes_out, R>(name, reinterpret_cast<void (*)()>(function), context, typename Split::Params{});
  }

 private:
  template <bool kContext, bool kOut, class R, class... A>
  void init(const char* name, void (*function)(), const void* context, detail::TypeList<A...>) {
    auto* def = new KernelDef;  // lives as long as the process: ops and programs point at it
    def->name = name;
    def->boxed = &detail::Box<kContext, kOut, R, A...>::call;
    def->function = function;
    def->context = context;
    def->takes_out = kOut;
    def->parameters = {detail::Param<A>::tag...};
    def->optional = {detail::Param<A>::optional...};
    if constexpr (!std::is_void_v<R>) def->result_count = detail::Result<R>::count;
    detail::add_kernel(def);
  }
};

}  // namespace flambeau
