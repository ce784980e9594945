"""Mesa's delegate Teflon, for NPUs with drivers in the mainline kernel."""
