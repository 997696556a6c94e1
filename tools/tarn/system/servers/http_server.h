// A page over HTTP, made anew for whoever asks.
//
// Whoever can connect may be slow or mean harm. A request has at most 8 KiB; for sending it a client has five
// seconds, for taking the answer as many; of 64 connections one more ends the oldest. A connection has one
// request. Within a second all get the same page: it is made no more often, however many ask.
//
// Threads: for a process with one thread only. Nobody is answered while the page is made.
#pragma once
#include <time.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "observer/files/descriptor.h"
#include "system/processes/signals.h"

namespace tarn::tool {

class HttpServer {
 public:
  struct Page {
    std::string path, content_type;
    std::function<std::string()> make;
  };

  /// Listens. \param where ADDRESS:PORT, [ADDRESS]:PORT, or :PORT of 127.0.0.1. \throws UsageError where that
  /// is no address, or cannot be had
  explicit HttpServer(const std::string& where);

  /// "http://127.0.0.1:9100"
  std::string url() const;

  /// Answers GET and HEAD of the page until a signal wants the tool to end.
  void serve(const Page& page, SignalWatch& signals) const;

 private:
  observer::Descriptor listener_;
};

}  // namespace tarn::tool
