"""An extension of Google's Model Explorer, which imports ``main`` of this package."""
