"""Long, Khalil and Martinet: a flexible platform."""
