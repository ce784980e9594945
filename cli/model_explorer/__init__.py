"""An extension of Google's Model Explorer, which imports ``main`` from this package."""
