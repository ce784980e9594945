"""An extension of Google's Model Explorer. Model Explorer imports ``main`` from this package."""
