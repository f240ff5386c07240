"""The idle and delivery buckets of the histograms, in one place for those who count and those who draw."""

IDLE_BUCKETS_MS = (1_000, 60_000, 300_000, 3_600_000)
"""Upper bounds (exclusive) of all but the last idle bucket."""

IDLE_LABELS = ("<1s", "1s-1m", "1m-5m", "5m-1h", ">1h")
DELIVERY_BUCKETS = (1, 2, 5)
"""Upper bounds (inclusive) of all but the last delivery bucket."""

DELIVERY_LABELS = ("1", "2", "3-5", ">5")
