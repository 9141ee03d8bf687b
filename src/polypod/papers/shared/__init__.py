"""What the studies of all papers share: the contract, the report, vector algebra, panels, counts of operations."""
