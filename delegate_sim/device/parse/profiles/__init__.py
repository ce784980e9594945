"""Parse op profiles: tables of operators, files of benchmark_model, and the times of a whole run."""
