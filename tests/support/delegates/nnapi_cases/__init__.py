"""Cases of NNAPI's rules, a table for each family of operators."""
