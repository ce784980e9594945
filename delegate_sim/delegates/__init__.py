"""The delegates. Each delegate has a package."""
