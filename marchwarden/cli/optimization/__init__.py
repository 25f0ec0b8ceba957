"""`marchwarden compile`, `calibrate` and `programs`."""
