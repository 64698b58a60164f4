"""The lake's SQL: one file holds one SELECT, the table, step, view, check or example of its name."""
