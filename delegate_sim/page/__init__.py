"""The report as a page: one HTML file with everything in it, to be looked at rather than read."""
