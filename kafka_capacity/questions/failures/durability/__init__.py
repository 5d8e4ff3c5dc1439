"""What topics could lose: which outcomes are possible after how many failures, and how often data are gone for good."""
