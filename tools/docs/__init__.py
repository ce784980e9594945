"""Generators of documentation: the site, the pages made from code, and pictures of the report."""
