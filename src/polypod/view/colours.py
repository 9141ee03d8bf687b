"""Colours of legs, alike in pictures and pages: colour-blind readers distinguish them (Okabe and Ito)."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
