"""Building blocks of texts: tables, paragraphs, strips, and the wording of measures and findings."""
