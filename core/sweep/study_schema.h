#pragma once
// Tables of a study, their migrations, and the check that a file holds exactly these and nothing else.
#include "core/sweep/database.h"

namespace nuscope::sweep {

constexpr int applicationId = 0x4E755363;  ///< "NuSc"
constexpr int schemaVersion = 1;

int versionOf(Database& database);
/// From whatever version to `schemaVersion`, in one transaction. Version 0 is an empty file.
void migrate(Database& database);
/// UserError unless application id, version, schema and pages are right. `file` for messages.
void verify(Database& database, const std::string& file);

}  // namespace nuscope::sweep
