"""Names that programs import; see boxes."""
