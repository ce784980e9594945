"""Files that hold models: archives, applications and bundles."""
