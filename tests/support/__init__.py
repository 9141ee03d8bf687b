"""What tests share: engines to judge by, robots to try, states, comparisons."""
