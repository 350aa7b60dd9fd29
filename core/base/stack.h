#pragma once
// How much of the thread's stack is left: recursion over terms and graphs that people or files bring asks,
// and gives up in words instead of dying.

namespace nuscope {

/// True when less than a quarter of the calling thread's stack (at most 1 MiB) is left. Cheap: a comparison
/// after the first call of a thread.
bool stackNearlyFull();

}  // namespace nuscope
