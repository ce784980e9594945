"""Tools for the browser application."""
