"""Converting a source model in many ways, and holding what comes of each against several targets."""
