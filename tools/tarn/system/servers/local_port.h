// TCP ports of this machine that a server is waited for on.
#pragma once

namespace tarn::tool {

inline constexpr int kMostPort = 65535;

/// Whether something accepts a connection on 127.0.0.1 or [::1]. Opens one and closes it at once.
bool accepts_connections(int port);

/// \throws UsageError if something accepts connections there already
void require_free_port(int port);

}  // namespace tarn::tool
