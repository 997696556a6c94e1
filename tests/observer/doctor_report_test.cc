// Findings as text and as JSON.
#include "look/doctor/doctor_report.h"

#include <gtest/gtest.h>

#include "hand_made.h"

namespace tarn::tool {
namespace {

using observer::Severity;

const std::vector<observer::Finding> kFindings = {
    {"fragmentation", Severity::kBad, 1000, "a lot lies free where nobody can have it back at all",
     "Do this."},
    {"swap", Severity::kNote, 10, "some of it", "Do that."},
    {"core_files", Severity::kOk, 0, "all is well", ""}};

TEST(DoctorReport, EachFindingHasASignAndItsAdviceBelow) {
  const auto snapshot = observer::test::HandMade().snapshot();
  EXPECT_EQ(doctor_text(snapshot, kFindings, 80, Colour::kOff),
            "game_server 4711, tarn 0.2.0: 1 bad, 1 to note, 1 fine; not looked for: "
            "leaks (--leaks)\n"
            "✗ a lot lies free where nobody can have it back at all\n"
            "  → Do this.\n"
            "! some of it\n"
            "  → Do that.\n"
            "✓ all is well\n");
}

TEST(DoctorReport, SaysNothingOfLeaksThatWereLookedFor) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const std::vector<observer::Finding> findings = {{"leaks", Severity::kOk, 0, "no leaks", ""}};
  EXPECT_EQ(doctor_text(snapshot, findings, 80, Colour::kOff),
            "game_server 4711, tarn 0.2.0: 0 bad, 0 to note, 1 fine\n✓ no leaks\n");
  EXPECT_TRUE(doctor_json(snapshot, findings)["not_looked_for"].empty());
  EXPECT_EQ(doctor_json(snapshot, kFindings)["not_looked_for"], Json::array({"leaks"}));
}

TEST(DoctorReport, LinesAreNoWiderThanTheTerminal) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const std::string text = doctor_text(snapshot, {kFindings[0]}, 40, Colour::kOff);
  EXPECT_NE(text.find("✗ a lot lies free where nobody can have\n  it back at all\n"), std::string::npos)
      << text;
}

TEST(DoctorReport, ColoursMarkTheSigns) {
  const auto snapshot = observer::test::HandMade().snapshot();
  EXPECT_NE(doctor_text(snapshot, kFindings, 80, Colour::kOn).find("\033[31m✗\033[0m a lot"),
            std::string::npos);
}

TEST(DoctorReport, JsonHasEveryMember) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const Json json = doctor_json(snapshot, kFindings);
  EXPECT_EQ(json["pid"], 4711);
  ASSERT_EQ(json["findings"].size(), 3U);
  EXPECT_EQ(json["findings"][0], Json({{"id", "fragmentation"},
                                       {"severity", "bad"},
                                       {"bytes", 1000},
                                       {"what", kFindings[0].what},
                                       {"advice", "Do this."}}));
}

}  // namespace
}  // namespace tarn::tool
