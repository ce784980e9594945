"""A delegate of three operators, to show that a package and a line in the registry are all that a new one takes."""
