"""Vibration records: band maps, envelopes, false-alarm thresholds, bearings and their faults."""
