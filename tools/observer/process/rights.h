// Rights that this process gives up for good, before it reads what somebody else may have forged.
#pragma once

namespace tarn::observer {

/// The process becomes a user and has no capability, no other group and no way back; no other process of that
/// user may look into it. \throws ObserveError when it may not become that user.
void become_user(unsigned user, unsigned group);

/// Whether the process may do more than its user.
bool has_capabilities();
/// \throws ObserveError when the kernel refuses.
void give_up_capabilities();

}  // namespace tarn::observer
