#pragma once
// What is attached, and why what is not found is not found. Asked of `nuscope devices --json` in a process of
// its own, for the explorer never loads a driver; the host target and why it was chosen come with it.
#include <vector>

#include "views/table_view.h"
#include "views/view.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace nuscope::views {

struct DeviceRow {
  QString kind, name, reason;
  bool available = false;
  QString calibration;  ///< of the host: what it attained when it was measured, a line each; empty: not yet
};

/// Reads the output of `nuscope devices --json`. Empty with `why` set when it is not that.
std::vector<DeviceRow> parseDevices(const QByteArray& json, QString* why);

class DevicesView : public View {
  Q_OBJECT
 public:
  explicit DevicesView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] const std::vector<DeviceRow>& devices() const { return devices_; }
  [[nodiscard]] TableView* table() const { return table_; }
  /// Asks again.
  void reload();
  /// Measures what this machine attains (`nuscope calibrate`, a few seconds), then asks again.
  void calibrate();

  [[nodiscard]] QString csv() const override { return table_->csv(); }
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override { return table_; }

 protected:
  void refresh() override;

 private:
  std::vector<DeviceRow> devices_;
  QString hostTarget_, hostWhy_, error_;
  bool asked_ = false;
  RowsModel* model_;
  TableView* table_;
  QLabel *headline_, *target_, *calibration_, *detail_;
  QHBoxLayout* listed_;  ///< of the table
  QPushButton* calibrate_;
  QString calibrationFailure_;
};

}  // namespace nuscope::views
