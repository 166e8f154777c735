"""What programs ask while a program may be captured: nothing is."""
