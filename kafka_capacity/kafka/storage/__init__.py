"""The page cache and the disks of a broker."""
