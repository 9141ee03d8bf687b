"""Kim and Ryu: HexaSlide by Newton-Euler, with friction."""
