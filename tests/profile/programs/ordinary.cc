// An ordinary server's heap: ordinary SECONDS. Structures without a virtual function, strings, nodes of
// containers. It says "ready" when all is there, and replaces some meanwhile.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace shop {

struct Item {
  int number = 0;
  double price = 0;
  std::string name;
};
struct Order {
  std::vector<Item> items;
  std::string customer;
};
struct Price {
  double value = 0;
  int day = 0;
};
struct Session {
  char buffer[200] = {};
};
/// Made by new, and kept in a list of its own.
struct Visitor {
  explicit Visitor(Visitor* behind) : next(behind) {}

  Visitor* next;
  char name[120] = {};
};

struct Shop {
  std::unordered_map<int, Order> orders;
  std::map<std::string, Price> prices;
  std::list<std::shared_ptr<Session>> sessions;
  std::vector<std::unique_ptr<Session>> idle;
  Visitor* visitors = nullptr;

  void take_order(int number) {
    Order& order = orders[number];
    order.customer = "a customer with a name of some length, number " + std::to_string(number);
    for (int i = 0; i < 5; ++i)
      order.items.push_back({i, i * 1.5, "an item with a name of some length, " + std::to_string(i)});
  }
  void open_session() {
    sessions.push_back(std::make_shared<Session>());
    if (sessions.size() > 2'000) sessions.pop_front();
    idle.push_back(std::make_unique<Session>());
    if (idle.size() > 1'000) idle.erase(idle.begin());
    visitors = new Visitor(visitors);
  }
};

}  // namespace shop

int main(int, char** words) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[1]));
  shop::Shop shop;
  for (int i = 0; i < 4'000; ++i) {
    shop.take_order(i);
    shop.prices["the price of an article with a long name " + std::to_string(i)] = {i * 2.0, i};
    shop.open_session();
  }
  std::puts("ready");
  std::fflush(stdout);
  for (int i = 4'000; std::chrono::steady_clock::now() < end; ++i) {
    shop.orders.erase(i - 4'000);
    shop.take_order(i);
    shop.open_session();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}
