#include "views/devices/devices_view.h"

#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>

#include "core/base/diagnostics.h"
#include "core/base/process.h"
#include "core/machine/calibration.h"
#include "core/machine/target.h"
#include "views/jobs.h"
#include "views/marks.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

struct Found {
  std::vector<DeviceRow> devices;
  QString target, why, error;
};

/// What `nuscope COMMAND --json` prints; each line within so many seconds.
QByteArray ask(const std::string& command, int secondsLimit, const Progress& progress) {
  const auto nuscope = std::filesystem::path(executablePath()).parent_path() / "nuscope";
  ProcessOptions options;
  options.arguments = {nuscope.string(), command, "--json"};
  Process process(options);
  process.closeInput();
  QByteArray output;
  std::string line;
  while (true) {
    const Process::Read read =
        process.readLine(line, std::chrono::seconds(secondsLimit), progress.stopToken());
    if (read == Process::Read::cancelled) throw Cancelled{};
    if (read == Process::Read::timeout) {
      throw EnvironmentError("nuscope " + command + " did not answer within " + std::to_string(secondsLimit) +
                             " s.");
    }
    if (read == Process::Read::closed) break;
    output += QByteArray::fromStdString(line) + '\n';
  }
  const auto end = process.wait(std::chrono::milliseconds(2000));
  if (!end || !end->success())
    throw EnvironmentError("nuscope " + command + " ended with " +
                           (end ? end->text() : std::string("no answer")) + ". " + process.errors());
  return output;
}

Found findDevices(const Progress& progress) {
  Found found;
  try {
    const machine::HostTarget host = machine::hostTarget();
    found.target = qs(host.name);
    found.why = qs(host.why);
  } catch (const std::exception& error) {
    found.why = QString::fromUtf8(error.what());
  }
  try {
    found.devices = parseDevices(ask("devices", 10, progress), &found.error);
  } catch (const std::exception& error) {
    found.error = QString::fromUtf8(error.what());
  }
  return found;
}

}  // namespace

namespace {

/// "Measured 2026-...: peak 88 GFLOP/s; reads L1 170, ... GB/s (1 thread)"; empty for null.
QString calibrationText(const QJsonValue& value) {
  if (!value.isObject()) return {};
  const QByteArray json = QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact);
  const auto calibration =
      machine::parseCalibration(std::string_view(json.constData(), static_cast<std::size_t>(json.size())));
  if (!calibration) return {};
  QStringList lines;
  for (const machine::Ceiling& ceiling : calibration->ceilings) lines << qs(machine::text(ceiling));
  return QStringLiteral("%1\nmeasured %2, load %3")
      .arg(lines.join(QLatin1Char('\n')), qs(calibration->date))
      .arg(calibration->load, 0, 'f', 2);
}

}  // namespace

std::vector<DeviceRow> parseDevices(const QByteArray& json, QString* why) {
  const QJsonObject root = QJsonDocument::fromJson(json).object();
  if (!root.value(QStringLiteral("devices")).isArray()) {
    *why = QStringLiteral("nuscope devices gave no list of devices.");
    return {};
  }
  std::vector<DeviceRow> rows;
  const QJsonArray list = root.value(QStringLiteral("devices")).toArray();
  for (const QJsonValue& value : list) {
    const QJsonObject device = value.toObject();
    rows.push_back({device.value(QStringLiteral("kind")).toString(),
                    device.value(QStringLiteral("name")).toString(),
                    device.value(QStringLiteral("reason")).toString(),
                    device.value(QStringLiteral("available")).toBool(),
                    calibrationText(device.value(QStringLiteral("calibration")))});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DeviceRow& a, const DeviceRow& b) { return a.available && !b.available; });
  return rows;
}

