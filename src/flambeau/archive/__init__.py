"""The file formats below flambeau.serialization: zip archives, pickles written and read without running code."""
