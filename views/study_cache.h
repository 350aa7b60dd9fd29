#pragma once
// What was explored before, kept in the user's cache directory by the program's text: the first window shows
// variants and proofs at once. Entries are untrusted like any study: graphs are rebuilt and their proofs are
// "recorded".
#include <QString>
#include <memory>

namespace nuscope::nugraph {
class NuGraph;
}

namespace nuscope::views {

struct CachedGraph {
  std::shared_ptr<const nugraph::NuGraph> graph;  ///< null: not cached
  double seconds = 0;                             ///< what exploring took then
};

/// Any thread. A damaged or outdated entry is no entry.
CachedGraph readCachedGraph(const QString& programText);
/// Any thread; atomic; failures are silent, for a cache may be missing.
void writeCachedGraph(const QString& programText, const nugraph::NuGraph& graph, double seconds);
QString cacheDirectory();

}  // namespace nuscope::views
