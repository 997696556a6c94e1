// An intrusive doubly linked list; nodes have members `previous` and `next`. Nothing is allocated.
#pragma once

namespace tarn::internal {

template <typename Node>
class List {
 public:
  bool is_empty() const { return first_ == nullptr; }
  Node* first() const { return first_; }
  Node* last() const { return last_; }

  void push_front(Node* node) {
    node->previous = nullptr;
    node->next = first_;
    (first_ != nullptr ? first_->previous : last_) = node;
    first_ = node;
  }
  void push_back(Node* node) {
    node->next = nullptr;
    node->previous = last_;
    (last_ != nullptr ? last_->next : first_) = node;
    last_ = node;
  }
  void remove(Node* node) {
    (node->previous != nullptr ? node->previous->next : first_) = node->next;
    (node->next != nullptr ? node->next->previous : last_) = node->previous;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace tarn::internal