DevicesView::DevicesView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "devices", tr("Devices"), parent) {
  addHeaderButton(QStringLiteral("reload"), tr("Look again"), [this] { reload(); });
  const auto at = [this](int row) -> const DeviceRow& { return devices_[static_cast<std::size_t>(row)]; };
  std::vector<Column> columns;
  columns.push_back({.title = tr("Kind"), .help = {}, .data = [at](int row, int role) -> QVariant {
                       if (role == Qt::DisplayRole) return at(row).kind;
                       if (role == markRole)
                         return static_cast<int>(at(row).available ? Mark::proved : Mark::unknown);
                       return {};
                     }});
  columns.push_back({.title = tr("State"), .help = {}, .data = [at](int row, int role) -> QVariant {
                       if (role == Qt::DisplayRole)
                         return at(row).available ? tr("attached") : tr("not found");
                       if (role == mutedRole) return !at(row).available;
                       return {};
                     }});
  columns.push_back({.title = tr("Name"), .help = {}, .data = [at](int row, int role) -> QVariant {
                       if (role == Qt::DisplayRole) return at(row).name;
                       return {};
                     }});
  columns.push_back({.title = tr("Why"),
                     .help = tr("What it is, or why it was not found and what would help."),
                     .data = [at](int row, int role) -> QVariant {
                       if (role == Qt::DisplayRole) return at(row).reason;
                       if (role == mutedRole) return true;
                       return {};
                     }});
  model_ = new RowsModel(std::move(columns), this);
  table_ = new TableView(context().theme);
  table_->setModel(model_);
  table_->setAccessibleName(tr("Devices"));
  headline_ = new WrappedLabel;
  target_ = new WrappedLabel;
  detail_ = new WrappedLabel;
  calibration_ = new WrappedLabel;
  calibration_->setAccessibleName(tr("Calibration of this machine"));
  calibrate_ = new QPushButton(tr("Calibrate"));
  calibrate_->setToolTip(
      tr("Measures peak and bandwidths in a worker, a few seconds. The model takes them; they are kept."));
  connect(calibrate_, &QPushButton::clicked, this, &DevicesView::calibrate);
  for (QLabel* label : {headline_, target_, calibration_, detail_})
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* content = new QWidget;
  auto* layout = new QVBoxLayout(content);
  layout->addWidget(headline_);
  layout->addWidget(target_);
  auto* measured = new QHBoxLayout;
  measured->setContentsMargins(0, 0, theme().gutter, 0);
  measured->addWidget(calibration_, 1);
  measured->addWidget(calibrate_, 0, Qt::AlignTop);
  layout->addLayout(measured);
  listed_ = new QHBoxLayout;
  listed_->addWidget(table_);
  layout->addLayout(listed_, 1);
  layout->addWidget(detail_);
  setContent(content);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.row() >= 0 && now.row() < static_cast<int>(devices_.size()))
              detail_->setText(devices_[static_cast<std::size_t>(now.row())].reason);
          });
}

void DevicesView::reload() {
  asked_ = true;
  context().jobs.run(
      this, {.title = tr("Look for devices"), .lane = QStringLiteral("devices"), .quiet = true},
      [](JobHandle& handle) { return findDevices(handle.progress()); },
      [this](Found found) {
        devices_ = std::move(found.devices);
        hostTarget_ = found.target;
        hostWhy_ = found.why;
        error_ = found.error;
        markStale();
      });
}

void DevicesView::calibrate() {
  calibrate_->setEnabled(false);
  calibrate_->setText(tr("Calibrating\u2026"));
  calibrationFailure_.clear();
  Job* job = context().jobs.run(
      this, {.title = tr("Calibrate this machine"), .lane = QStringLiteral("calibrate")},
      [](JobHandle& handle) { return ask("calibrate", 60, handle.progress()); },
      [this](const QByteArray&) { reload(); });
  connect(job, &Job::failed, this, [this](const QString& why) {
    calibrationFailure_ = why;
    markStale();
  });
  connect(job, &Job::ended, this, [this] {
    calibrate_->setEnabled(true);
    calibrate_->setText(tr("Calibrate"));
  });
}

void DevicesView::refresh() {
  const Theme& t = theme();
  headline_->setFont(t.headline);
  target_->setStyleSheet(QStringLiteral("color: %1;").arg(t.muted.name()));
  detail_->setStyleSheet(QStringLiteral("color: %1;").arg(t.muted.name()));
  auto* layout = table_->parentWidget()->layout();
  layout->setContentsMargins(0, t.gutter, 0, t.padding);
  listed_->setContentsMargins(t.gutter, 0, 0, 0);
  for (QLabel* label : {headline_, target_, calibration_, detail_})
    label->setContentsMargins(t.gutter + t.unit, 0, t.gutter, 0);
  const auto host = std::ranges::find(devices_, QStringLiteral("host"), &DeviceRow::kind);
  calibrate_->setVisible(host != devices_.end());
  calibration_->setFont(t.code);
  calibration_->setText(!calibrationFailure_.isEmpty() ? calibrationFailure_
                        : host == devices_.end()       ? QString()
                        : host->calibration.isEmpty()  ? tr("This machine is not calibrated: the first sweep "
                                                             "does it, and so does the button.")
                                                       : host->calibration);
  if (!asked_) reload();
  headline_->setText(summary());
  target_->setText(hostTarget_.isEmpty()
                       ? hostWhy_
                       : tr("Kernels for this host are emitted for %1: %2.").arg(hostTarget_, hostWhy_));
  model_->resetRows(static_cast<int>(devices_.size()));
  table_->fitColumns(3);
  detail_->setText(error_);
  detail_->setVisible(!devices_.empty() || !error_.isEmpty());
}

QString DevicesView::summary() const {
  if (!error_.isEmpty()) return tr("The devices could not be listed");
  if (devices_.empty()) return tr("Looking for devices");
  const auto attached =
      std::count_if(devices_.begin(), devices_.end(), [](const DeviceRow& d) { return d.available; });
  return tr("%1 of %2 kinds of device attached").arg(attached).arg(devices_.size());
}

}  // namespace nuscope::views

#include "moc_devices_view.cpp"
