"""Files that contain models: archives, applications and bundles."""
