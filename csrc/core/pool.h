// Thread-local free lists for small fixed-size objects (TensorImpl, Storage): creating a tensor is on every op's path.
#pragma once

#include <new>

namespace flambeau {

template <class T>
class ObjectPool {
 public:
  static void* take() {
    Cache& cache = local();
    if (cache.head != nullptr) [[likely]] {
      Link* link = cache.head;
      cache.head = link->next;
      --cache.count;
      return link;
    }
    return ::operator new(kSize);
  }
  static void give(void* block) noexcept {
    Cache& cache = local();
    if (cache.count >= kMaxCached) {  // also after thread exit, when count is pinned at the limit
      ::operator delete(block);
      return;
    }
    cache.head = new (block) Link{cache.head};
    ++cache.count;
  }

 private:
  static constexpr std::size_t kSize = sizeof(T) > sizeof(void*) ? sizeof(T) : sizeof(void*);
  static constexpr int kMaxCached = 256;
  struct Link {
    Link* next;
  };
  struct Cache {
    Link* head = nullptr;
    int count = 0;
    ~Cache() {
      while (head != nullptr) {
        Link* next = head->next;
        ::operator delete(head);
        head = next;
      }
      count = kMaxCached;
    }
  };
  static Cache& local() noexcept {
    static thread_local Cache cache;
    return cache;
  }
};

}  // namespace flambeau
