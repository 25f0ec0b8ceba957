"""Questions that compare: shares, ratios, margins, ranks, growth, and rows with one thing but not another."""
