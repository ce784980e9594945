"""Android applications and libraries: what their models need on a phone, and what the file has of it."""
