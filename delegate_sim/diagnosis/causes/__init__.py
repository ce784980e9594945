"""Group refusals into causes."""
