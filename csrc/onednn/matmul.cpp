// bfloat16 matrix products (brgemm on avx512_core_bf16). float32 products are ours: see kernels/gemm.cpp.
#include "core/parallel.h"
#include "onednn/common.h"
#include "onednn/onednn.h"

namespace flambeau::onednn {
namespace {

struct Key {
  std::int64_t m, n, k, a_row, a_col, b_row, b_col, ldc, accumulate, alpha_bits;
};
struct Plan {
  dnnl::memory::desc a, b, c, scratch;
  dnnl::matmul primitive;
};

std::shared_ptr<const Plan> build(const Key& key, float alpha) {
  using Dims = dnnl::memory::dims;
  const auto type = dnnl::memory::data_type::bf16;
  auto plan = std::make_shared<Plan>();
  plan->a = {Dims{key.m, key.k}, type, Dims{key.a_row, key.a_col}};
  plan->b = {Dims{key.k, key.n}, type, Dims{key.b_row, key.b_col}};
  plan->c = {Dims{key.m, key.n}, type, Dims{key.ldc, 1}};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post;
  if (alpha != 1.0F) post.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0F);
  if (key.accumulate != 0) post.append_sum();
  attributes.set_post_ops(post);
  const dnnl::matmul::primitive_desc description(engine(), plan->a, plan->b, plan->c, attributes);
  // The reference kernel would be slower than going through float32.
  if (std::string(description.impl_info_str()).find("ref") != std::string::npos) return nullptr;
  plan->scratch = description.scratchpad_desc();
  plan->primitive = dnnl::matmul(description);
  return plan;
}

}  // namespace

bool gemm(const Gemm<BFloat16>& g) {
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (!enabled() || work < 32.0 * 32 * 32 || in_parallel_region()) return false;
  const bool a_dense = g.a_col == 1 || g.a_row == 1, b_dense = g.b_col == 1 || g.b_row == 1;
  if (!a_dense || !b_dense || g.a_row <= 0 || g.a_col <= 0 || g.b_row <= 0 || g.b_col <= 0) return false;
  const float alpha = static_cast<float>(g.alpha);
  Key key{g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, g.ldc, g.accumulate ? 1 : 0, 0};
  std::memcpy(&key.alpha_bits, &alpha, sizeof(alpha));
  static auto* cache = new PlanCache<Key, Plan>;
  const auto plan = cache->get(key, [&] { return build(key, alpha); });
  if (plan == nullptr) return false;
  const Buffer scratch(plan->scratch.get_size());
  dnnl::memory a(plan->a, engine(), const_cast<BFloat16*>(g.a)), b(plan->b, engine(), const_cast<BFloat16*>(g.b));
  dnnl::memory c(plan->c, engine(), g.c), s(plan->scratch, engine(), scratch.data());
  plan->primitive.execute(stream(),
                          {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}, {DNNL_ARG_SCRATCHPAD, s}});
  return true;
}

}  // namespace flambeau::onednn
