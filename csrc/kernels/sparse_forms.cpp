// Ops that only have a form for sparse tensors (flambeau/sparse): what makes a sparse tensor out of strided ones goes
// there with all its arguments; what needs a sparse argument says so when it gets none.
#include "core/copy.h"
#include "core/factory.h"
#include "core/op.h"

namespace flambeau {
namespace {

void put(Value& to, const Tensor& tensor) {
  if (tensor.defined()) to.borrow(tensor.impl());
}
void put(Value& to, IntSpan ints) { to.borrow(ints); }
void put(Value& to, bool value) { to.set(value); }
void put(Value& to, std::int64_t value) { to.set(value); }
void put(Value& to, std::string_view text) { to.borrow(text); }
template <class T>
void put(Value& to, const std::optional<T>& value) {
  if (value) put(to, *value);
}

// The form of the op for exactly these arguments.
template <class... A>
Tensor form(const char* name, const A&... values) {
  const OpDef& def = *find_op(name);
  InlineValues arguments(def);
  std::size_t count = 0;
  ((arguments[count] = Value(), put(arguments[count++], values)), ...);
  Value result;
  extended_kernel(def, arguments.data(), &result, Out{});
  return result.take_tensor();
}

Tensor coo_from_parts(const Tensor& indices, const Tensor& values, IntSpan size, bool coalesced) {
  return form("_coo_from_parts", indices, values, size, coalesced);
}
Tensor compressed_from_parts(const Tensor& compressed, const Tensor& plain, const Tensor& values, IntSpan size,
                             std::string_view layout) {
  return form("_compressed_from_parts", compressed, plain, values, size, layout);
}
Tensor to_layout(const Tensor& input, std::string_view layout, std::optional<std::int64_t> sparse_dim,
                 std::optional<IntSpan> blocksize, std::optional<std::int64_t> dense_dim, std::string_view source,
                 std::optional<IntSpan> source_blocksize) {
  return form("_to_layout", input, layout, sparse_dim, blocksize, dense_dim, source, source_blocksize);
}
Tensor sparse_mask(const Tensor& input, const Tensor& mask, bool strided) {
  return form("_sparse_mask", input, mask, strided);
}

// A strided tensor is dense already.
Tensor to_dense(const Tensor& input, std::optional<DType> dtype, std::optional<bool>) {
  return dtype ? to_dtype(input, *dtype) : input;
}

[[noreturn]] void needs_sparse(const char* name, const char* layout) {
  fail(ErrorKind::Runtime, name, " expected ", layout, " tensor layout but got Strided");
}
Tensor coalesce(const Tensor&) { needs_sparse("coalesce", "sparse coordinate"); }
Tensor sparse_values(const Tensor&) { needs_sparse("values", "sparse"); }
Tensor raw_values(const Tensor&) { needs_sparse("_values", "sparse coordinate"); }
const Kernel kernels[] = {
    {"_coo_from_parts", &coo_from_parts},
    {"_compressed_from_parts", &compressed_from_parts},
    {"_to_layout", &to_layout},
    {"_sparse_mask", &sparse_mask},
    {"to_dense", &to_dense},
    {"coalesce", &coalesce},
    {"values", &sparse_values},
    {"_raw_values", &raw_values},
};

}  // namespace
}  // namespace flambeau
