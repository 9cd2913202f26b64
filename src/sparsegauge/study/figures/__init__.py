"""Table -> figure: what a study found, drawn; nothing is computed here but what the pictures themselves need."""
