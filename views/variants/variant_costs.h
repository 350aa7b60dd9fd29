#pragma once
// What the model of the host says about each variant at the document's extents: seconds, to be shown as
// "modelled". It orders what is shown first; measurement selects. Computed in a job after exploring and when
// extents change.
#include <QObject>
#include <QString>
#include <unordered_map>

namespace nuscope::views {

class Document;

class VariantCosts : public QObject {
  Q_OBJECT
 public:
  /// The one of a document, made on first use.
  static VariantCosts* of(Document& document);
  /// By variant; absent where the target cannot emit it.
  [[nodiscard]] const std::unordered_map<int, double>& seconds() const { return seconds_; }
  [[nodiscard]] const QString& target() const { return target_; }  ///< "host-avx2"; empty: not known yet
  [[nodiscard]] const QString& targetWhy() const { return why_; }  ///< why this one, or why there is none

 Q_SIGNALS:
  void changed();

 private:
  explicit VariantCosts(Document& document);
  void start();
  Document& document_;
  std::unordered_map<int, double> seconds_;
  QString target_, why_;
};

}  // namespace nuscope::views
