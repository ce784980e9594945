"""Building blocks of texts: tables, paragraphs, strips, and wordings of measures and findings."""
