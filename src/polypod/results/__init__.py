"""Results along a motion: studies, tables, figures, reports."""
