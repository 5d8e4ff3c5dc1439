"""The only place that builds object keys and reads or writes S3 or local paths."""
