"""A page of figures in a real browser. TARN_TEST_PAGE names it; TARN_TEST_TEXTS, texts that it must show, one
a line."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import run_checks  # noqa: E402
from plots_page import (ContendersCanBeHidden, ItCanBeRead, ItShowsEverything, ItStandsAlone,  # noqa: E402
                        PlotsPage)

__all__ = ["ContendersCanBeHidden", "ItCanBeRead", "ItShowsEverything", "ItStandsAlone"]


class ItSaysWhatItIsAbout(PlotsPage):
    def test_the_expected_texts_are_shown(self):
        text = self.run_js("document.body.textContent")
        for expected in os.environ["TARN_TEST_TEXTS"].splitlines():
            self.assertIn(expected, text)


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGE")
